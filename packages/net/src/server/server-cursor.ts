/**
 * A cursor of a client. If the user may read only parts of its range, it walks over one part after the other, all in the same
 * snapshot.
 */

import type { AbstractSnapshot } from 'abstract-level'
import type { CursorParts } from 'terrace-core'
import { concat } from '../protocol/bytes.js'
import { protocolError } from '../protocol/errors.js'
import { compare, contains, type Interval } from './key-range.js'
import type { BytesIterator, ServedDatabase } from './served-database.js'

/** A page as it travels: whether the end was reached, the bytes, the lengths of the parts, the last key. */
export type WirePage = Array<boolean | number | Uint8Array | null>

/** The first read asks for no more than this, before it is known how large entries are. */
const FIRST_ENTRIES = 100

/** Nor does any other read, because the entries that come may be larger than those before. */
const MAX_ENTRIES = 1000

/** A page holds about this much at most, whatever the client asks for. It is kept until the next one is asked for. */
const MAX_PAGE_BYTES = 1 << 20

/** What a cursor walks over. */
export interface ServerCursorOptions {
  readonly parts: CursorParts
  /** The range that the client has asked for. */
  readonly wanted: Interval
  /** What the user may read of it, in order. */
  readonly allowed: readonly Interval[]
  readonly reverse: boolean
  readonly snapshot: AbstractSnapshot | undefined
}

export class ServerCursor {
  readonly #served: ServedDatabase
  readonly #parts: CursorParts
  readonly #wanted: Interval
  readonly #reverse: boolean
  /** The intervals in the order in which they are read. */
  readonly #intervals: readonly Interval[]
  readonly #snapshot: AbstractSnapshot | undefined
  readonly #ownSnapshot: AbstractSnapshot | undefined
  /** Whether the user may read all of the range, so that one iterator is enough. */
  readonly #isWhole: boolean
  /** The interval that is being read. */
  #current = 0
  /** Reads it; undefined before its first read. */
  #iterator: BytesIterator | undefined
  #meanEntryBytes: number | undefined
  /** Reads and seeks happen one after the other. */
  #last: Promise<unknown> = Promise.resolve()
  /** The last page and its number, in case that it is asked for again after a connection was lost. */
  #page: { number: number; page: Promise<WirePage> } | undefined
  #isClosed = false

  constructor(served: ServedDatabase, { parts, wanted, allowed, reverse, snapshot }: ServerCursorOptions) {
    this.#served = served
    this.#parts = parts
    this.#wanted = wanted
    this.#reverse = reverse
    this.#intervals = reverse ? allowed.toReversed() : allowed

    const [first] = allowed
    this.#isWhole = first !== undefined && isSame(first, wanted)
    const needsOwn = !this.#isWhole && snapshot === undefined && served.db.supports.explicitSnapshots === true
    this.#ownSnapshot = needsOwn ? served.snapshot() : undefined
    this.#snapshot = snapshot ?? this.#ownSnapshot
    // Made now, because it shows the database as it is now.
    if (first !== undefined && this.#isWhole) this.#iterator = this.#iteratorOver(first)
  }

  /**
   * Reads page `number`, or the one that was read last, again.
   *
   * @throws NET_PROTOCOL if it is neither the next page nor the last one.
   */
  read(number: number, size: number, highWaterMarkBytes: number): Promise<WirePage> {
    const before = this.#page
    if (before?.number === number) return before.page
    if (number !== (before === undefined ? 0 : before.number + 1))
      throw protocolError('A cursor skips a page')

    const bytes = Math.min(highWaterMarkBytes, MAX_PAGE_BYTES)
    const page = this.#inTurn(() => this.#read(Math.max(size, 1), bytes))
    this.#page = { number, page }
    return page
  }

  /** Makes the next read begin with the first key that is not before the target. Outside the range nothing is left. */
  seek(target: Uint8Array): Promise<void> {
    return this.#inTurn(() => this.#seek(target))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#iterator?.close()
    await this.#ownSnapshot?.close()
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work, work)
    this.#last = mine
    return mine
  }

