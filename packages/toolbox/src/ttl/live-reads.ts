import type { AbstractSnapshot } from 'abstract-level'
import type { Encoded } from '../encoded.js'
import { type LiveSource, snapshotOf } from './live-entries.js'

/** Options as abstract-level passes them to private methods of reads. */
export interface PrivateReadOptions {
  keyEncoding?: string
  snapshot?: AbstractSnapshot | undefined
}

/** Reads of single keys, which find nothing if the entry has expired. */
export class LiveReads {
  readonly #source: LiveSource

  constructor(source: LiveSource) {
    this.#source = source
  }

  get(key: Encoded, options: PrivateReadOptions): Promise<unknown> {
    return this.#one(key, options, undefined, () => this.#source.db.get(key as never, options))
  }

  getSync(key: Encoded, options: PrivateReadOptions): unknown {
    return this.#hasPassed(this.#source.records.getSync(key, options))
      ? undefined
      : this.#source.db.getSync(key as never, options)
  }

  /** Whether the expiry of a key has passed; within a hook, after all earlier writes. False before the database is open. */
  isExpiredSync(key: Encoded): boolean {
    return this.#hasPassed(this.#source.records.getSync(key, { keyEncoding: 'view' }))
  }

  /** Whether the expiry of a key has passed. */
  async isExpired(key: Encoded): Promise<boolean> {
    return this.#hasPassed(await this.#source.records.get(key, { keyEncoding: 'view' }))
  }

  getMany(keys: Encoded[], options: PrivateReadOptions): Promise<unknown[]> {
    return this.#many(keys, options, undefined, (keys, options) =>
      this.#source.db.getMany(keys as never, options)
    )
  }

  has(key: Encoded, options: PrivateReadOptions): Promise<boolean> {
    return this.#one(key, options, false, () => this.#source.db.has(key as never, options))
  }

  hasMany(keys: Encoded[], options: PrivateReadOptions): Promise<boolean[]> {
    return this.#many(keys, options, false, (keys, options) =>
      this.#source.db.hasMany(keys as never, options)
    )
  }

  /** Returns when an entry expires: `Infinity` if it does not, undefined if it has expired or does not exist. */
  async expiresAt(key: Encoded, options: PrivateReadOptions): Promise<number | undefined> {
    const expiry = await this.#source.records.get(key, options)
    if (this.#hasPassed(expiry) || !(await this.#source.db.has(key as never, options))) return undefined
    return expiry ?? Infinity
  }

  async #one<T>(key: Encoded, options: PrivateReadOptions, nothing: T, read: () => Promise<T>): Promise<T> {
    const { records } = this.#source

    if (options.snapshot != null) {
      const [expiry, found] = await Promise.all([records.get(key, options), read()])
      return this.#hasPassed(expiry) ? nothing : found
    }

    // Reads the expiry first: whatever is written between the two reads is newer, so the answer is right for that moment.
    return this.#hasPassed(await records.get(key, options)) ? nothing : read()
  }

  async #many<T>(
    keys: Encoded[],
    options: PrivateReadOptions,
    nothing: T,
    read: (keys: Encoded[], options: PrivateReadOptions) => Promise<T[]>
  ): Promise<T[]> {
    const { db, records } = this.#source
    const own = options.snapshot == null ? snapshotOf(db) : undefined
    const both = own === undefined ? options : { ...options, snapshot: own }

    try {
      const readingExpiries = records.getMany(keys, both)
      // Without a snapshot, reads the expiries first, as for single keys.
      if (both.snapshot == null) await readingExpiries
      const [expiries, found] = await Promise.all([readingExpiries, read(keys, both)])
      return found.map((value, index) => (this.#hasPassed(expiries[index]) ? nothing : value))
    } finally {
      await own?.close()
    }
  }

  #hasPassed(expiry: number | undefined): boolean {
    return expiry !== undefined && expiry <= this.#source.clock.now()
  }
}
