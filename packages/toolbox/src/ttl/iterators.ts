import {
  AbstractIterator,
  AbstractKeyIterator,
  type AbstractSnapshot,
  AbstractValueIterator
} from 'abstract-level'
import type { Encoded } from '../encoded.js'
import type { AnyLevel } from '../level-like.js'
import type { RecordRange } from './expiry-records.js'
import { type Entry, LiveEntries, type LiveSource } from './live-entries.js'

/** Options as abstract-level passes them to private methods. */
export interface PrivateIteratorOptions extends RecordRange {
  keys?: boolean
  values?: boolean
  snapshot?: AbstractSnapshot | undefined
}

type Options = PrivateIteratorOptions & object

/** Iterates over entries that have not expired. */
export class LiveIterator extends AbstractIterator<AnyLevel, unknown, unknown> {
  readonly #entries: LiveEntries

  // Made before the iterator is attached to the database: if this fails, nothing needs to be closed with it.
  constructor(db: AnyLevel, source: LiveSource, options: Options) {
    const entries = new LiveEntries(source, options, options.values !== false)
    super(db as never, options)
    this.#entries = entries
  }

  /** @internal */
  _next(): Promise<Entry | undefined> {
    return this.#entries.next()
  }

  /** @internal */
  _nextv(size: number): Promise<Entry[]> {
    return this.#entries.nextMany(size)
  }

  /** @internal */
  _all(): Promise<Entry[]> {
    return this.#entries.all(this.limit - this.count)
  }

  /** @internal */
  _seek(target: Encoded, options: { keyEncoding?: string }): void {
    this.#entries.seek(target, options)
  }

  /** @internal */
  _close(): Promise<void> {
    return this.#entries.close()
  }
}

/** Iterates over the keys of entries that have not expired. */
export class LiveKeyIterator extends AbstractKeyIterator<AnyLevel, unknown> {
  readonly #entries: LiveEntries

  constructor(db: AnyLevel, source: LiveSource, options: Options) {
    const entries = new LiveEntries(source, options, false)
    super(db as never, options)
    this.#entries = entries
  }

  /** @internal */
  async _next(): Promise<Encoded | undefined> {
    return (await this.#entries.next())?.[0]
  }

  /** @internal */
  async _nextv(size: number): Promise<Encoded[]> {
    return (await this.#entries.nextMany(size)).map(([key]) => key)
  }

  /** @internal */
  async _all(): Promise<Encoded[]> {
    return (await this.#entries.all(this.limit - this.count)).map(([key]) => key)
  }

  /** @internal */
  _seek(target: Encoded, options: { keyEncoding?: string }): void {
    this.#entries.seek(target, options)
  }

  /** @internal */
  _close(): Promise<void> {
    return this.#entries.close()
  }
}

/** Iterates over the values of entries that have not expired. */
export class LiveValueIterator extends AbstractValueIterator<AnyLevel, unknown, unknown> {
  readonly #entries: LiveEntries

  constructor(db: AnyLevel, source: LiveSource, options: Options) {
    const entries = new LiveEntries(source, options, true)
    super(db as never, options)
    this.#entries = entries
  }

  /** @internal */
  async _next(): Promise<unknown> {
    return (await this.#entries.next())?.[1]
  }

  /** @internal */
  async _nextv(size: number): Promise<unknown[]> {
    return (await this.#entries.nextMany(size)).map(([, value]) => value)
  }

  /** @internal */
  async _all(): Promise<unknown[]> {
    return (await this.#entries.all(this.limit - this.count)).map(([, value]) => value)
  }

  /** @internal */
  _seek(target: Encoded, options: { keyEncoding?: string }): void {
    this.#entries.seek(target, options)
  }

  /** @internal */
  _close(): Promise<void> {
    return this.#entries.close()
  }
}
