import type { TransactionIterator } from './types.js'

type Entry = [unknown, unknown]

/** What `iterator()`, `keys()` and `values()` of a transaction return. */
export class RangeIterator<T> implements TransactionIterator<T> {
  readonly #assertOpen: () => void
  readonly #pick: (entry: Entry) => T
  readonly #onEnd: () => void
  readonly #entries: AsyncGenerator<Entry, void, undefined>

  /**
   * @param assertOpen - Throws if the transaction has ended.
   * @param entries - Makes the entries.
   * @param pick - What of an entry is shown.
   * @param onEnd - Called when nothing is left to close.
   */
  constructor(
    assertOpen: () => void,
    entries: () => AsyncGenerator<Entry, void, undefined>,
    pick: (entry: Entry) => T,
    onEnd: () => void
  ) {
    this.#assertOpen = assertOpen
    this.#pick = pick
    this.#onEnd = onEnd
    this.#entries = entries()
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    this.#assertOpen()
    const { done, value } = await this.#entries.next()
    if (!done) return { done: false, value: this.#pick(value) }
    this.#onEnd()
    return { done: true, value: undefined }
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    await this.close()
    return { done: true, value: undefined }
  }

  async all(): Promise<T[]> {
    const items: T[] = []
    for await (const item of this) items.push(item)
    return items
  }

  /** Lets go of the iterator of the database. */
  async close(): Promise<void> {
    this.#onEnd()
    await this.#entries.return()
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
