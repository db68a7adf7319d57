/** An iterator with leveldown's API, over a cursor of the database. */

import type { DirectData } from 'terrace-core'
import { answering, isTurnDue, nextTick } from './next-tick.js'
import type { AnyCursor } from './waiting-cursor.js'

type Callback = (error?: Error | null) => void
type EntryCallback = (error?: Error | null, key?: DirectData, value?: DirectData) => void

/** The database of an iterator, as far as the iterator needs it. */
export interface IteratorHost {
  _serializeKey(key: unknown): DirectData
  /** Forgets an iterator that has ended. */
  _detach(iterator: Iterator): void
  /** Calls back that an iterator has ended. */
  _iteratorEnded(callback: Callback): void
  _translated(error: unknown): Error
}

export class Iterator {
  readonly db: IteratorHost
  _ended = false
  _nexting = false
  /** What the database closes when it is closed. Programs take an iterator with a method `close` for one of abstract-level. */
  readonly _resource = { close: () => this.#closeWithDatabase() }
  readonly #cursor: AnyCursor
  readonly #absentKey: DirectData | undefined
  readonly #absentValue: DirectData | undefined
  /** Whether the cursor was closed: by `end()`, or with the database. */
  #isClosed = false
  /** The callback of the running `next()`. */
  #callback: EntryCallback | undefined
  /** What to do once the running `next()` is done. */
  #afterNext: (() => void) | undefined

  /** @param absentKey - What is passed for keys if they are not wanted. */
  constructor(
    db: IteratorHost,
    cursor: AnyCursor,
    absentKey: DirectData | undefined,
    absentValue: DirectData | undefined
  ) {
    this.db = db
    this.#cursor = cursor
    this.#absentKey = absentKey
    this.#absentValue = absentValue
  }

  next(callback?: EntryCallback): this | Promise<[DirectData, DirectData] | undefined> {
    if (callback === undefined) {
      return new Promise((resolve, reject) => {
        this.#start((error, key, value) => {
          if (error) reject(error)
          else if (key === undefined && value === undefined) resolve(undefined)
          else resolve([key as DirectData, value as DirectData])
        })
      })
    }
    if (typeof callback !== 'function') throw new Error('next() requires a callback argument')
    this.#start(callback)
    return this
  }

  #start(callback: EntryCallback): void {
    if (this._ended) {
      nextTick(callback, new Error('cannot call next() after end()'))
    } else if (this._nexting) {
      nextTick(callback, new Error('cannot call next() before previous next() has completed'))
    } else {
      this._nexting = true
      this.#callback = callback
      this._next(this.#called)
    }
  }

  /** Ends the running `next()`. There is one function for all calls, so that none is made per call. */
  readonly #called: EntryCallback = (error, key, value) => {
    const callback = this.#callback as EntryCallback
    const then = this.#afterNext
    this._nexting = false
    if (then !== undefined) {
      this.#afterNext = undefined
      // Also if the callback throws.
      nextTick(then)
    }
    callback(error, key, value)
  }

  seek(target: unknown): void {
    if (this._ended) throw new Error('cannot call seek() after end()')
    if (this._nexting) throw new Error('cannot call seek() before next() has completed')
    this._seek(this.db._serializeKey(target))
  }

  end(callback?: Callback): Promise<void> | undefined {
    if (callback === undefined) {
      return new Promise((resolve, reject) => {
        this.#end((error) => (error ? reject(error) : resolve()))
      })
    }
    if (typeof callback !== 'function') throw new Error('end() requires a callback argument')
    this.#end(callback)
    return undefined
  }

  #end(callback: Callback): void {
    if (this._ended) {
      nextTick(callback, new Error('end() already called on iterator'))
      return
    }
    this._ended = true
    this._end(callback)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<[DirectData, DirectData], void, unknown> {
    try {
      for (;;) {
        const entry = this.#entryAhead() ?? (await this.next())
        if (entry === undefined) return
        yield entry as [DirectData, DirectData]
      }
    } finally {
      if (!this._ended) await this.end()
    }
  }

  // ---- methods that a class that extends this one may replace ----

  _next(callback: EntryCallback): void {
    if (this.#isClosed) {
      nextTick(callback, new Error('iterator has ended'))
      return
    }

    try {
      const found = this.#cursor.next()
      if (found === true) this.#pass(callback)
      else if (found === undefined) answering()(callback)
      else {
        found.then(
          (found) => (found === true ? this.#pass(callback) : answering()(callback)),
          (error) => nextTick(callback, this.db._translated(error))
        )
      }
    } catch (error) {
      nextTick(callback, this.db._translated(error))
    }
  }

  _seek(target: DirectData): void {
    if (target.length === 0) throw new Error('cannot seek() to an empty target')
    if (this.#isClosed) throw new Error('iterator has ended')
    this.#cursor.seek(target)
  }

  _end(callback: Callback): void {
    this.#whenIdle(() => {
      this.#close((error) => (error ? nextTick(callback, error) : this.db._iteratorEnded(callback)))
    })
  }

  _nextTick(callback: (...args: never[]) => void, ...args: unknown[]): void {
    nextTick(callback, ...args)
  }

  /** The next entry, if it was read ahead, and no program has replaced what would yield it. */
  #entryAhead(): [DirectData | undefined, DirectData | undefined] | undefined {
    if (this._ended || this._nexting || this.#isClosed) return undefined
    if (this.next !== next || this._next !== _next) return undefined
    const cursor = this.#cursor
    if (isTurnDue() || cursor.take() === undefined) return undefined
    return [cursor.key ?? this.#absentKey, cursor.value ?? this.#absentValue]
  }

  #closeWithDatabase(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#whenIdle(() => this.#close((error) => (error ? reject(error) : resolve())))
    })
  }

  #pass(callback: EntryCallback): void {
    const cursor = this.#cursor
    answering()(callback, null, cursor.key ?? this.#absentKey, cursor.value ?? this.#absentValue)
  }

  #whenIdle(work: () => void): void {
    if (!this._nexting) {
      work()
      return
    }
    const before = this.#afterNext
    this.#afterNext = () => {
      before?.()
      work()
    }
  }

  #close(callback: (error?: Error) => void): void {
    if (this.#isClosed) {
      callback()
      return
    }
    this.#isClosed = true
    this.db._detach(this)
    try {
      const closing = this.#cursor.close()
      if (closing === undefined) callback()
      else
        closing.then(
          () => callback(),
          (error) => callback(this.db._translated(error))
        )
    } catch (error) {
      callback(this.db._translated(error))
    }
  }
}

const { next, _next } = Iterator.prototype
