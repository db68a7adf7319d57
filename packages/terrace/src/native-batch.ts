import type { BackendBatch, Bytes } from 'terrace-core'
import { Flag, type NativeBatch as Native, type NativeDatabase } from './binding.js'
import { binding } from './load-binding.js'
import { appendAll } from './many.js'

/** A write batch of the engine. */
export class NativeBatch implements BackendBatch {
  readonly #native: Native

  constructor(database: NativeDatabase) {
    this.#native = binding.batch(database)
  }

  put(key: Bytes, value: Bytes): void {
    binding.batchPut(this.#native, key, value)
  }

  del(key: Bytes): void {
    binding.batchDel(this.#native, key)
  }

  append(operations: ReadonlyArray<Bytes | null>): void {
    appendAll(this.#native, operations)
  }

  clear(): void {
    binding.batchClear(this.#native)
  }

  write(sync: boolean): void | Promise<void> {
    return binding.batchWrite(this.#native, sync ? Flag.sync : 0)
  }

  writeSync(sync: boolean): void {
    binding.batchWrite(this.#native, sync ? Flag.sync | Flag.blocking : Flag.blocking)
  }

  close(): void {
    binding.batchClose(this.#native)
  }
}
