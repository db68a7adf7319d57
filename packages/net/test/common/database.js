// What the tests of terrace-core and of the toolbox run on as well: a client, with a server in front of a database in memory.

import { MemoryLevel } from 'terrace'
import { ServedLevel } from '../support/served-level.js'

export const name = 'NetLevel'
export const supports = { getSync: false, putSync: false, everyWrite: false }

const bytes = { keyEncoding: 'buffer', valueEncoding: 'buffer' }

export class Database extends ServedLevel {
  constructor(_, options) {
    super('unix', new MemoryLevel(bytes), options)
  }
}
