/**
 * Decodes bytes to the key: the counterpart of `encode.ts`. Bytes are decoded only if some key encodes to exactly these bytes;
 * any others are an error. The input is not trusted: nothing is allocated by a length before the bytes are known to exist, and
 * nesting is limited.
 */

import { readBigInt } from './bigints.js'
import { codedError, damaged } from './errors.js'
import type { Key } from './keys.js'
import { MAX_DEPTH } from './limits.js'
import { copyOf } from './output.js'
import { readLongText, readShortText, textEnd, unescaped } from './read-text.js'
import {
  ARRAY,
  BINARY,
  DATE_BEFORE_EPOCH,
  DATE_SINCE_EPOCH,
  END,
  ESCAPE_HIGH,
  ESCAPE_LOW,
  FALSE,
  FIRST_TYPED_ARRAY,
  LAST_TYPED_ARRAY,
  MAP,
  NEGATIVE_BIGINT,
  NEGATIVE_INFINITY,
  NEGATIVE_NUMBER,
  NULL,
  POSITIVE_BIGINT,
  POSITIVE_INFINITY,
  POSITIVE_NUMBER,
  SET,
  STRING,
  TRUE,
  UNDEFINED
} from './type-bytes.js'
import { fromSortedBytes, typedArrayName } from './typed-arrays.js'

/** The most milliseconds that a date can be before or after 1970. */
const LARGEST_TIME_MS = 8.64e15

const NOTHING = new Uint8Array(0)

const ESCAPE_CHARACTER = String.fromCharCode(ESCAPE_LOW)

/** A double whose halves are read one by one. That compiles to plain instructions; the alternative is a view for each key. */
const double = new DataView(new ArrayBuffer(8))

/** The bytes that are being decoded, the position of the reader, and the end. */
let source: Uint8Array = NOTHING
let position = 0
let end = 0

/**
 * Decodes a key. The key shares no memory with `bytes`.
 *
 * @throws {@link BytewiseError} with the code `BYTEWISE_DAMAGED` if no key encodes to these bytes, or
 * `BYTEWISE_INVALID_ARGUMENT` if they are not a `Uint8Array`.
 */
export function decode(bytes: Uint8Array): Key {
  if (!(bytes instanceof Uint8Array) && typedArrayName(bytes) !== 'Uint8Array') {
    throw codedError('BYTEWISE_INVALID_ARGUMENT', 'The argument must be a Uint8Array')
  }
  source = bytes
  position = 0
  end = bytes.length
  try {
    const key = readValue(false, 0)
    if (position !== end) throw damaged('A key continues after its end', position)
    return key
  } finally {
    // Releases the bytes of the last key.
    source = NOTHING
  }
}

function readValue(nested: boolean, depth: number): Key {
  if (position >= end) throw damaged('A key is cut off', position)
  const typeByte = source[position++] as number
  switch (typeByte) {
    case STRING:
      return readString(nested)
    case POSITIVE_NUMBER:
    case NEGATIVE_NUMBER:
      return readDouble(typeByte === NEGATIVE_NUMBER)
    case ARRAY:
      return readArray(depth)
    case NULL:
      return null
    case FALSE:
      return false
    case TRUE:
      return true
    case UNDEFINED:
      return undefined
    case NEGATIVE_INFINITY:
      return Number.NEGATIVE_INFINITY
    case POSITIVE_INFINITY:
      return Number.POSITIVE_INFINITY
    case DATE_SINCE_EPOCH:
    case DATE_BEFORE_EPOCH:
      return readDate(typeByte === DATE_BEFORE_EPOCH)
    case BINARY:
      return readBytes(nested)
    case NEGATIVE_BIGINT:
    case POSITIVE_BIGINT: {
      const read = readBigInt(source, position, end, typeByte === NEGATIVE_BIGINT)
      position = read.end
      return read.value
    }
    case SET:
      return readSet(depth)
    case MAP:
      return readMap(depth)
    default:
      return readTypedArray(typeByte, nested)
  }
}

function readDouble(negative: boolean): number {
  const start = position
  if (start + 8 > end) throw damaged('A number is cut off', end)
  const bytes = source
  let high =
    ((bytes[start] as number) << 24) |
    ((bytes[start + 1] as number) << 16) |
    ((bytes[start + 2] as number) << 8) |
    (bytes[start + 3] as number)
  let low =
    ((bytes[start + 4] as number) << 24) |
    ((bytes[start + 5] as number) << 16) |
    ((bytes[start + 6] as number) << 8) |
    (bytes[start + 7] as number)
  if (negative) {
    high ^= 0x7fffffff
    low = ~low
  }
  double.setInt32(0, high)
  double.setInt32(4, low)
  const value = double.getFloat64(0)
  // NaN, infinities and zeros with the wrong sign are among the failures.
  const isCanonical = value - value === 0 && (negative ? value < 0 : value >= 0 && high >= 0)
  if (!isCanonical) throw damaged('A number is not in its canonical form', start)
  position = start + 8
  return value
}

