/**
 * Looks over a message before it is unpacked. A message of a few megabytes may hold millions of tiny parts, each of which takes a
 * hundred times its length in memory once it is an object; and it may nest deeper than the stack.
 */

import { protocolError } from './errors.js'

/** Lists in lists. Operations need two; arguments of methods are what people write. */
const MAX_DEPTH = 64

/** What follows the first byte of 0xc0 to 0xdf: bytes that give a length or count, bytes that follow, and the items. */
interface Form {
  readonly lengthBytes: number
  readonly bytes: number
  /** How many items each counted element has; 0 if the length is that of bytes. */
  readonly items: number
}

const scalar = (bytes: number): Form => ({ lengthBytes: 0, bytes, items: 0 })
const sized = (lengthBytes: number): Form => ({ lengthBytes, bytes: 0, items: 0 })
const list = (lengthBytes: number): Form => ({ lengthBytes, bytes: 0, items: 1 })
const map = (lengthBytes: number): Form => ({ lengthBytes, bytes: 0, items: 2 })

/** A time, which is the only extension that may come, has this type. */
const TIMESTAMP = 0xff

/** By the first byte, from 0xc0 on. Undefined is not allowed, as are extensions, which would let the peer choose what is made. */
const forms: ReadonlyArray<Form | undefined> = [
  ...[scalar(0), undefined, scalar(0), scalar(0)],
  ...[sized(1), sized(2), sized(4)],
  ...[undefined, undefined, undefined],
  ...[scalar(4), scalar(8)],
  ...[scalar(1), scalar(2), scalar(4), scalar(8)],
  ...[scalar(1), scalar(2), scalar(4), scalar(8)],
  ...[undefined, undefined, undefined, undefined, undefined],
  ...[sized(1), sized(2), sized(4)],
  ...[list(2), list(4)],
  ...[map(2), map(4)]
]

/**
 * Checks that bytes, from `start` up to `end`, are one value in MessagePack, with no more than `maxItems` values within.
 *
 * @returns How many there are.
 * @throws NET_PROTOCOL
 */
export function checkShape(bytes: Uint8Array, maxItems: number, start = 0, end = bytes.length): number {
  const shape = new Shape(bytes, maxItems, start, end)
  shape.take(1)
  if (shape.offset !== end) throw malformed()
  return maxItems - shape.itemsLeft
}

class Shape {
  offset: number
  readonly #end: number
  readonly #bytes: Uint8Array
  itemsLeft: number
  #depth = 0

  constructor(bytes: Uint8Array, maxItems: number, start: number, end: number) {
    this.offset = start
    this.#end = end
    this.#bytes = bytes
    this.itemsLeft = maxItems
  }

  /** Passes over so many values. */
  take(count: number): void {
    this.itemsLeft -= count
    if (this.itemsLeft < 0) throw protocolError('A message has too many parts')
    if (++this.#depth > MAX_DEPTH) throw protocolError('A message is nested too deeply')
    for (let i = 0; i < count; i++) this.#one()
    this.#depth--
  }

  #one(): void {
    if (this.offset >= this.#end) throw malformed()
    const first = this.#bytes[this.offset++] as number
    if (first < 0x80 || first >= 0xe0) return
    if (first < 0x90) this.take(2 * (first & 0x0f))
    else if (first < 0xa0) this.take(first & 0x0f)
    else if (first < 0xc0) this.#skip(first & 0x1f)
    else this.#long(first)
  }

  #long(first: number): void {
    const form = forms[first - 0xc0]
    if (form === undefined) {
      this.#timestamp(first)
      return
    }

    const { lengthBytes, bytes, items } = form
    if (lengthBytes === 0) this.#skip(bytes)
    else if (items === 0) this.#skip(this.#length(lengthBytes))
    else this.take(items * this.#length(lengthBytes))
  }

  /** The three forms of a time: 4, 8 or 12 bytes. */
  #timestamp(first: number): void {
    const isLong = first === 0xc7 && this.#bytes[this.offset] === 12
    const type = this.#bytes[this.offset + (isLong ? 1 : 0)]
    if (type !== TIMESTAMP || !(isLong || first === 0xd6 || first === 0xd7)) {
      throw protocolError('A message has a part of unknown type')
    }
    this.#skip(isLong ? 14 : first === 0xd6 ? 5 : 9)
  }

  #length(lengthBytes: number): number {
    const start = this.offset
    this.#skip(lengthBytes)
    let length = 0
    for (let i = start; i < this.offset; i++) length = 256 * length + (this.#bytes[i] as number)
    return length
  }

  #skip(count: number): void {
    this.offset += count
    if (this.offset > this.#end) throw malformed()
  }
}

function malformed(): Error {
  return protocolError('A message is not valid MessagePack')
}
