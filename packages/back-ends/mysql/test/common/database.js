// What the tests of terrace-core and of the toolbox run on as well. They give each database a directory, which is its name here.

import { MysqlLevel } from 'terrace-mysql'

/** Some tests begin 64 transactions at once, each of which holds a snapshot. */
export class Database extends MysqlLevel {
  constructor(location, options) {
    super(process.env.TERRACE_TEST_SERVER, { shared: false, poolSize: 160, ...options, name: location })
  }
}
export const name = 'MySQL'
export const supports = { getSync: false, putSync: false, everyWrite: true }
