/**
 * memdown's API over Terrace's database in memory.
 *
 * @packageDocumentation
 */

import { MemoryLevel } from 'terrace'
import { type AnyLevel, Database, initialize } from './database.js'
import { hybrid } from './hybrid.js'
import { manifest } from './manifest.js'
import type * as types from './types.js'

/** How memdown differs from leveldown. */
const kind = {
  location: undefined,
  notFoundMessage: 'NotFound',
  ignoresEmptyBounds: false,
  fillsAbsent: false,
  worksUnopened: true,
  create: () => new MemoryLevel({ keyEncoding: 'buffer', valueEncoding: 'buffer' }) as unknown as AnyLevel
}

const memdown = hybrid('MemDOWN', Database, (db) => {
  initialize(db, kind, manifest({}))
}) as unknown as types.MemDownConstructor

declare namespace memdown {
  export type AbstractLevelDown = types.AbstractLevelDown
  export type MemDownConstructor = types.MemDownConstructor
}

export = memdown
