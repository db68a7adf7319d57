/**
 * A cursor of a client. If the user may read only parts of its range, it walks through one part after another, all in the same
 * snapshot.
 */

import type { AbstractSnapshot } from 'abstract-level'
import type { CursorParts } from 'terrace-core'
import { concat, copyOf } from '../protocol/bytes.js'
import { netError, protocolError } from '../protocol/errors.js'
import type { WirePage } from '../protocol/parts.js'
import type { Budget } from './budget.js'
import { compare, contains, type Interval } from './key-range.js'
import type { BytesIterator, ServedDatabase } from './served-database.js'

/**
 * Each read requests at most this many times as many entries as the one before, because later entries may be larger. The first
 * requests one.
 */
const GROWTH = 4
const MAX_ENTRIES = 1000

/** A page holds about this much at most, whatever size the client requests. */
const MAX_PAGE_BYTES = 1 << 20

/** Entries that were read but did not fit into a page are kept for the next one, up to this size. */
const MAX_REST_BYTES = 64 * 1024

/** The memory that a kept entry takes besides its bytes. */
const ENTRY_BYTES = 256

/** What a cursor walks over. */
export interface ServerCursorOptions {
  readonly parts: CursorParts
  /** The range that the client requested. */
  readonly wanted: Interval
  /** The parts of it that the user may read, in order. */
  readonly allowed: readonly Interval[]
  readonly reverse: boolean
  readonly snapshot: AbstractSnapshot | undefined
  /** Limits what the session may keep. */
  readonly budget: Budget
  /** How much memory the cursor itself takes. */
  readonly ownBytes: number
}

export class ServerCursor {
  readonly #served: ServedDatabase
  readonly #parts: CursorParts
  readonly #wanted: Interval
  readonly #reverse: boolean
  /** The intervals in reading order. */
  readonly #intervals: readonly Interval[]
  readonly #snapshot: AbstractSnapshot | undefined
  readonly #ownSnapshot: AbstractSnapshot | undefined
  /** Whether the user may read all of the range, so that one iterator is enough. */
  readonly #isWhole: boolean
  /** The interval that is being read. */
  #current = 0
  /** Reads the current interval; undefined before the first read of it. */
  #iterator: BytesIterator | undefined
  #meanEntryBytes: number | undefined
  /** How many entries the last read requested. */
  #lastWanted = 0
  /** Entries that were read but did not fit into the last page. */
  #rest: Entry[] = []
  /** Reads and seeks happen one after the other. */
  #last: Promise<unknown> = Promise.resolve()
  /** The last page, which the client may request again after a connection was lost. It is then read again instead of being kept. */
  #page: LastPage | undefined
  #isClosed = false
  readonly #budget: Budget
  readonly #ownBytes: number
  /** How many bytes the budget counts as kept. */
  #keptBytes = 0
  #restBytes = 0
  #pageBytes = 0

