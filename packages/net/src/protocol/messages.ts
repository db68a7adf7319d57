/** The kinds of messages, and how their parts are checked. docs/net-protocol.md says what each part means. */

import type { Bytes, CursorParts, Range } from 'terrace-core'
import { copyOf, toBytes } from './bytes.js'
import { protocolError } from './errors.js'
import type { Message } from './frame.js'

/** What a client sends. Except for the last ones, each has a number, by which the server answers. */
export const Ask = {
  get: 1,
  getMany: 2,
  has: 3,
  hasMany: 4,
  write: 5,
  clear: 6,
  snapshot: 7,
  closeSnapshot: 8,
  cursor: 9,
  read: 10,
  seek: 11,
  closeCursor: 12,
  call: 13,
  subscribe: 14,
  unsubscribe: 15,
  hello: 32,
  received: 33,
  credit: 34,
  bye: 35
} as const

/** What a server sends. */
export const Tell = {
  result: 64,
  failure: 65,
  event: 66,
  ended: 67,
  welcome: 96,
  refused: 97,
  closing: 98
} as const

/** What an event of a subscription tells. */
export const EventCode = { write: 1, clear: 2, change: 3 } as const

/** What both send, to learn whether the other is there. */
export const Both = { ping: 126, pong: 127 } as const

/** The bounds of a range as they travel: nil where there is none. */
export type WireRange = readonly [
  gte: Uint8Array | null,
  gt: Uint8Array | null,
  lte: Uint8Array | null,
  lt: Uint8Array | null
]

/** Takes the parts of a message one by one, and checks their types. */
export class PartReader {
  readonly #message: Message
  #index = 1

  constructor(message: Message) {
    this.#message = message
  }

  /** A number that tells requests, cursors and the like apart, or counts something. */
  number(name: string): number {
    const part = this.#next()
    if (Number.isSafeInteger(part) && (part as number) >= 0) return part as number
    throw wrong(name, 'a number')
  }

  optionalNumber(name: string): number | undefined {
    return this.#isNil() ? undefined : this.number(name)
  }

  boolean(name: string): boolean {
    const part = this.#next()
    if (typeof part === 'boolean') return part
    throw wrong(name, 'true or false')
  }

  string(name: string): string {
    const part = this.#next()
    if (typeof part === 'string') return part
    throw wrong(name, 'a string')
  }

  optionalString(name: string): string | undefined {
    return this.#isNil() ? undefined : this.string(name)
  }

  bytes(name: string): Uint8Array {
    const part = this.#next()
    if (part instanceof Uint8Array) return part
    throw wrong(name, 'bytes')
  }

  optionalBytes(name: string): Uint8Array | undefined {
    return this.#isNil() ? undefined : this.bytes(name)
  }

  numbers(name: string): number[] {
    const part = this.#next()
    if (Array.isArray(part) && part.every(Number.isSafeInteger)) return part
    throw wrong(name, 'a list of numbers')
  }

  /** A list of keys. */
  keys(name: string): Uint8Array[] {
    const part = this.#next()
    if (Array.isArray(part) && part.every((key) => key instanceof Uint8Array)) return part
    throw wrong(name, 'a list of keys')
  }

  /** Keys and values in turns; a value of nil deletes. */
  operations(name: string): Array<Uint8Array | null> {
    const part = this.#next()
    if (!Array.isArray(part) || part.length % 2 === 1) throw wrong(name, 'keys and values in turns')
    for (let i = 0; i < part.length; i += 2) {
      const value = part[i + 1]
      if (!(part[i] instanceof Uint8Array)) throw wrong(name, 'keys and values in turns')
      if (value !== null && !(value instanceof Uint8Array)) throw wrong(name, 'keys and values in turns')
    }
    return part
  }

  /** Intervals as their starts and ends in turns; an end of nil is after every key. */
  intervals(name: string): Array<readonly [start: Uint8Array, end: Uint8Array | null]> {
    // Operations look the same: each key may be followed by nil.
    const bounds = this.operations(name)
    const starts = bounds.filter((_, i) => i % 2 === 0) as Uint8Array[]
    return starts.map((start, i) => [start, bounds[2 * i + 1] as Uint8Array | null])
  }

  range(name: string): WireRange {
    const part = this.#next()
    const isBound = (bound: unknown): boolean => bound === null || bound instanceof Uint8Array
    if (!Array.isArray(part) || part.length !== 4 || !part.every(isBound)) throw wrong(name, 'four bounds')
    // A cursor keeps them.
    return part.map((bound) => (bound === null ? null : copyOf(bound))) as unknown as WireRange
  }

  list(name: string): unknown[] {
    const part = this.#next()
    if (Array.isArray(part)) return part
    throw wrong(name, 'a list')
  }

  map(name: string): Record<string, unknown> {
    const part = this.#next()
    if (typeof part === 'object' && part !== null && !Array.isArray(part) && !(part instanceof Uint8Array)) {
      return part as Record<string, unknown>
    }
    throw wrong(name, 'a map')
  }

  /** Whatever it is. */
  any(): unknown {
    return this.#next()
  }

  #next(): unknown {
    return this.#message[this.#index++]
  }

  #isNil(): boolean {
    const part = this.#message[this.#index]
    if (part !== null && part !== undefined) return false
    this.#index++
    return true
  }
}

function wrong(name: string, expected: string): Error {
  return protocolError(`The part '${name}' of a message must be ${expected}`)
}

/** A range as it travels. */
export function wireRange({ gte, gt, lte, lt }: Range): WireRange {
  const bound = (key: Bytes | undefined): Uint8Array | null => (key === undefined ? null : toBytes(key))
  return [bound(gte), bound(gt), bound(lte), bound(lt)]
}

/** What a cursor yields, as it travels. */
export const partsCodes: Readonly<Record<CursorParts, number>> = { keys: 1, values: 2, entries: 3 }
