import { type ByteString, encodedValue } from '../encoded.js'
import { codedError } from '../errors.js'
import { rootOf, valueEncodingOf } from '../hooks.js'
import { type KeySpace, keySpaceOf } from '../key-space.js'
import type { AnyLevel } from '../level-like.js'
import type { Conflict, Coordinator, Reading } from './coordinator.js'
import { argumentError, endedError, throwIfAborted } from './errors.js'
import type { KeyRange } from './key-range.js'
import { OwnWrites, ownValue } from './own-writes.js'
import { RangeIterator } from './range-iterator.js'
import { type Entry, RangeScan, type ScanRequest } from './range-scan.js'
import { ReadSet } from './read-set.js'
import { fullKey, fullRange, RecordRange, recordKey } from './root-keys.js'
import type { Release } from './turns.js'
import type { AnyIteratorOptions, AnyOptions } from './types.js'

/** One attempt of a transaction: what its function reads and writes with. */
export class Attempt {
  readonly writes = new OwnWrites()
  readonly #coordinator: Coordinator
  readonly #db: AnyLevel
  readonly #signal: AbortSignal | undefined
  readonly #reads = new ReadSet()
  readonly #iterators = new Set<RangeIterator<unknown>>()
  #isEnded = false
  #turn: Release | undefined
  #beginning: Promise<Reading> | undefined
  #reading: Reading | undefined

  constructor(coordinator: Coordinator, db: AnyLevel, signal: AbortSignal | undefined, turn?: Release) {
    this.#coordinator = coordinator
    this.#db = db
    this.#signal = signal
    this.#turn = turn
  }

  async get(key: unknown, options: AnyOptions = {}): Promise<unknown> {
    const { space, full } = this.#locate(key, options)
    const own = this.writes.get(full)
    if (own !== undefined) return ownValue(own, valueEncodingOf(space.given, options.valueEncoding))

    const snapshot = await this.#read(space, full)
    return space.given.get(key, { ...without(options), ...snapshot })
  }

  async getMany(keys: unknown[], options: AnyOptions = {}): Promise<unknown[]> {
    if (!Array.isArray(keys)) throw argumentError("The first argument 'keys' must be an array")
    return Promise.all(keys.map((key) => this.get(key, options)))
  }

  async has(key: unknown, options: AnyOptions = {}): Promise<boolean> {
    const { space, full } = this.#locate(key, options)
    const own = this.writes.get(full)
    if (own !== undefined) return own.value !== undefined

    const snapshot = await this.#read(space, full)
    if (space.given.supports.has) return space.given.has(key, { ...without(options), ...snapshot })
    return (
      (await space.given.get(key, { ...without(options), ...snapshot, valueEncoding: 'buffer' })) !==
      undefined
    )
  }

  put(key: unknown, value: unknown, options: AnyOptions = {}): void {
    if (value === null || value === undefined) {
      throw codedError('LEVEL_INVALID_VALUE', 'Value cannot be null or undefined')
    }

    const { space, full } = this.#locate(key, options)
    const encoded = encodedValue(valueEncodingOf(space.given, options.valueEncoding), value, key)
    const operation = { ...without(options), type: 'put', key, value }
    this.writes.set({ key: full, value: encoded, db: space.given, operation })
  }

  del(key: unknown, options: AnyOptions = {}): void {
    const { space, full } = this.#locate(key, options)
    const operation = { ...without(options), type: 'del', key }
    this.writes.set({ key: full, value: undefined, db: space.given, operation })
  }

  iterator(options: AnyIteratorOptions = {}): RangeIterator<unknown> {
    return this.#iterate(options, (entry) => entry)
  }

  keys(options: AnyIteratorOptions = {}): RangeIterator<unknown> {
    return this.#iterate(options, ([key]) => key, false)
  }

  values(options: AnyIteratorOptions = {}): RangeIterator<unknown> {
    return this.#iterate(options, ([, value]) => value)
  }

  /** What the attempt has read; undefined if it has read nothing. */
  get reading(): Reading | undefined {
    return this.#reading
  }

  /** Whether others have by now changed what the attempt has read. */
  conflict(): Conflict | undefined {
    return this.#reading === undefined ? undefined : this.#coordinator.conflictOf(this.#reading)
  }

