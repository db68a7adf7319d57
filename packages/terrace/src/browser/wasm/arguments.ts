/** Keys and values as arguments: bytes that are stored in memory one after another. */

import { type Bytes, codedError, type Operations } from 'terrace-core'
import { storeText } from '../utf8.js'

/** Where arguments are stored: the memory of an engine's module, or that of a message to one. */
export interface Room {
  /** All of the memory. It may have moved after {@link room}. */
  readonly memory: Uint8Array
  /** Where at least so many bytes can be stored, as an index into {@link memory}. */
  room(sizeBytes: number): number
}

/** In a longer string, the bytes are counted, so that it fits if they do. */
const LONG_UNITS = 1 << 24

/** No less than the length of a key or a value. Each unit of a string takes at most three bytes. */
export function mostBytes(bytes: Bytes): number {
  if (typeof bytes !== 'string') return bytes.byteLength
  return bytes.length < LONG_UNITS ? 3 * bytes.length : utf8Bytes(bytes)
}

/** No less than the length of a string as UTF-8. */
function utf8Bytes(text: string): number {
  let bytes = text.length
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit > 0x7f) bytes += unit > 0x7ff ? 2 : 1
  }
  return bytes
}

/** Stores a key or a value at a place that has room for it. Returns its length. */
export function store(bytes: Bytes, memory: Uint8Array, start: number): number {
  return typeof bytes === 'string' ? storeText(bytes, memory, start) : storeBytes(bytes, memory, start)
}

/**
 * Stores bytes. Returns their number.
 *
 * @throws LEVEL_INTERNAL_ERROR for anything but bytes. Of other arrays, a part would be copied, and the module would take for the rest what
 * former calls have left there: keys and values of others.
 */
function storeBytes(bytes: Uint8Array, memory: Uint8Array, start: number): number {
  if (!(bytes instanceof Uint8Array)) {
    throw codedError(
      'LEVEL_INTERNAL_ERROR' as string,
      'The engine received a key or value that is not bytes: report this bug'
    )
  }
  memory.set(bytes, start)
  return bytes.byteLength
}

/** Stores a key. Returns its length. */
export function storeOne(engine: Room, key: Bytes): number {
  const start = engine.room(mostBytes(key))
  return store(key, engine.memory, start)
}

/** Stores two keys. Either may be missing. Returns their lengths. */
export function storeTwo(
  engine: Room,
  first: Bytes | undefined,
  second: Bytes | undefined
): [number, number] {
  const most = (bytes: Bytes | undefined): number => (bytes === undefined ? 0 : mostBytes(bytes))
  const start = engine.room(most(first) + most(second))
  const { memory } = engine
  const firstLength = first === undefined ? 0 : store(first, memory, start)
  const secondLength = second === undefined ? 0 : store(second, memory, start + firstLength)
  return [firstLength, secondLength]
}

const BATCH_HEADER_BYTES = 12
const KIND_BYTES = 1
const MAX_LENGTH_BYTES = 5

const DELETION = 0
const VALUE = 1

/** Stores operations as LevelDB's write batch (docs/format/batch.md). Returns its length. */
export function storeBatch(engine: Room, operations: Operations): number {
  const start = engine.room(mostBatchBytes(operations))
  return storeBatchAt(operations, engine.memory, start) - start
}

/** No less than the length of the operations as a write batch. */
export function mostBatchBytes(operations: Operations): number {
  let most = BATCH_HEADER_BYTES
  for (const bytes of operations) {
    most += KIND_BYTES + MAX_LENGTH_BYTES + (bytes === null ? 0 : mostBytes(bytes))
  }
  return most
}

/** Stores operations as a write batch at a place that has room for it. Returns where it ends. */
export function storeBatchAt(operations: Operations, memory: Uint8Array, start: number): number {
  let at = start + BATCH_HEADER_BYTES
  for (let index = 0; index < operations.length; index += 2) {
    const value = operations[index + 1] as Bytes | null
    memory[at] = value === null ? DELETION : VALUE
    at = storeWithLength(operations[index] as Bytes, memory, at + KIND_BYTES)
    if (value !== null) at = storeWithLength(value, memory, at)
  }

  memory.fill(0, start, start + BATCH_HEADER_BYTES)
  new DataView(memory.buffer).setUint32(start + BATCH_HEADER_BYTES - 4, operations.length / 2, true)
  return at
}

/** Stores arguments that were taken out. Returns their length. */
export function putBack(engine: Room, bytes: Uint8Array): number {
  const start = engine.room(bytes.byteLength)
  return storeBytes(bytes, engine.memory, start)
}

function storeWithLength(bytes: Bytes, memory: Uint8Array, at: number): number {
  if (typeof bytes !== 'string') {
    const next = storeLength(bytes.byteLength, memory, at)
    return next + storeBytes(bytes, memory, next)
  }

  // The length is known afterwards. Where it takes more room than for ASCII, the text moves.
  const expected = at + lengthBytes(bytes.length)
  const length = storeText(bytes, memory, expected)
  const next = at + lengthBytes(length)
  if (next !== expected) memory.copyWithin(next, expected, expected + length)
  storeLength(length, memory, at)
  return next + length
}

/** Stores a varint32. Returns where it ends. */
function storeLength(length: number, memory: Uint8Array, at: number): number {
  for (; length > 0x7f; length >>>= 7) memory[at++] = (length & 0x7f) | 0x80
  memory[at++] = length
  return at
}

function lengthBytes(length: number): number {
  let bytes = 1
  for (; length > 0x7f; length >>>= 7) bytes++
  return bytes
}
