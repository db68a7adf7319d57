/** Encodes keys to bytes. The usual caller is an abstract-level database with this `keyEncoding`. */

import { writeBigInt } from './bigints.js'
import { Bound } from './bounds.js'
import { codedError } from './errors.js'
import type { Key } from './keys.js'
import { MAX_DEPTH, MAX_KEY_SIZE_BYTES } from './limits.js'
import { Output, tooLong } from './output.js'
import {
  ARRAY,
  BINARY,
  DATE_BEFORE_EPOCH,
  DATE_SINCE_EPOCH,
  END,
  FALSE,
  HIGHEST,
  LOWEST,
  MAP,
  NEGATIVE_INFINITY,
  NEGATIVE_NUMBER,
  NULL,
  POSITIVE_INFINITY,
  POSITIVE_NUMBER,
  SET,
  TRUE,
  UNDEFINED
} from './type-bytes.js'
import { type TypedArray, toSortedBytes, typedArrayByte, typedArrayName } from './typed-arrays.js'
import { writeBytes, writeText } from './write-text.js'

const output = new Output()

/**
 * Encodes a key or a bound as a `Buffer` where that class exists, otherwise as a `Uint8Array`. Encoded keys sort in the same
 * order as the keys.
 *
 * @throws {@link BytewiseError} if the value cannot be a key; its `code` gives the reason.
 */
export function encode(key: Key | Bound): Uint8Array {
  // A proxy or a getter within an array may call this function again. That key is then written after the beginning of this one.
  const start = output.position
  const { endsInBound } = output
  output.endsInBound = false
  try {
    writeValue(output, key, false, 0)
    return output.copyFrom(start)
  } finally {
    output.rewind(start)
    output.endsInBound = endsInBound
  }
}

/** Writes any value. `nested` is true within an array, a set or a map; `depth` is the number of those around it. */
function writeValue(output: Output, value: unknown, nested: boolean, depth: number): void {
  switch (typeof value) {
    case 'string':
      writeText(output, value, nested, nested)
      break
    case 'number':
      writeNumber(output, value)
      break
    case 'boolean':
      output.push(value ? TRUE : FALSE)
      break
    case 'undefined':
      output.push(UNDEFINED)
      break
    case 'bigint':
      writeBigInt(output, value)
      break
    case 'object':
      if (value === null) {
        output.push(NULL)
      } else if (Array.isArray(value)) {
        writeElements(output, value, depth)
        output.push(END)
      } else if (value instanceof Uint8Array && typedArrayName(value) === 'Uint8Array') {
        writeBinary(output, BINARY, value, nested)
      } else {
        writeObject(output, value, nested, depth)
      }
      break
    default:
      throw unsupported(value)
  }
}

function writeNumber(output: Output, value: number): void {
  if (value - value === 0) {
    writeDouble(output, value < 0 ? NEGATIVE_NUMBER : POSITIVE_NUMBER, value)
  } else if (value === Number.POSITIVE_INFINITY) {
    output.push(POSITIVE_INFINITY)
  } else if (value === Number.NEGATIVE_INFINITY) {
    output.push(NEGATIVE_INFINITY)
  } else {
    throw codedError('BYTEWISE_INVALID_VALUE', 'NaN cannot be ordered')
  }
}

/** Writes a double, big-endian. A negative one is written as its inverted magnitude. */
function writeDouble(output: Output, typeByte: number, value: number): void {
  output.reserve(9)
  const { view, position } = output
  view.setUint8(position, typeByte)
  // Adding zero turns -0 into 0.
  view.setFloat64(position + 1, value + 0)
  if (value < 0) {
    // The sign bit is set and stays set: it is the inverted sign bit of the magnitude.
    view.setUint32(position + 1, view.getUint32(position + 1) ^ 0x7fffffff)
    view.setUint32(position + 5, ~view.getUint32(position + 5))
  }
  output.position = position + 9
}

/** Writes the elements of an array with its type byte, without its end. */
function writeElements(output: Output, array: readonly unknown[], depth: number): void {
  const { length } = array
  checkDepth(depth)
  if (length > MAX_KEY_SIZE_BYTES) throw tooLong()
  output.push(ARRAY)
  for (let i = 0; i < length; i++) {
    if (output.endsInBound) throw misplacedBound('before the end of an array')
    writeValue(output, array[i], true, depth + 1)
  }
}

function writeBinary(output: Output, typeByte: number, bytes: Uint8Array, nested: boolean): void {
  output.push(typeByte)
  writeBytes(output, bytes, nested)
  if (nested) output.push(END)
}

/** Writes the rarer types. It rejects objects that only look like them: it checks internal slots, never a prototype alone. */
function writeObject(output: Output, value: object, nested: boolean, depth: number): void {
  const time = timeOf(value)
  if (time !== undefined) {
    writeDate(output, time)
  } else if (value instanceof Bound) {
    writeBound(output, value, nested, depth)
  } else if (typedArrayName(value) !== undefined) {
    const bytes = bytesOf(value)
    if (bytes === undefined) throw unsupported(value)
    writeBinary(output, bytes.typeByte, bytes.content, nested)
  } else {
    const keys = keysOf(value)
    if (keys === undefined) throw unsupported(value)
    writeSorted(output, value as Set<unknown> | Map<unknown, unknown>, keys, depth)
  }
}

function writeDate(output: Output, time: number): void {
  if (Number.isNaN(time)) throw codedError('BYTEWISE_INVALID_VALUE', 'An invalid date cannot be ordered')
  writeDouble(output, time < 0 ? DATE_BEFORE_EPOCH : DATE_SINCE_EPOCH, time)
}