  constructor(served: ServedDatabase, options: ServerCursorOptions) {
    const { parts, wanted, allowed, reverse, snapshot, budget, ownBytes } = options
    this.#served = served
    this.#budget = budget
    this.#ownBytes = ownBytes
    this.#parts = parts
    this.#wanted = wanted
    this.#reverse = reverse
    this.#intervals = reverse ? allowed.toReversed() : allowed

    const [first] = allowed
    this.#isWhole = first !== undefined && isSame(first, wanted)
    const needsOwn = !this.#isWhole && snapshot === undefined && served.db.supports.explicitSnapshots === true
    this.#ownSnapshot = needsOwn ? served.snapshot() : undefined
    this.#snapshot = snapshot ?? this.#ownSnapshot
    // Created now, because it must show the current state of the database.
    if (first !== undefined && this.#isWhole) this.#iterator = this.#iteratorOver(first)
    this.#note()
  }

  /**
   * Reads page `number`. The last page can be read again.
   *
   * @throws NET_PROTOCOL if it is neither the next page nor the last one.
   * @throws NET_LIMIT if the database cannot go back, and there is no room to keep the page.
   */
  read(number: number, size: number, highWaterMarkBytes: number): Promise<WirePage> {
    const before = this.#page
    const isAgain = before?.number === number
    if (!isAgain && number !== (before === undefined ? 0 : before.number + 1))
      throw protocolError('A cursor skips a page')
    if (isAgain && before.pending !== undefined) return before.pending

    const bytes = pageBytes(highWaterMarkBytes)
    if (!this.#canGoBack && !this.#budget.hasRoomToKeep(bytes)) {
      throw netError('NET_LIMIT', 'The server has no room for another page: close iterators')
    }
    const page: LastPage = isAgain ? before : { number, start: undefined, pending: undefined }
    this.#page = page
    const pending = this.#inTurn(() => this.#read(page, isAgain, Math.max(size, 1), bytes))
    page.pending = pending
    // Idle iterators keep no pages, except those that cannot go back.
    const forget = (): void => {
      page.pending = undefined
    }
    const keep = ([, piece]: WirePage): void => {
      this.#pageBytes = piece?.length ?? 0
      this.#note()
    }
    pending.then(this.#canGoBack ? forget : keep, forget)
    return pending
  }

  get #canGoBack(): boolean {
    return this.#served.db.supports.seek === true
  }

  /** Updates the budget to what is kept now. */
  #note(): void {
    const start = this.#page?.start?.key.length ?? 0
    const bytes = this.#isClosed ? 0 : this.#ownBytes + start + this.#restBytes + this.#pageBytes
    this.#budget.keep(bytes - this.#keptBytes)
    this.#keptBytes = bytes
  }

