import type { AbstractIterator, AbstractSnapshot } from 'abstract-level'
import { bytesOf, type Encoded } from '../encoded.js'
import type { AnyLevel } from '../level-like.js'
import { byteRange, type KeyFormatter, keyFormatter } from './byte-range.js'
import type { Clock } from './clock.js'
import { type ExpiryRecords, type RecordRange, textOf } from './expiry-records.js'

/** An encoded key and value. The value is undefined if values are not read. */
export type Entry = [key: Encoded, value: unknown]

/** The source of entries and of their expiries. */
export interface LiveSource {
  db: AnyLevel
  records: ExpiryRecords
  clock: Clock
}

/** The most entries that are read ahead, for a loop that requests them one by one. */
const MAX_WINDOW_ENTRIES = 100

/** At first, or after a seek, often only one entry is needed. Each window may be this many times as large as the last. */
const WINDOW_GROWTH = 4

/** The number of entries per read if many are needed. */
const MAX_PART_ENTRIES = 1000

/**
 * The entries of a range that have not expired. They are read together with their expiries, from one snapshot if the database
 * has snapshots.
 */
export class LiveEntries {
  readonly #source: LiveSource
  readonly #snapshot: AbstractSnapshot | undefined
  readonly #iterator: AbstractIterator<AnyLevel, Encoded, unknown>
  /** The range in the form in which the records are queried. */
  readonly #recordOptions: RecordRange
  readonly #formatKey: KeyFormatter
  #window: Entry[] = []
  #expiries: Array<number | undefined> = []
  #position = 0
  #nextWindowEntries = 1

  /**
   * @param options - Options as abstract-level passes them to private methods: with encoded ranges and the names of formats.
   */
  constructor(source: LiveSource, options: RecordRange, values: boolean) {
    this.#source = source
    this.#snapshot = options.snapshot == null ? snapshotOf(source.db) : undefined
    const snapshot = options.snapshot ?? this.#snapshot
    // Expired entries do not count towards the limit, which abstract-level's iterator classes apply.
    const all = byteRange({ ...options, snapshot, keys: true, values, limit: -1 })
    this.#iterator = source.db.iterator(all as never)
    this.#formatKey = keyFormatter(options)
    const { gt, gte, lt, lte, keyEncoding } = all
    this.#recordOptions = { gt, gte, lt, lte, keyEncoding, snapshot }
  }

  /** Reads the next entry; undefined at the end. */
  async next(): Promise<Entry | undefined> {
    while (true) {
      const entry = this.#take()
      if (entry !== undefined) return entry

      await this.#read(this.#nextWindowEntries)
      if (this.#window.length === 0) return undefined
      this.#nextWindowEntries = Math.min(this.#nextWindowEntries * WINDOW_GROWTH, MAX_WINDOW_ENTRIES)
    }
  }

  /** Reads the next entries, at least one and at most `size`; none at the end. */
  async nextMany(size: number): Promise<Entry[]> {
    const entries: Entry[] = []

    while (entries.length === 0) {
      if (this.#position === this.#window.length) {
        await this.#read(size)
        if (this.#window.length === 0) break
      }

      for (let entry = this.#take(); entry !== undefined; entry = this.#take()) {
        if (entries.push(entry) === size) break
      }
    }

    return entries
  }

  /** Reads all remaining entries, or at most this many. */
  async all(limit: number): Promise<Entry[]> {
    if (limit === Infinity) return this.#rest()
    const entries: Entry[] = []

    while (entries.length < limit) {
      const some = await this.nextMany(Math.min(limit - entries.length, MAX_PART_ENTRIES))
      if (some.length === 0) break
      for (const entry of some) entries.push(entry)
    }

    return entries
  }

  seek(target: Encoded, options: { keyEncoding?: string }): void {
    this.#window = []
    this.#position = 0
    this.#nextWindowEntries = 1
    const asText = options.keyEncoding === 'utf8'
    this.#iterator.seek((asText ? bytesOf(target) : target) as never, {
      ...options,
      keyEncoding: asText ? 'view' : (options.keyEncoding as string)
    })
  }

  async close(): Promise<void> {
    await this.#iterator.close()
    await this.#snapshot?.close()
  }

  /**
   * Reads all remaining entries, together with all expiries of the range. This is cheaper than reading the expiry of each
   * key.
   */
  async #rest(): Promise<Entry[]> {
    const { records, clock } = this.#source
    const entries: Entry[] = []
    for (let entry = this.#take(); entry !== undefined; entry = this.#take()) entries.push(entry)

    const reading = this.#iterator.all()
    const [rest, expiries] = await Promise.all([reading, records.inRange(this.#recordOptions)])
    const now = clock.now()

    for (const entry of rest as Entry[]) {
      const expiry = expiries.get(textOf(entry[0]))
      const isLive = expiry === undefined || expiry > now
      if (isLive && !records.contain(entry[0])) entries.push(this.#formatted(entry))
    }

    return entries
  }

  /** Takes the next unexpired entry of the window; undefined if there is none. */
  #take(): Entry | undefined {
    const { clock, records } = this.#source

    while (this.#position < this.#window.length) {
      const index = this.#position++
      const entry = this.#window[index] as Entry
      const expiry = this.#expiries[index]
      const isLive = expiry === undefined || expiry > clock.now()
      if (isLive && !records.contain(entry[0])) return this.#formatted(entry)
    }

    return undefined
  }

  #formatted(entry: Entry): Entry {
    entry[0] = this.#formatKey(entry[0])
    return entry
  }

  async #read(size: number): Promise<void> {
    const window = (await this.#iterator.nextv(size)) as Entry[]
    const keys = window.map(([key]) => key)
    this.#expiries = keys.length > 0 ? await this.#source.records.getMany(keys, this.#recordOptions) : []
    this.#window = window
    this.#position = 0
  }
}

/** Makes a snapshot, if the database has snapshots. */
export function snapshotOf(db: AnyLevel): AbstractSnapshot | undefined {
  return db.supports.explicitSnapshots === true ? db.snapshot() : undefined
}