  /** Ends its use: every later call throws. */
  stop(): void {
    this.#isEnded = true
  }

  /** Releases everything that it holds. */
  async end(): Promise<void> {
    this.stop()

    try {
      for (const iterator of this.#iterators) await iterator.close()
      // The caller of the read gets its error.
      if (this.#reading === undefined) await this.#beginning?.catch(() => {})
      await (this.#reading?.snapshot as { close(): Promise<void> } | undefined)?.close()
    } finally {
      if (this.#reading !== undefined) this.#coordinator.end(this.#reading)
      this.#turn?.()
    }
  }

  #assertOpen(): void {
    if (this.#isEnded) throw endedError()
    throwIfAborted(this.#signal)
  }

  #spaceOf(options: { sublevel?: unknown }): KeySpace {
    this.#assertOpen()
    const db = (options.sublevel ?? this.#db) as AnyLevel

    if (db !== this.#db && rootOf(db) !== this.#coordinator.root) {
      throw argumentError("The option 'sublevel' must be a sublevel of the transaction's database")
    }

    return keySpaceOf(db)
  }

  #locate(key: unknown, options: AnyOptions): { space: KeySpace; full: ByteString } {
    const space = this.#spaceOf(options)
    return { space, full: fullKey(space, key, options.keyEncoding) }
  }

  /** Notes that a key is read. Returns the options to read it with. */
  async #read(space: KeySpace, key: ByteString): Promise<{ snapshot?: never }> {
    const { reads, snapshot } = this.#reading ?? (await this.#begin(key))
    this.#assertOpen()
    reads.addKey(key)
    const record = recordKey(space, key)
    if (record !== undefined) reads.addKey(record)
    return snapshot === undefined ? {} : { snapshot: snapshot as never }
  }

  /** Begins to read, at the first read. If there is contention about what is read, waits for a turn. */
  #begin(read: ByteString | KeyRange): Promise<Reading> {
    this.#beginning ??= this.#takeState(read)
    return this.#beginning
  }

  async #takeState(read: ByteString | KeyRange): Promise<Reading> {
    const { turns } = this.#coordinator

    if (this.#turn === undefined) {
      const key = turns.contended(read)
      if (key !== undefined) this.#turn = await turns.take(key)
    }

    this.#reading = this.#coordinator.begin(this.#reads)
    return this.#reading
  }

  #iterate(
    options: AnyIteratorOptions,
    pick: (entry: Entry) => unknown,
    values = true
  ): RangeIterator<unknown> {
    const request = this.#request(options, values)
    const iterator: RangeIterator<unknown> = new RangeIterator(
      {
        assertOpen: () => this.#assertOpen(),
        begin: () => this.#scan(request),
        onReached: ({ reached }) => this.#noteRange(request.space, reached),
        onEnd: () => this.#iterators.delete(iterator)
      },
      pick
    )

    this.#iterators.add(iterator)
    return iterator
  }

  #request(given: AnyIteratorOptions, values: boolean): ScanRequest {
    const space = this.#spaceOf(given)
    const {
      gt,
      gte,
      lt,
      lte,
      reverse = false,
      limit = -1,
      keyEncoding,
      valueEncoding,
      ...options
    } = without(given)
    const range = fullRange(space, given, keyEncoding)

    return {
      space,
      range,
      own: this.writes.within(range, reverse),
      reverse,
      limit: Number.isInteger(limit) && limit >= 0 ? limit : Number.POSITIVE_INFINITY,
      keyEncoding,
      valueEncoding,
      values,
      options
    }
  }

  async #scan(request: ScanRequest): Promise<RangeScan | undefined> {
    if (request.limit === 0) return undefined
    const { snapshot } = this.#reading ?? (await this.#begin(request.range))
    this.#assertOpen()
    return new RangeScan(request, snapshot)
  }

  #noteRange(space: KeySpace, reached: KeyRange): void {
    this.#reads.addRange(reached)
    if (space.records !== undefined) this.#reads.addRange(new RecordRange(space, reached))
  }
}

/** The options without the transaction's own. */
function without<T extends { sublevel?: unknown }>(options: T): Omit<T, 'sublevel'> {
  const { sublevel, ...others } = options
  return others
}
