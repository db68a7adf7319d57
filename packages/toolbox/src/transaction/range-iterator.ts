import type { Entry, RangeScan } from './range-scan.js'
import type { TransactionIterator } from './types.js'

/** What an iterator needs from its transaction. */
export interface Scanning {
  /** @throws if the transaction has ended. */
  assertOpen(): void
  /** Begins to read; undefined if the range is empty. */
  begin(): Promise<RangeScan | undefined>
  /** Called when the caller is about to learn the first entry, or that there is none. */
  onReached(scan: RangeScan): void
  /** Called when nothing is left to close. */
  onEnd(): void
}

/** What `iterator()`, `keys()` and `values()` of a transaction return. */
export class RangeIterator<T> implements TransactionIterator<T> {
  readonly #scanning: Scanning
  readonly #pick: (entry: Entry) => T
  #scan: RangeScan | undefined
  #isReached = false
  #isDone = false
  /** Set while a window is being read. */
  #reading: Promise<unknown> | undefined

  /** @param pick - Picks the part of an entry that is shown. */
  constructor(scanning: Scanning, pick: (entry: Entry) => T) {
    this.#scanning = scanning
    this.#pick = pick
  }

  next(): Promise<IteratorResult<T, undefined>> {
    try {
      this.#scanning.assertOpen()
      const entry = this.#take()
      if (entry !== undefined) return Promise.resolve({ done: false, value: this.#pick(entry) })
    } catch (error) {
      return Promise.reject(error)
    }

    return this.#nextWindow()
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    await this.close()
    return { done: true, value: undefined }
  }

  async all(): Promise<T[]> {
    const items: T[] = []

    while (true) {
      const { done, value } = await this.next()
      if (done) return items
      items.push(value)
      for (let entry = this.#take(); entry !== undefined; entry = this.#take()) items.push(this.#pick(entry))
    }
  }

  /** Closes the iterator of the database. */
  async close(): Promise<void> {
    this.#isDone = true
    this.#scanning.onEnd()
    await this.#reading?.catch(() => {})
    await this.#scan?.close()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** Takes the next entry, unless that has to wait. */
  #take(): Entry | undefined {
    if (this.#isDone || this.#reading !== undefined) return undefined
    const entry = this.#scan?.take()
    if (entry !== undefined) this.#note()
    return entry
  }

  /** Takes the next entry once a window is read. Calls made meanwhile take their turns after this one, in order. */
  async #nextWindow(): Promise<IteratorResult<T, undefined>> {
    if (this.#reading !== undefined) {
      await this.#reading.catch(() => {})
      return this.next()
    }
    if (this.#isDone) return { done: true, value: undefined }

    this.#reading = this.#read().finally(() => {
      this.#reading = undefined
    })
    const hasMore = await this.#reading
    if (hasMore) return this.next()

    await this.close()
    return { done: true, value: undefined }
  }

  async #read(): Promise<boolean> {
    this.#scan ??= await this.#scanning.begin()
    if (this.#scan === undefined) return false
    const hasMore = await this.#scan.read()
    if (this.#scan.reached.isWhole) this.#note()
    return hasMore
  }

  #note(): void {
    if (this.#isReached) return
    this.#isReached = true
    this.#scanning.onReached(this.#scan as RangeScan)
  }
}