/** A date's time in milliseconds; NaN if it is invalid; undefined if the value is not a date. */
function timeOf(value: object): number | undefined {
  if (!(value instanceof Date) && Object.prototype.toString.call(value) !== '[object Date]') return undefined
  try {
    return Date.prototype.getTime.call(value)
  } catch {
    return undefined
  }
}

/** The keys of a map or the members of a set; undefined for anything else. */
function keysOf(value: object): IterableIterator<unknown> | undefined {
  const tag = Object.prototype.toString.call(value)
  try {
    if (tag === '[object Set]') return Set.prototype.values.call(value)
    if (tag === '[object Map]') return Map.prototype.keys.call(value)
  } catch {
    // It only claims to be one.
  }
  return undefined
}

/** A part of what was written: an entry of a map, or a member of a set. Positions count from where the first one begins. */
interface Part {
  start: number
  keyEnd: number
  end: number
}

/** Writes a set or a map, sorted by the bytes of its keys, so that the order of insertion does not make a different key. */
function writeSorted(
  output: Output,
  collection: Set<unknown> | Map<unknown, unknown>,
  keys: Iterable<unknown>,
  depth: number
): void {
  checkDepth(depth)
  const isMap = Object.prototype.toString.call(collection) === '[object Map]'
  output.push(isMap ? MAP : SET)
  const first = output.position
  const parts: Part[] = []
  for (const key of keys) {
    const start = output.position - first
    writeValue(output, key, true, depth + 1)
    const keyEnd = output.position - first
    if (isMap) writeValue(output, Map.prototype.get.call(collection, key), true, depth + 1)
    if (output.endsInBound) throw misplacedBound('in a set or a map')
    parts.push({ start, keyEnd, end: output.position - first })
  }

  // The method `slice` of a Buffer means something else.
  const written = Uint8Array.prototype.slice.call(output.bytes, first, output.position)
  parts.sort((a, b) => compareParts(written, a, b))
  output.position = first
  let previous: Part | undefined
  for (const part of parts) {
    const isSame = previous !== undefined && compareParts(written, previous, part) === 0
    if (isSame && isMap)
      throw codedError('BYTEWISE_INVALID_VALUE', 'A map has two keys with the same encoding')
    previous = part
    if (isSame) continue
    output.bytes.set(written.subarray(part.start, part.end), output.position)
    output.position += part.end - part.start
  }
  output.push(END)
}

function compareParts(bytes: Uint8Array, a: Part, b: Part): number {
  const size = Math.min(a.keyEnd - a.start, b.keyEnd - b.start)
  for (let i = 0; i < size; i++) {
    const difference = (bytes[a.start + i] as number) - (bytes[b.start + i] as number)
    if (difference !== 0) return difference
  }
  // Within a set or a map, no encoding is the beginning of another.
  return 0
}

/** Writes a bound: what its keys begin with, without the end byte, and for an upper bound the highest byte. */
function writeBound(output: Output, bound: Bound, nested: boolean, depth: number): void {
  const { isUpper, isWhole, prefix } = bound
  const start = output.position
  if (isWhole) {
    output.push(isUpper ? HIGHEST : LOWEST)
  } else {
    const isText = typeof prefix === 'string'
    const bytes = isText ? undefined : bytesOf(prefix)
    if (isText) {
      writeText(output, prefix, nested, false)
    } else if (bytes !== undefined) {
      output.push(bytes.typeByte)
      writeBytes(output, bytes.content, nested)
    } else if (Array.isArray(prefix)) {
      writeElements(output, prefix, depth)
    } else {
      writeValue(output, prefix, nested, depth)
    }
    if (output.endsInBound) throw misplacedBound('as the prefix of another')
    if (isUpper && bytes !== undefined && !nested) raiseLastByte(output, start)
    else if (isUpper) output.push(HIGHEST)
  }
  output.endsInBound = true
}

/** The content of bytes and typed arrays, with the type byte; undefined for anything else. */
function bytesOf(value: unknown): { typeByte: number; content: Uint8Array } | undefined {
  const name = typedArrayName(value)
  if (name === undefined) return undefined
  if (name === 'Uint8Array') return { typeByte: BINARY, content: value as Uint8Array }
  const typeByte = typedArrayByte(name)
  return typeByte === undefined
    ? undefined
    : { typeByte, content: toSortedBytes(typeByte, value as TypedArray) }
}

/**
 * Turns bytes into the smallest bytes that sort after everything that begins with them. They are not escaped, so the highest
 * byte may follow them.
 */
function raiseLastByte(output: Output, start: number): void {
  // This stops at the type byte, which is below the highest byte.
  while (output.position > start && output.bytes[output.position - 1] === 0xff) output.position--
  const last = output.position - 1
  output.bytes[last] = (output.bytes[last] as number) + 1
}

function checkDepth(depth: number): void {
  if (depth >= MAX_DEPTH) {
    throw codedError(
      'BYTEWISE_TOO_DEEP',
      `A value is nested in more than ${MAX_DEPTH} arrays, sets or maps, or contains itself`
    )
  }
}

function misplacedBound(where: string): Error {
  return codedError('BYTEWISE_INVALID_BOUND', `A bound cannot stand ${where}`)
}

function unsupported(value: unknown): Error {
  const tag = Object.prototype.toString.call(value).slice(8, -1)
  return codedError(
    'BYTEWISE_UNSUPPORTED_TYPE',
    `A value of this type cannot be a key: ${typeof value} (${tag})`
  )
}
