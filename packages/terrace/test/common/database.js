// What the tests of terrace-core and of the toolbox run on as well.

import { MemoryLevel } from 'terrace'

/** The location that those tests make is left empty. */
export class Database extends MemoryLevel {
  constructor(_location, options) {
    super(options)
  }
}

export const name = 'MemoryLevel'
export const supports = { getSync: true, putSync: true, everyWrite: true }
