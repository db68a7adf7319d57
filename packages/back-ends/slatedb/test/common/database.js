// What the tests of terrace-core and of the toolbox run on as well.

import { SlateLevel } from 'terrace-slatedb'

/**
 * Writes wait for no others, and the engine looks often for what has been compacted: it lets writes, and its end, wait until it has
 * seen that. These tests are not about it, and write much.
 */
const soon = { flushIntervalMs: 0, pollIntervalMs: 50 }

export class Database extends SlateLevel {
  constructor(location, options) {
    super(location, { ...options, ...soon })
  }
}
export const name = 'SlateDB'
export const supports = { getSync: false, putSync: false, everyWrite: true }
