import type { AbstractIterator, AbstractSnapshot } from 'abstract-level'
import { bytesOf, type Encoded } from '../encoded.js'
import type { AnyLevel } from '../level-like.js'
import { byteRange, type KeyFormatter, keyFormatter } from './byte-range.js'
import type { Clock } from './clock.js'
import { type ExpiryRecords, type RecordRange, textOf } from './expiry-records.js'

/** A key and its value, encoded; the value is undefined where it is not read. */
export type Entry = [key: Encoded, value: unknown]

/** Where entries and their expiries come from. */
export interface LiveSource {
  db: AnyLevel
  records: ExpiryRecords
  clock: Clock
}

/** Entries that are read ahead at most, for a loop that asks for one after the other. */
const MAX_WINDOW_ENTRIES = 100

/** Often only one entry is wanted at first or after a seek. Each window may be so many times as large as the last. */
const WINDOW_GROWTH = 4

/** Entries that are read at once where many are wanted. */
const MAX_PART_ENTRIES = 1000

/** Entries of a range that did not expire, read together with their expiries from one snapshot where there are any. */
export class LiveEntries {
  readonly #source: LiveSource
  readonly #snapshot: AbstractSnapshot | undefined
  readonly #iterator: AbstractIterator<AnyLevel, Encoded, unknown>
  /** The range as the records are asked for it. */
  readonly #recordOptions: RecordRange
  readonly #formatKey: KeyFormatter
  #window: Entry[] = []
  #expiries: Array<number | undefined> = []
  #position = 0
  #nextWindowEntries = 1

  /** @param options - As abstract-level passes them to the private methods: ranges are encoded, formats are named. */
  constructor(source: LiveSource, options: RecordRange, values: boolean) {
    this.#source = source
    this.#snapshot = options.snapshot == null ? snapshotOf(source.db) : undefined
    const snapshot = options.snapshot ?? this.#snapshot
    // What expired does not count for the limit, which abstract-level's class of iterators minds.
    const all = byteRange({ ...options, snapshot, keys: true, values, limit: -1 })
    this.#iterator = source.db.iterator(all as never)
    this.#formatKey = keyFormatter(options)
    const { gt, gte, lt, lte, keyEncoding } = all
    this.#recordOptions = { gt, gte, lt, lte, keyEncoding, snapshot }
  }

  /** The next entry; undefined at the end. */
  async next(): Promise<Entry | undefined> {
    while (true) {
      const entry = this.#take()
      if (entry !== undefined) return entry

      await this.#read(this.#nextWindowEntries)
      if (this.#window.length === 0) return undefined
      this.#nextWindowEntries = Math.min(this.#nextWindowEntries * WINDOW_GROWTH, MAX_WINDOW_ENTRIES)
    }
  }

  /** The next entries, at least one and at most `size`; none at the end. */
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

  /** All entries that are left, or so many of them. */
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

  /** All that are left, read in one go with all expiries of the range: cheaper than asking for that of each key. */
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

  /** The next entry of the window that did not expire until now; undefined if there is none. */
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

/** A snapshot, where the database has them. */
export function snapshotOf(db: AnyLevel): AbstractSnapshot | undefined {
  return db.supports.explicitSnapshots === true ? db.snapshot() : undefined
}
