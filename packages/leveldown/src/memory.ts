/**
 * memdown's API over Terrace's database in memory.
 *
 * @packageDocumentation
 */

import { MemoryLevel } from 'terrace'
import type { DirectData } from 'terrace-core'
import { Database, initialize } from './database.js'
import { hybrid } from './hybrid.js'
import type { AnyLevel } from './lifecycle.js'
import { manifest } from './manifest.js'
import { nextTick } from './next-tick.js'
import type { Flat } from './operations.js'
import type * as types from './types.js'

type Callback = (error?: Error | null) => void

/** Callbacks of what succeeds without a result get no arguments, as in memdown. leveldown passes null. */
class DatabaseInMemory extends Database {
  override _put(key: DirectData, value: DirectData, options: object, callback: Callback): void {
    super._put(key, value, options as never, withoutNull(callback))
  }

  override _del(key: DirectData, options: object, callback: Callback): void {
    super._del(key, options as never, withoutNull(callback))
  }

  override _write(operations: Flat, options: object, callback: Callback): void {
    super._write(operations, options, withoutNull(callback))
  }

  override _clear(options: object, callback: Callback): void {
    super._clear(options as never, withoutNull(callback))
  }

  override _iteratorEnded(callback: Callback): void {
    nextTick(callback)
  }
}

function withoutNull(callback: Callback): Callback {
  return (error) => (error ? callback(error) : callback())
}

/** How memdown differs from leveldown. */
const kind = {
  location: undefined,
  notFoundMessage: 'NotFound',
  ignoresEmptyBounds: false,
  fillsAbsent: false,
  worksUnopened: true,
  create: () => new MemoryLevel({ keyEncoding: 'buffer', valueEncoding: 'buffer' }) as unknown as AnyLevel
}

const memdown = hybrid('MemDOWN', DatabaseInMemory, (db) => {
  initialize(db, kind, manifest({}))
}) as unknown as types.MemDownConstructor

declare namespace memdown {
  export type AbstractLevelDown = types.AbstractLevelDown
  export type MemDownConstructor = types.MemDownConstructor
}

export = memdown
