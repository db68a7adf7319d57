/**
 * The order of writes. The engine gets one batch at a time, since under load it may apply those that wait in any order. What is
 * called in the meantime becomes one batch, the next.
 */

import { type Bytes, GroupedWrites, type Operations } from 'terrace-core'
import type { NativeBatch } from './binding.js'
import { storedKey, storedValue } from './keys.js'

/** Writes share a batch up to this size. */
const GROUP_BYTES = 4 * 1024 * 1024

/** What the queue needs of the engine. */
export interface Engine {
  newBatch(): NativeBatch
  /** Gives a batch to the engine, within the call. Settles when it has been applied in memory. */
  accept(batch: NativeBatch): Promise<unknown>
}

export class WriteQueue extends GroupedWrites<NativeBatch> {
  readonly #engine: Engine

  constructor(engine: Engine) {
    super({
      maxBytes: GROUP_BYTES,
      begin: () => engine.newBatch(),
      commit: (batch) => engine.accept(batch)
    })
    this.#engine = engine
  }

  /** Adds a write. Its operations are copied within the call. Settles when the engine has applied it in memory. */
  write(operations: Operations): Promise<void> {
    return this.add(sizeOf(operations), (batch) => put(batch, operations))
  }

  /** Applies operations within a barrier. */
  apply(operations: Operations): Promise<unknown> {
    if (this.refusal !== undefined) return Promise.reject(this.refusal)
    const batch = this.#engine.newBatch()
    put(batch, operations)
    return this.#engine.accept(batch)
  }
}

/** The engine copies keys and values within the call. */
function put(batch: NativeBatch, operations: Operations): void {
  for (let i = 0; i < operations.length; i += 2) {
    const key = storedKey(operations[i] as Bytes)
    const value = operations[i + 1] as Bytes | null
    if (value === null) batch.delete(key)
    else batch.put(key, storedValue(value))
  }
}

/** About how large operations are, in bytes. */
function sizeOf(operations: Operations): number {
  return operations.reduce((size, part) => size + (part?.length ?? 0), 0)
}