  async #read(size: number, highWaterMarkBytes: number): Promise<WirePage> {
    const page = new PageBuilder(this.#parts)
    while (page.entries < size && page.bytes <= highWaterMarkBytes && !this.#isClosed) {
      const interval = this.#intervals[this.#current]
      if (interval === undefined) return page.build(true)
      this.#iterator ??= this.#iteratorOver(interval)
      const wanted = Math.min(size - page.entries, this.#entriesIn(highWaterMarkBytes - page.bytes))
      const entries = await this.#iterator.nextv(wanted)
      if (entries.length === 0) await this.#goTo(this.#current + 1)
      else this.#meanEntryBytes = page.add(entries)
    }
    return page.build(false)
  }

  async #seek(target: Uint8Array): Promise<void> {
    // Closed while this waited for its turn: nothing would close another iterator.
    if (this.#isClosed) return
    if (!contains(this.#wanted, target)) return this.#goTo(this.#intervals.length)

    const isLeft = ({ start, end }: Interval): boolean =>
      this.#reverse ? compare(start, target) <= 0 : end === null || compare(end, target) > 0
    const index = this.#intervals.findIndex(isLeft)
    const interval = this.#intervals[index]
    if (interval === undefined) return this.#goTo(this.#intervals.length)

    const isInside = contains(interval, target)
    if (index !== this.#current || !isInside) await this.#goTo(index)
    if (!isInside) return
    this.#iterator ??= this.#iteratorOver(interval)
    this.#iterator.seek(target as never, { keyEncoding: 'buffer' })
  }

  /** Begins with another interval. */
  async #goTo(index: number): Promise<void> {
    // The iterator of a whole range stays, because a seek may go back to the state that it shows.
    if (!this.#isWhole) {
      await this.#iterator?.close()
      this.#iterator = undefined
    }
    this.#current = index
  }

  #iteratorOver(interval: Interval): BytesIterator {
    // Values alone would not tell where a cursor has to go on in another session.
    const parts = this.#parts === 'values' ? 'entries' : this.#parts
    return this.#served.iterator(parts, interval, this.#reverse, this.#snapshot)
  }

  /** How many entries will about fill these bytes. */
  #entriesIn(bytes: number): number {
    if (this.#meanEntryBytes === undefined) return FIRST_ENTRIES
    return Math.min(MAX_ENTRIES, Math.max(1, Math.ceil(bytes / this.#meanEntryBytes)))
  }
}

type Entries = ReadonlyArray<Uint8Array | [Uint8Array, Uint8Array]>

class PageBuilder {
  readonly #hasKeys: boolean
  readonly #lengths: number[] = []
  readonly #pieces: Uint8Array[] = []
  #lastKey: Uint8Array | null = null
  entries = 0
  bytes = 0

  constructor(parts: CursorParts) {
    this.#hasKeys = parts !== 'values'
  }

  /** Adds keys or entries, and returns the mean of their bytes. */
  add(entries: unknown[]): number {
    const before = this.bytes
    for (const entry of entries as Entries) {
      const [key, value] = entry instanceof Uint8Array ? [entry, undefined] : entry
      this.#lastKey = key
      if (this.#hasKeys) this.#push(key)
      if (value !== undefined) this.#push(value)
    }
    this.entries += entries.length
    return Math.max(1, (this.bytes - before) / entries.length)
  }

  build(isAtEnd: boolean): WirePage {
    const bytes = this.#pieces.length === 0 ? null : concat(this.#pieces)
    return [isAtEnd, bytes, ...this.#lengths, this.#lastKey]
  }

  #push(piece: Uint8Array): void {
    this.#pieces.push(piece)
    this.#lengths.push(piece.length)
    this.bytes += piece.length
  }
}

function isSame(a: Interval, b: Interval): boolean {
  const isSameEnd = a.end === null || b.end === null ? a.end === b.end : compare(a.end, b.end) === 0
  return compare(a.start, b.start) === 0 && isSameEnd
}
