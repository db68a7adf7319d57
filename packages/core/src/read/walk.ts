/**
 * Loops over an iterator: `for await` and `for`. They hand out items that were read ahead without the bookkeeping that
 * abstract-level does in each call of `next()`. That method does the rest: whether the iterator is busy, aborted, closed or at
 * its end.
 */

/** Says that there is no item. An item itself may be null or undefined, depending on its encoding. */
export const nothing = Symbol('nothing')

/** What a walk needs of an iterator. */
export interface Walkable<Item> {
  /** How many items have been taken. */
  readonly count: number
  /** The next item, decoded, if it was read ahead. */
  takeDecoded(): Item | typeof nothing
  /** The next item, or undefined at the end. */
  next(): Promise<Item | undefined>
  /** The next item, or {@link nothing} at the end; blocks this thread. */
  nextSync(): Item | typeof nothing
  close(): Promise<void>
}

const done: IteratorReturnResult<undefined> = { done: true, value: undefined }

/** What `for await` loops over. It closes the iterator when the loop ends, for whatever reason. */
export class AsyncWalk<Item> implements AsyncGenerator<Item, void, unknown> {
  readonly #iterator: Walkable<Item>
  #ended = false
  /** The last call of `next()`. Calls that are not awaited run one after the other. */
  #last: Promise<unknown> | undefined

  constructor(iterator: Walkable<Item>) {
    this.#iterator = iterator
  }

  next(): Promise<IteratorResult<Item, void>> {
    if (this.#last === undefined && !this.#ended) {
      try {
        const value = this.#iterator.takeDecoded()
        if (value !== nothing) return Promise.resolve({ done: false, value })
      } catch (error) {
        return this.#afterYield(() => this.#fail(error))
      }
    }

    return this.#afterYield(() => this.#next())
  }

  return(): Promise<IteratorReturnResult<undefined>> {
    return this.#afterYield(() => this.#end())
  }

  throw(error: unknown): Promise<never> {
    return this.#afterYield(() => this.#fail(error))
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  async #next(): Promise<IteratorResult<Item, void>> {
    if (this.#ended) return done
    const { count } = this.#iterator
    let value: Item | undefined

    try {
      value = await this.#iterator.next()
    } catch (error) {
      return this.#fail(error)
    }

    const isAtEnd = value === undefined && this.#iterator.count === count
    return isAtEnd ? this.#end() : { done: false, value: value as Item }
  }

  async #end(): Promise<IteratorReturnResult<undefined>> {
    this.#ended = true
    await this.#iterator.close()
    return done
  }

  async #fail(error: unknown): Promise<never> {
    this.#ended = true
    await this.#iterator.close()
    throw error
  }

  async #afterYield<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#last
    const mine = before === undefined ? work() : before.then(work, work)
    this.#last = mine

    try {
      return await mine
    } finally {
      if (this.#last === mine) this.#last = undefined
    }
  }
}

/** What `for` loops over. It closes the iterator when the loop ends, for whatever reason. */
export class SyncWalk<Item> implements Generator<Item, void, unknown> {
  readonly #iterator: Walkable<Item>
  #ended = false

  constructor(iterator: Walkable<Item>) {
    this.#iterator = iterator
  }

  next(): IteratorResult<Item, void> {
    if (this.#ended) return done

    try {
      let value = this.#iterator.takeDecoded()
      if (value === nothing) value = this.#iterator.nextSync()
      return value === nothing ? this.return() : { done: false, value }
    } catch (error) {
      this.#close()
      throw error
    }
  }

  return(): IteratorReturnResult<undefined> {
    this.#close()
    return done
  }

  throw(error: unknown): never {
    this.#close()
    throw error
  }

  [Symbol.iterator](): this {
    return this
  }

  [Symbol.dispose](): void {
    this.#close()
  }

  #close(): void {
    if (this.#ended) return
    this.#ended = true
    // The actual work is done within the call; only abstract-level's notice of it comes later.
    this.#iterator.close().catch(() => {})
  }
}
