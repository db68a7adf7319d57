/** The functions of the addon for databases in memory. Each has done its work when it returns. */

import type { Bytes, Page, Range } from 'terrace-core'
import type { MemoryStats } from './memory-database.js'
import type { FoundMany, Native, NativeConditions } from './native.js'

export type NativeMemory = Native<'memory'>
export type NativeMemorySnapshot = Native<'memorySnapshot'>
export type NativeMemoryIterator = Native<'memoryIterator'>
export type NativeMemoryBatch = Native<'memoryBatch'>

export interface MemoryBinding {
  memory(): NativeMemory
  memoryLimit(memory: NativeMemory, limitBytes: number): void
  memoryStats(memory: NativeMemory): MemoryStats
  memorySize(memory: NativeMemory, start: Bytes, end: Bytes): number
  memorySnapshot(memory: NativeMemory): NativeMemorySnapshot
  memorySnapshotClose(snapshot: NativeMemorySnapshot): void

  memoryGet(
    memory: NativeMemory,
    key: Bytes,
    flags: number,
    snapshot?: NativeMemorySnapshot,
    slab?: Uint8Array,
    offset?: number
  ): Bytes | number | undefined
  memoryHas(memory: NativeMemory, key: Bytes, flags: number, snapshot?: NativeMemorySnapshot): boolean
  memoryGetMany(
    memory: NativeMemory,
    flags: number,
    snapshot: NativeMemorySnapshot | undefined,
    ...keys: Bytes[]
  ): FoundMany
  memoryHasMany(
    memory: NativeMemory,
    flags: number,
    snapshot: NativeMemorySnapshot | undefined,
    ...keys: Bytes[]
  ): boolean[]

  memoryPut(memory: NativeMemory, key: Bytes, value: Bytes): void
  memoryDel(memory: NativeMemory, key: Bytes): void
  memoryWrite(memory: NativeMemory, ...operations: Array<Bytes | null>): void
  /** `count` is the number of conditions, which are passed as to `memoryBatchIf`. */
  memoryWriteIf(
    memory: NativeMemory,
    count: number,
    ...conditionsAndOperations: Array<NativeConditions<NativeMemorySnapshot>[number] | null>
  ): void
  memoryClear(
    memory: NativeMemory,
    range: Range,
    flags: number,
    limit: number,
    snapshot?: NativeMemorySnapshot
  ): void

  memoryBatch(): NativeMemoryBatch
  memoryBatchPut(batch: NativeMemoryBatch, key: Bytes, value: Bytes): void
  memoryBatchDel(batch: NativeMemoryBatch, key: Bytes): void
  memoryBatchAppend(batch: NativeMemoryBatch, ...operations: Array<Bytes | null>): void
  memoryBatchClear(batch: NativeMemoryBatch): void
  memoryBatchIf(batch: NativeMemoryBatch, ...conditions: NativeConditions<NativeMemorySnapshot>): void
  memoryBatchWrite(memory: NativeMemory, batch: NativeMemoryBatch): void

  memoryIterator(
    memory: NativeMemory,
    range: Range,
    flags: number,
    snapshot?: NativeMemorySnapshot
  ): NativeMemoryIterator
  memoryIteratorSeek(iterator: NativeMemoryIterator, target: Bytes): void
  memoryIteratorRead(iterator: NativeMemoryIterator, size: number, highWaterMarkBytes: number): Page
  memoryIteratorClose(iterator: NativeMemoryIterator): void
}