  #setRest(entries: Entry[]): void {
    this.#rest = entries
    this.#restBytes = entries.reduce((sum, entry) => sum + sizeOf(entry), 0)
    this.#note()
  }

  /**
   * Makes the next read begin with the first key that is not before the target. After a target outside the range, no entries are
   * left.
   */
  seek(target: Uint8Array): Promise<void> {
    return this.#inTurn(() => this.#seek(target))
  }

  close(): Promise<void> {
    this.#isClosed = true
    this.#note()
    // Waits for a running read, which may move to another interval.
    return this.#inTurn(async () => {
      await this.#iterator?.close()
      await this.#ownSnapshot?.close()
    })
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work, work)
    // Drops the result, which may be large.
    const done = (): void => {}
    this.#last = mine.then(done, done)
    return mine
  }

  async #read(last: LastPage, isAgain: boolean, size: number, highWaterMarkBytes: number): Promise<WirePage> {
    const page = new PageBuilder(this.#parts)
    if (isAgain) {
      // The page had no entries the first time.
      if (last.start === undefined) return page.build(!this.#isClosed)
      await this.#goBack(last.start)
    }
    while (page.entries < size && page.bytes <= highWaterMarkBytes && !this.#isClosed) {
      const entries = await this.#next(size - page.entries, highWaterMarkBytes - page.bytes)
      if (entries === undefined) return page.build(true)
      let taken = 0
      for (; taken < entries.length && page.bytes <= highWaterMarkBytes; taken++) {
        const entry = entries[taken] as Entry
        // A copy: the key may be part of a large buffer that includes the values.
        if (page.entries === 0) last.start = { interval: this.#current, key: copyOf(keyOf(entry)) }
        page.add(entry)
      }
      this.#meanEntryBytes = Math.max(1, page.bytes / page.entries)
      await this.#keep(entries.slice(taken))
    }
    return page.build(false)
  }

  /** The next entries; undefined at the end. */
  async #next(size: number, bytes: number): Promise<Entry[] | undefined> {
    if (this.#rest.length > 0) {
      const taken = this.#rest.slice(0, size)
      this.#setRest(this.#rest.slice(size))
      return taken
    }
    for (;;) {
      const interval = this.#intervals[this.#current]
      if (interval === undefined) return undefined
      this.#iterator ??= this.#iteratorOver(interval)
      this.#lastWanted = Math.min(size, this.#entriesIn(bytes))
      const entries = (await this.#iterator.nextv(this.#lastWanted)) as Entry[]
      if (entries.length > 0) return entries
      await this.#goTo(this.#current + 1)
    }
  }

  /** Keeps entries that did not fit, or goes back to read them again if they are large: an idle iterator must hold little. */
  async #keep(entries: Entry[]): Promise<void> {
    const [first] = entries
    if (first === undefined) return
    const bytes = entries.reduce((sum, entry) => sum + sizeOf(entry), 0)
    const isLittle = bytes <= MAX_REST_BYTES && this.#budget.hasRoomToKeep(bytes)
    if (isLittle || !this.#canGoBack) this.#setRest([...entries.map(copied), ...this.#rest])
    else await this.#goBack({ interval: this.#current, key: keyOf(first) })
  }

  /** Makes an entry the next one again. */
  async #goBack({ interval, key }: Start): Promise<void> {
    this.#setRest([])
    if (interval !== this.#current) await this.#goTo(interval)
    this.#iterator ??= this.#iteratorOver(this.#intervals[interval] as Interval)
    this.#iterator.seek(key as never, { keyEncoding: 'buffer' })
  }

  async #seek(target: Uint8Array): Promise<void> {
    // Closed while this waited for its turn: a new iterator would never be closed.
    if (this.#isClosed) return
    this.#setRest([])
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

  /** Moves to another interval. */
  async #goTo(index: number): Promise<void> {
    // The iterator of a whole range is kept, because a later seek may return to the state that it shows.
    if (!this.#isWhole) {
      await this.#iterator?.close()
      this.#iterator = undefined
    }
    this.#current = index
  }

  #iteratorOver(interval: Interval): BytesIterator {
    // From values alone, a cursor could not tell where to resume in another session.
    const parts = this.#parts === 'values' ? 'entries' : this.#parts
    return this.#served.iterator(parts, interval, this.#reverse, this.#snapshot)
  }

  /** Estimates how many entries fill this many bytes. */
  #entriesIn(bytes: number): number {
    if (this.#meanEntryBytes === undefined) return 1
    const fitting = Math.max(1, Math.ceil(bytes / this.#meanEntryBytes))
    return Math.min(MAX_ENTRIES, GROWTH * this.#lastWanted, fitting)
  }
}

/** A key, or a key and its value. */
type Entry = Uint8Array | [key: Uint8Array, value: Uint8Array]

/** Where a page begins. */
interface Start {
  /** The number of the interval. */
  readonly interval: number
  readonly key: Uint8Array
}

interface LastPage {
  readonly number: number
  /** Undefined if the page has no entries. */
  start: Start | undefined
  /** The page, while it is being read. */
  pending: Promise<WirePage> | undefined
}

/** The most bytes in a page, apart from its last entry, which may exceed them. */
export function pageBytes(highWaterMarkBytes: number): number {
  return Math.min(highWaterMarkBytes, MAX_PAGE_BYTES)
}

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

  /** Adds a key or an entry. */
  add(entry: Entry): void {
    const key = keyOf(entry)
    this.#lastKey = key
    if (this.#hasKeys) this.#push(key)
    if (!(entry instanceof Uint8Array)) this.#push(entry[1])
    this.entries++
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

function keyOf(entry: Entry): Uint8Array {
  return entry instanceof Uint8Array ? entry : entry[0]
}

function copied(entry: Entry): Entry {
  return entry instanceof Uint8Array ? copyOf(entry) : [copyOf(entry[0]), copyOf(entry[1])]
}

function sizeOf(entry: Entry): number {
  return ENTRY_BYTES + (entry instanceof Uint8Array ? entry.length : entry[0].length + entry[1].length)
}

function isSame(a: Interval, b: Interval): boolean {
  const isSameEnd = a.end === null || b.end === null ? a.end === b.end : compare(a.end, b.end) === 0
  return compare(a.start, b.start) === 0 && isSameEnd
}
