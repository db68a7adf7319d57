/** A map in memory as a back-end of `terrace-core`. Each call is answered within it. */

import type {
  BackendCondition,
  BackendReadOptions,
  BackendSnapshot,
  Bytes,
  CursorOptions,
  CursorParts,
  Operations,
  RangeDeletion
} from 'terrace-core'
import { Flag } from './binding.js'
import { addConditions, argumentsOf, fitInCall } from './conditions.js'
import { binding } from './load-binding.js'
import { MAX_SPREAD, valuesOf } from './many.js'
import { appendAll, MemoryBatch } from './memory-batch.js'
import type { NativeMemorySnapshot } from './memory-binding.js'
import { MemoryCursor } from './memory-cursor.js'
import type { MemoryStats, MemoryStore } from './memory-database.js'
import { limitOf, type MemoryOpenOptions } from './memory-options.js'
import { slab } from './slab.js'

/** A snapshot of a map. */
class MemorySnapshot implements BackendSnapshot {
  readonly native: NativeMemorySnapshot

  constructor(native: NativeMemorySnapshot) {
    this.native = native
  }

  close(): void {
    binding.memorySnapshotClose(this.native)
  }
}

export class MemoryBackend implements MemoryStore<MemorySnapshot> {
  readonly manifest = {
    encodings: { buffer: true, utf8: true, view: true },
    syncReads: true,
    syncWrites: true,
    conditionalWrites: true,
    permanence: false
  }
  /** It lives as long as this object, so the entries are still there when the database is opened again. */
  readonly #native = binding.memory()

  open(options: MemoryOpenOptions): void {
    binding.memoryLimit(this.#native, limitOf(options))
  }

  close(): void {}

  get(key: Bytes, options: BackendReadOptions, snapshot?: MemorySnapshot): Bytes | undefined {
    const flags = readFlags(options, snapshot)
    if ((flags & Flag.valuesAsBuffers) === 0) {
      return binding.memoryGet(this.#native, key, flags, snapshot?.native) as string | undefined
    }

    const found = binding.memoryGet(this.#native, key, flags, snapshot?.native, slab.memory(), slab.offset())
    return typeof found === 'number' ? slab.take(found) : found
  }

  getSync(key: Bytes, options: BackendReadOptions, snapshot?: MemorySnapshot): Bytes | undefined {
    return this.get(key, options, snapshot)
  }

  getMany(keys: Bytes[], options: BackendReadOptions, snapshot?: MemorySnapshot): Array<Bytes | undefined> {
    const flags = readFlags(options, snapshot)
    return inParts(keys, (part) =>
      valuesOf(binding.memoryGetMany(this.#native, flags, snapshot?.native, ...part))
    )
  }

  has(key: Bytes, options: BackendReadOptions, snapshot?: MemorySnapshot): boolean {
    return binding.memoryHas(this.#native, key, readFlags(options, snapshot), snapshot?.native)
  }

  hasMany(keys: Bytes[], options: BackendReadOptions, snapshot?: MemorySnapshot): boolean[] {
    const flags = readFlags(options, snapshot)
    return inParts(keys, (part) => binding.memoryHasMany(this.#native, flags, snapshot?.native, ...part))
  }

  put(key: Bytes, value: Bytes): void {
    binding.memoryPut(this.#native, key, value)
  }

  del(key: Bytes): void {
    binding.memoryDel(this.#native, key)
  }

  write(operations: Operations): void {
    if (operations.length <= MAX_SPREAD) {
      binding.memoryWrite(this.#native, ...operations)
      return
    }

    const batch = binding.memoryBatch()
    appendAll(batch, operations)
    binding.memoryBatchWrite(this.#native, batch)
    binding.memoryBatchClear(batch)
  }

  writeSync(operations: Operations): void {
    this.write(operations)
  }

  writeIf(conditions: ReadonlyArray<BackendCondition<MemorySnapshot>>, operations: Operations): void {
    if (fitInCall(conditions, operations)) {
      binding.memoryWriteIf(this.#native, conditions.length, ...argumentsOf(conditions), ...operations)
      return
    }

    const batch = binding.memoryBatch()
    addConditions(conditions, (part) => binding.memoryBatchIf(batch, ...part))
    appendAll(batch, operations)
    binding.memoryBatchWrite(this.#native, batch)
    binding.memoryBatchClear(batch)
  }

  writeIfSync(conditions: ReadonlyArray<BackendCondition<MemorySnapshot>>, operations: Operations): void {
    this.writeIf(conditions, operations)
  }

  clear(range: RangeDeletion, snapshot?: MemorySnapshot): void {
    let flags = range.reverse ? Flag.reverse : 0
    if (snapshot !== undefined) flags |= Flag.snapshot
    binding.memoryClear(this.#native, range, flags, range.limit, snapshot?.native)
  }

  batch(): MemoryBatch {
    return new MemoryBatch(this.#native)
  }

  cursor(options: CursorOptions, parts: CursorParts, snapshot?: MemorySnapshot): MemoryCursor {
    return new MemoryCursor(this.#native, options, parts, snapshot?.native)
  }

  rangeSize(start: Bytes, end: Bytes): number {
    return binding.memorySize(this.#native, start, end)
  }

  stats(): MemoryStats {
    return binding.memoryStats(this.#native)
  }

  snapshot(): MemorySnapshot {
    return new MemorySnapshot(binding.memorySnapshot(this.#native))
  }
}

function readFlags(options: BackendReadOptions, snapshot: unknown): number {
  let flags = options.valueEncoding !== 'utf8' ? Flag.valuesAsBuffers : 0
  if (snapshot !== undefined) flags |= Flag.snapshot
  return flags
}

/** Reads as many keys as one call can pass, and then the next. Nothing is written in between. */
function inParts<T>(keys: Bytes[], read: (keys: Bytes[]) => T[]): T[] {
  if (keys.length <= MAX_SPREAD) return read(keys)

  const found: T[] = []
  for (let i = 0; i < keys.length; i += MAX_SPREAD) {
    for (const each of read(keys.slice(i, i + MAX_SPREAD))) found.push(each)
  }
  return found
}
