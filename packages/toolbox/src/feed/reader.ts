/** Reads changes in order: first the stored ones, then new ones. */

import { byteString } from '../encoded.js'
import type { EncodedRange } from '../key-space.js'
import { type Change, type ChangeEncodings, decodedChange } from './change.js'
import type { ChangeLog } from './change-log.js'
import { assertNotAborted, type FeedError, feedError } from './errors.js'
import { isWithin } from './range.js'
import type { StoredChange } from './record.js'
import { endable, type Signal } from './signal.js'

/** The source of a reader's changes. */
export interface Source {
  readonly log: ChangeLog
  /** Raised after writes, and when the source closes. */
  readonly news: Signal
  /** Increases each time the source closes. */
  readonly closings: number
  /** Makes writes raise `news`, until the returned function is called. */
  follow(): () => void
}

/** The options of a reader. */
export interface Reading {
  after: number | undefined
  live: boolean
  limit: number
  range: EncodedRange
  /** Whether only the last stored change of each key is wanted. */
  latest: boolean
  encodings: ChangeEncodings
  signal: AbortSignal | undefined
}

/** The most changes of a page. Its bytes are limited as well, and exceed that limit only slightly. */
const PAGE_CHANGES = 256
const PAGE_BYTES = 256 * 1024

interface Page {
  changes: StoredChange[]
  /** The last change that was examined for this page. */
  through: number
  /** Whether no later change was stored at that moment. */
  isLast: boolean
}

/** Reads changes. The iterator can be ended even while it waits. */
export function readChanges<K, V>(
  source: Source,
  reading: Reading
): AsyncGenerator<Change<K, V>, void, void> {
  return endable((stop) => new ChangeReader<K, V>(source, reading, stop).read())
}

class ChangeReader<K, V> {
  readonly #source: Source
  readonly #reading: Reading
  readonly #stop: AbortController
  readonly #closings: number
  /** The number of the last change that was examined. */
  #position = 0
  #delivered = 0
  /** Held back until it is known whether it is the last one of its batch. */
  #held: StoredChange | undefined
  #lastBatch = 0
  #isSettled = false

  constructor(source: Source, reading: Reading, stop: AbortController) {
    this.#source = source
    this.#reading = reading
    this.#stop = stop
    this.#closings = source.closings
  }

  async *read(): AsyncGenerator<Change<K, V>, void, void> {
    const { live, limit, signal } = this.#reading
    const unfollow = live ? this.#source.follow() : () => {}
    const abort = () => this.#stop.abort()
    signal?.addEventListener('abort', abort)

    try {
      await this.#begin()

      while (this.#delivered < limit) {
        this.#assertGoesOn()
        const seen = this.#source.news.count
        const page = await this.#page()
        for (const change of this.#deliverable(page)) {
          this.#delivered++
          yield change
          if (this.#delivered >= limit) return
          assertNotAborted(signal)
        }

        if (!page.isLast) continue
        if (!live) return
        await this.#waitForNews(seen)
        assertNotAborted(signal)
        if (this.#stop.signal.aborted) return
      }
    } catch (error) {
      if (!this.#isClosed || isAborted(error)) throw error
      if (!live) throw closedError(error)
    } finally {
      signal?.removeEventListener('abort', abort)
      unfollow()
    }
  }

  get #isClosed(): boolean {
    return this.#source.closings !== this.#closings
  }

  async #begin(): Promise<void> {
    const { log } = this.#source
    await log.load()
    const { after } = this.#reading
    this.#position = after ?? log.trimmed
    if (after === undefined || after <= log.trimmed) return

    const last = await log.lastSequence()
    if (after > last) throw feedError('FEED_AHEAD', `This feed has reached only ${last}, not ${after}`)
  }

  /** Waits for changes after those that were seen when `news` had been raised `seen` times. */
  async #waitForNews(seen: number): Promise<void> {
    const { log, news } = this.#source
    const { signal } = this.#stop
    const hasNew = () => this.#isClosed || signal.aborted || log.head.last > this.#position

    if (!this.#isSettled && hasNew()) {
      // Writes that began before the reader followed do not raise news.
      this.#isSettled = true
      return log.order.settle()
    }

    // Most news may concern other keys of the database.
    for (let count = seen; ; count = news.count) {
      await news.after(count, signal)
      if (hasNew()) return
    }
  }

  #assertGoesOn(): void {
    assertNotAborted(this.#reading.signal)
    if (this.#isClosed) throw closedError()
  }

  async #page(): Promise<Page> {
    const page: Page = { changes: [], through: this.#position, isLast: false }
    const latest = new Map<string, StoredChange>()
    let bytes = 0
    const isFull = () => Math.max(page.changes.length, latest.size) >= PAGE_CHANGES || bytes >= PAGE_BYTES

    for await (const change of this.#source.log.changes(this.#position)) {
      page.through = change.sequence
      if (!this.#reading.latest) page.changes.push(change)
      else bytes -= this.#replace(latest, change)
      bytes += sizeOf(change)
      if (isFull()) return { ...page, changes: page.changes.concat(...latest.values()) }
    }
    return { ...page, changes: page.changes.concat(...latest.values()), isLast: true }
  }

  /** Replaces earlier changes of the same key. Returns how many bytes that saves. */
  #replace(latest: Map<string, StoredChange>, change: StoredChange): number {
    if (!isWithin(this.#reading.range, change.key)) return sizeOf(change)
    const name = byteString(change.key)
    const before = latest.get(name)
    // Deleted first, so that the later change also moves to the end.
    latest.delete(name)
    latest.set(name, change)
    return before === undefined ? 0 : sizeOf(before)
  }

  /**
   * Yields the changes of a page that the reader wants. A batch may continue beyond a page, but not beyond the last one.
   */
  *#deliverable(page: Page): Generator<Change<K, V>> {
    this.#position = page.through

    for (const change of page.changes) {
      const isWanted = isWithin(this.#reading.range, change.key)
      const held = this.#held

      if (held !== undefined && (isWanted || held.batch !== change.batch)) {
        this.#held = undefined
        yield this.#delivery(held, held.batch !== change.batch)
      }
      if (isWanted) this.#held = change
    }

    if (!page.isLast || this.#held === undefined) return
    const held = this.#held
    this.#held = undefined
    yield this.#delivery(held, true)
  }

  #delivery(change: StoredChange, last: boolean): Change<K, V> {
    const { after = 0, encodings } = this.#reading
    const first = change.batch !== this.#lastBatch && change.batch > after
    this.#lastBatch = change.batch
    return decodedChange(change, encodings, { first, last })
  }
}

function closedError(cause?: unknown): Error {
  return feedError(
    'FEED_CLOSED',
    'The feed was closed before everything was read',
    cause === undefined ? {} : { cause }
  )
}

function isAborted(error: unknown): boolean {
  return (error as FeedError).code === 'FEED_ABORTED'
}

function sizeOf({ key, value, oldValue }: StoredChange): number {
  return key.length + (value?.length ?? 0) + (oldValue?.length ?? 0)
}