function readDate(negative: boolean): Date {
  const start = position
  const time = readDouble(negative)
  if (!Number.isInteger(time) || Math.abs(time) > LARGEST_TIME_MS)
    throw damaged('A date has a time that no date can have', start)
  return new Date(time)
}

function readString(nested: boolean): string {
  const bytes = source
  const start = position
  const short = readShortText(bytes, start, end, nested)
  if (short !== undefined) {
    position = textEnd
    return short
  }

  if (!nested) {
    position = end
    return readLongText(bytes, start, end)
  }
  const stop = bytes.indexOf(END, start)
  if (stop < 0) throw damaged('A string has no end', start)
  position = stop + 1
  const text = readLongText(bytes, start, stop)
  if (!text.includes(ESCAPE_CHARACTER)) return text
  const plain = unescaped(bytes, start, stop)
  return readLongText(plain, 0, plain.length)
}

function readBytes(nested: boolean): Uint8Array {
  const start = position
  if (!nested) {
    position = end
    return copyOf(source, start, end)
  }

  const bytes = source
  const limit = end
  let escaped = false
  let i = start
  for (; i < limit; i++) {
    const byte = bytes[i] as number
    if (byte === END) break
    if (byte === ESCAPE_LOW || byte >= ESCAPE_HIGH) escaped = true
  }
  if (i === limit) throw damaged('Bytes have no end', start)
  position = i + 1
  return escaped ? unescaped(source, start, i) : copyOf(source, start, i)
}

function readTypedArray(typeByte: number, nested: boolean): Key {
  const start = position
  if (typeByte < FIRST_TYPED_ARRAY || typeByte > LAST_TYPED_ARRAY) {
    throw damaged(`No type has the byte 0x${typeByte.toString(16).padStart(2, '0')}`, start - 1)
  }
  return fromSortedBytes(typeByte, readBytes(nested), start)
}

function readArray(depth: number): Key[] {
  checkDepth(depth)
  const inside = depth + 1
  // Most arrays are short. An array made with its elements is made faster than one that grows.
  if (readEnd()) return []
  const first = readValue(true, inside)
  if (readEnd()) return [first]
  const second = readValue(true, inside)
  if (readEnd()) return [first, second]
  const third = readValue(true, inside)
  if (readEnd()) return [first, second, third]
  const fourth = readValue(true, inside)
  if (readEnd()) return [first, second, third, fourth]
  const array = [first, second, third, fourth, readValue(true, inside)]
  while (!readEnd()) array.push(readValue(true, inside))
  return array
}

function readSet(depth: number): Set<Key> {
  checkDepth(depth)
  const set = new Set<Key>()
  const order = new Ascending()
  while (!readEnd()) {
    const start = position
    set.add(readValue(true, depth + 1))
    order.check(start)
  }
  return set
}

function readMap(depth: number): Map<Key, Key> {
  checkDepth(depth)
  const map = new Map<Key, Key>()
  const order = new Ascending()
  while (!readEnd()) {
    const start = position
    const key = readValue(true, depth + 1)
    order.check(start)
    map.set(key, readValue(true, depth + 1))
  }
  return map
}

/** Returns whether an array, a set or a map ends here, and reads its end if so. */
function readEnd(): boolean {
  if (position >= end) throw damaged('An array, a set or a map has no end', position)
  if (source[position] !== END) return false
  position++
  return true
}

function checkDepth(depth: number): void {
  if (depth >= MAX_DEPTH)
    throw damaged(`A key is nested in more than ${MAX_DEPTH} arrays, sets or maps`, position - 1)
}

/** Checks that the keys of a map, or the members of a set, ascend. No map encodes to any other order. */
class Ascending {
  #start = 0
  #end = 0

  /** Call it when a key that began at `start` has been read. */
  check(start: number): void {
    if (this.#end > 0 && !this.#isBelow(start)) throw damaged('A set or a map is out of order', start)
    this.#start = start
    this.#end = position
  }

  /** Within a set or a map, no encoding is the beginning of another, so two different ones differ in some byte. */
  #isBelow(start: number): boolean {
    for (let i = this.#start, j = start; i < this.#end && j < position; i++, j++) {
      if (source[i] !== source[j]) return (source[i] as number) < (source[j] as number)
    }
    return false
  }
}
