/**
 * Values of JavaScript in V8's serialisation, as Chromium stores the records of IndexedDB: Blink's envelope, then a version, then tags. What
 * JSON cannot say becomes an object of one member, such as `{"$date": …}`.
 */

import { hex } from '../bytes.js'
import { NotDecoded, Reader } from '../layouts/reader.js'

const VERSION = 0xff
const TRAILER = 0xfe
const TRAILER_BYTES = 12
/** Blink's version from which on a trailer may follow. */
const FIRST_WITH_TRAILER = 21
const MOST_DEPTH = 200
const PADDING = 0

const VIEWS = {
  b: 'Int8Array',
  B: 'Uint8Array',
  C: 'Uint8ClampedArray',
  w: 'Int16Array',
  W: 'Uint16Array',
  d: 'Int32Array',
  D: 'Uint32Array',
  f: 'Float32Array',
  F: 'Float64Array',
  h: 'Float16Array',
  q: 'BigInt64Array',
  Q: 'BigUint64Array',
  '?': 'DataView'
}

/** Decodes a record's value, of which the version of the record was read. */
export function v8Value(bytes) {
  const reader = new Reader(bytes)
  readEnvelope(reader)
  return new Values(reader).value(0)
}

/** Blink's version and trailer, then V8's version. */
function readEnvelope(reader) {
  if (reader.byte() !== VERSION) throw new NotDecoded()
  const version = reader.varint()
  if (version >= FIRST_WITH_TRAILER && reader.peek() === TRAILER) reader.bytes(1 + TRAILER_BYTES)
  if (reader.byte() !== VERSION) throw new NotDecoded()
  reader.varint()
}

class Values {
  #reader
  /** The objects so far, which later tags refer to by number. */
  #objects = []

  constructor(reader) {
    this.#reader = reader
  }

  value(depth) {
    if (depth > MOST_DEPTH) throw new NotDecoded()
    const reader = this.#reader
    const tag = this.#tag()
    switch (tag) {
      case '_':
        return { $undefined: true }
      case '0':
        return null
      case 'T':
        return true
      case 'F':
        return false
      case 'I':
        return zigzag(reader.varint())
      case 'U':
        return reader.varint()
      case 'N':
        return numberOf(reader.double())
      case 'Z':
        return { $bigint: this.#bigint() }
      case '"':
        return reader.latin1(reader.varint())
      case 'c':
        return reader.utf16(reader.varint(), 'little')
      case 'S':
        return new TextDecoder().decode(reader.bytes(reader.varint()))
      case '^':
        return this.#again(reader.varint())
      default:
        return this.#object(tag, depth)
    }
  }

  #object(tag, depth) {
    const reader = this.#reader
    switch (tag) {
      case 'y':
        return this.#note({ $boolean: true })
      case 'x':
        return this.#note({ $boolean: false })
      case 'n':
        return this.#note({ $number: numberOf(reader.double()) })
      case 's':
        return this.#note({ $string: this.value(depth + 1) })
      case 'D':
        return this.#note({ $date: dateOf(reader.double()) })
      case 'R': {
        const place = this.#reserve()
        const pattern = this.value(depth + 1)
        return this.#put(place, { $regexp: `/${pattern}/`, flags: reader.varint() })
      }
      case 'o': {
        const object = this.#note({})
        this.#members(object, '{', depth)
        reader.varint()
        return object
      }
      case 'A': {
        const array = this.#note([])
        for (let left = reader.varint(); left > 0; left--) {
          array.push(this.#peekTag() === '-' ? this.#hole() : this.value(depth + 1))
        }
        this.#members({}, '$', depth)
        reader.varint()
        reader.varint()
        return array
      }
      case 'a': {
        const object = this.#note({ $sparse: {} })
        reader.varint()
        this.#members(object.$sparse, '@', depth)
        reader.varint()
        reader.varint()
        return object
      }
      case ';':
        return this.#pairs({ $map: [] }, '$map', ':', depth)
      case "'":
        return this.#pairs({ $set: [] }, '$set', ',', depth)
      case 'B':
        return this.#buffer()
      default:
        throw new NotDecoded()
    }
  }

  /** The members of an object up to its end. */
  #members(object, end, depth) {
    while (this.#peekTag() !== end) {
      const name = this.value(depth + 1)
      const value = this.value(depth + 1)
      // `__proto__` is a name like others.
      Object.defineProperty(object, String(name), {
        value,
        enumerable: true,
        configurable: true,
        writable: true
      })
    }
    this.#tag()
  }

  #pairs(object, name, end, depth) {
    this.#note(object)
    const items = object[name]
    while (this.#peekTag() !== end) items.push(this.value(depth + 1))
    this.#tag()
    this.#reader.varint()
    if (name === '$map') {
      object[name] = Array.from({ length: items.length / 2 }, (_, index) =>
        items.slice(2 * index, 2 * index + 2)
      )
    }
    return object
  }

  /** A buffer, and the view of it if one follows. */
  #buffer() {
    const reader = this.#reader
    const buffer = this.#note({ $buffer: hex(reader.bytes(reader.varint())) })
    if (reader.left === 0 || this.#peekTag() !== 'V') return buffer
    this.#tag()
    const type = VIEWS[String.fromCharCode(reader.byte())]
    if (type === undefined) throw new NotDecoded()
    const [start, length] = [reader.varint(), reader.varint()]
    // Flags, since version 14.
    reader.varint()
    return this.#note({ $view: type, hex: buffer.$buffer.slice(2 * start, 2 * (start + length)) })
  }

  #bigint() {
    const reader = this.#reader
    const flags = reader.varint()
    const digits = reader.bytes(flags >>> 1).toReversed()
    const value = digits.length === 0 ? 0n : BigInt(`0x${hex(digits)}`)
    return String((flags & 1) === 1 ? -value : value)
  }

  #hole() {
    this.#tag()
    return null
  }

  #again(number) {
    if (number >= this.#objects.length) throw new NotDecoded()
    const object = this.#objects[number]
    // An object within itself has no form in JSON.
    return object !== null && typeof object === 'object' ? { $again: number } : object
  }

  #note(object) {
    this.#objects.push(object)
    return object
  }

  #reserve() {
    return this.#objects.push(null) - 1
  }

  #put(place, object) {
    this.#objects[place] = object
    return object
  }

  #tag() {
    this.#skipPadding()
    return String.fromCharCode(this.#reader.byte())
  }

  #peekTag() {
    this.#skipPadding()
    return String.fromCharCode(this.#reader.peek())
  }

  #skipPadding() {
    while (this.#reader.peek() === PADDING) this.#reader.byte()
  }
}

const zigzag = (value) => (value % 2 === 0 ? value / 2 : -(value + 1) / 2)

const numberOf = (value) => (Number.isFinite(value) ? value : { $number: String(value) })

const dateOf = (ms) => (Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : String(ms))
