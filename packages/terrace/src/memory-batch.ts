import type { BackendBatch, Bytes, Operations } from 'terrace-core'
import { binding } from './load-binding.js'
import { MAX_SPREAD } from './many.js'
import type { NativeMemory, NativeMemoryBatch } from './memory-binding.js'

/** Operations on a map in memory that are still to be carried out. */
export class MemoryBatch implements BackendBatch {
  readonly #memory: NativeMemory
  readonly #native = binding.memoryBatch()

  constructor(memory: NativeMemory) {
    this.#memory = memory
  }

  put(key: Bytes, value: Bytes): void {
    binding.memoryBatchPut(this.#native, key, value)
  }

  del(key: Bytes): void {
    binding.memoryBatchDel(this.#native, key)
  }

  append(operations: Operations): void {
    appendAll(this.#native, operations)
  }

  clear(): void {
    binding.memoryBatchClear(this.#native)
  }

  write(): void {
    binding.memoryBatchWrite(this.#memory, this.#native)
  }

  writeSync(): void {
    this.write()
  }

  close(): void {
    this.clear()
  }
}

/** Adds operations to a batch, as many at a time as one call can pass. */
export function appendAll(batch: NativeMemoryBatch, operations: Operations): void {
  for (let i = 0; i < operations.length; i += MAX_SPREAD) {
    binding.memoryBatchAppend(batch, ...operations.slice(i, i + MAX_SPREAD))
  }
}
