// What the tests of terrace-core and of the toolbox run on as well.

import { SlateLevel } from 'terrace-slatedb'

/** Writes wait for no others: these tests are not about it. */
export class Database extends SlateLevel {
  constructor(location, options) {
    super(location, { ...options, flushIntervalMs: 0 })
  }
}
export const name = 'SlateDB'
export const supports = { getSync: false, putSync: false, everyWrite: true }
