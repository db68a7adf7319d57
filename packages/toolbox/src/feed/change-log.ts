/** The stored changes: how they are numbered, added, read and removed. */

import { Buffer } from '../buffer.js'
import { isExact, type PrewriteBatch, readsAtOnce } from '../hooks.js'
import type { EncodedRange, KeySpace } from '../key-space.js'
import type { AnyLevel } from '../level-like.js'
import { AuxiliaryStore } from './auxiliary-store.js'
import { feedError } from './errors.js'
import { numberAt, numberBytes, writeNumber } from './numbers.js'
import { decodeChange, encodeChange, type StoredChange } from './record.js'
import { orderWrites, type WriteOrder, type WriteRaw } from './write-order.js'

/** The keys before and after those of all changes. */
const FIRST = Buffer.from('c')
const END = Buffer.from('d')
/** The key that holds the number of the last change that was removed. */
const TRIMMED = Buffer.from('t')
/** A key that is never written. */
const BARRIER = Buffer.from('b')

const REMOVED_AT_ONCE = 1000

/** How far the log has come. */
interface Head {
  /** The last number that was given to a change, even if that was refused. */
  last: number
  /** The bytes of all changes that were added, counted from an arbitrary start. */
  offset: number
}

/** A change to add, to which the log gives a number. */
export type NewChange = Pick<StoredChange, 'type' | 'key' | 'value' | 'oldValue'>

/** The stored changes of a feed. */
export class ChangeLog {
  readonly order: WriteOrder
  readonly #root: AnyLevel
  readonly #store: AuxiliaryStore
  #head: Head | undefined
  #loading: Promise<void> | undefined
  #trimmed = 0
  /** Whether some changes up to `#storedTrimmed` may be left, because a removal was interrupted or is running. */
  #mayHaveRest = true
  /** Batches hold their first number under this symbol. A weak map would cost more than everything else. */
  readonly #start = Symbol('first number')

  constructor(space: KeySpace, name: string) {
    this.#root = space.root
    this.#store = new AuxiliaryStore(space, `feed.${name}`)
    this.order = orderWrites(space, () => this.#prepare(), this.#store.inRoot(BARRIER))
  }

  /** The last change of those that are removed, or will be: it and all before it. */
  get trimmed(): number {
    return this.#trimmed
  }

  /** Whether changes up to {@link trimmed} may be stored still, because their removal was interrupted. */
  get mayHaveRest(): boolean {
    return this.#mayHaveRest
  }

  /** The last number given, and the bytes added so far. Read it only once the log is loaded. */
  get head(): Readonly<Head> {
    return this.#head as Head
  }

  /** Adds a change, under the next number, to the write that a hook sees. */
  append(batch: PrewriteBatch, { type, key, value, oldValue }: NewChange): void {
    if (this.#head === undefined) this.#loadWithin(batch)
    const head = this.#head as Head
    const sequence = ++head.last
    const { offset } = head
    const start = this.#startOf(batch, sequence)
    const time = Date.now()
    const record = encodeChange({ sequence, batch: start, type, time, offset, key, value, oldValue })
    this.#store.put(batch, keyOf(sequence), record)
    head.offset += record.length + FIRST.length + 8
  }

  /** Waits until the database is open and the log knows its numbers. */
  async load(): Promise<void> {
    await this.#root.open({ passive: true })
    await this.#prepare()
  }

  /** Forgets its numbers. Call it when the database is closed. */
  unload(): void {
    this.#head = undefined
    this.#loading = undefined
  }

  /**
   * Yields the stored changes after `after`, as they are at the call. Changes of one batch show together. Call it only once the
   * log is loaded.
   *
   * @throws FEED_TRIMMED if some of them have been removed.
   */
  changes(after: number): AsyncIterable<StoredChange> {
    if (after < this.#trimmed) throw this.#trimmedError(after)
    return this.#decoded(this.#entries({ gt: keyOf(after) }))
  }

  /** The stored changes after {@link trimmed}. */
  get oldest(): AsyncIterable<StoredChange> {
    return this.#decoded(this.#entries({ gt: keyOf(this.#trimmed) }))
  }

  /** The number of the last stored change in the current state; if there is none, of the last that was removed. */
  async lastSequence(options?: object): Promise<number> {
    for await (const { sequence } of this.#decoded(
      this.#entries({}, { reverse: true, limit: 1, ...options })
    )) {
      return sequence
    }
    return this.#trimmed
  }

  /** Removes the changes up to `last` in batches, until `isStopped`. Returns how many were removed. */
  async remove(last: number, write: WriteRaw, isStopped: () => boolean): Promise<number> {
    // Set before the removal, so that later readers know that there may be a gap.
    this.#trimmed = Math.max(this.#trimmed, last)
    let from: EncodedRange & { gte: Buffer } = { gte: FIRST }
    if (!this.#mayHaveRest) from = { ...from, gt: keyOf(this.#trimmedNow ?? (await this.#readTrimmed())) }
    this.#mayHaveRest = true
    let removed = 0

    while (!isStopped()) {
      const keys: Buffer[] = []
      const range = { ...from, lt: END, lte: keyOf(last) }
      const options = this.#store.iteratorOptions(range, { limit: REMOVED_AT_ONCE })
      for await (const key of this.#root.keys(options)) keys.push(key as unknown as Buffer)
      const lastKey = keys.at(-1)
      if (lastKey === undefined) {
        this.#mayHaveRest = false
        break
      }

      // Where it is read within the call, nothing comes between that and the write.
      const trimmed = Math.max(last, this.#trimmedNow ?? (await this.#readTrimmed()))
      const note = { type: 'put', key: this.#store.inRoot(TRIMMED), value: numberBytes(trimmed) }
      await write([note, ...keys.map((key) => ({ type: 'del', key }))])
      // Does not pass over removed changes again, which stay there until a compaction.
      from = { gte: FIRST, gt: this.#store.fromRoot(lastKey) }
      removed += keys.length
    }
    return removed
  }

  /**
   * Makes the write that a hook sees remove the oldest changes that have expired: whole batches, and at least `count` changes
   * if there are that many. It works only if the database reads within the call. Call it only once the log is loaded.
   *
   * @returns How many changes are removed.
   */
  removeWithin(batch: PrewriteBatch, isExpired: (change: StoredChange) => boolean, count: number): number {
    const trimmed = this.#storedTrimmed
    const sequences: number[] = []
    /** How many of them make up whole batches. */
    let removed = 0
    let isAll = true

    for (const entry of this.#iterateSync(
      this.#store.iteratorOptions({ gte: FIRST, gt: keyOf(trimmed), lt: END })
    )) {
      const change = this.#decode(entry)
      if (change.batch > (sequences.at(-1) ?? change.batch)) removed = sequences.length
      isAll = isExpired(change) && removed < count
      if (!isAll) break
      sequences.push(change.sequence)
    }

    if (isAll) removed = sequences.length
    const last = sequences[removed - 1]
    if (last === undefined) return 0

    this.#trimmed = Math.max(this.#trimmed, last)
    for (const sequence of sequences.slice(0, removed)) this.#store.del(batch, keyOf(sequence))
    this.#store.put(batch, TRIMMED, numberBytes(last))
    return removed
  }

  /** Lets another feed use the name from now on. */
  release(): void {
    this.order.release()
    this.#store.release()
  }

  /** The first number of the batch that contains the change with the number `sequence`. */
  #startOf(batch: PrewriteBatch, sequence: number): number {
    const starts = batch as unknown as Record<symbol, number | undefined>
    const start = starts[this.#start]
    if (start !== undefined) return start
    starts[this.#start] = sequence
    return sequence
  }

  #prepare(): Promise<void> | undefined {
    if (this.#head !== undefined) return undefined
    if (isExact(this.#root) && readsAtOnce(this.#root)) {
      this.#loadNow()
      return undefined
    }

    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  /** Reads the last number in a hook, which waits for that if it must. */
  #loadWithin(batch: PrewriteBatch): void {
    const loading = isExact(this.#root) ? this.#prepare() : undefined
    if (loading !== undefined) batch.waitFor?.(loading)
    else if (this.#head === undefined) this.#loadNow()
  }

  /** Reads the last number within the call, which only Terrace can do. */
  #loadNow(): void {
    const [entry] = [...this.#iterateSync(this.#lastEntryOptions())]
    this.#continueAfter(entry, this.#storedTrimmed)
  }

  async #load(): Promise<void> {
    await this.#root.open({ passive: true })
    const [entry] = await this.#root.iterator(this.#lastEntryOptions()).all()
    const trimmed = this.#trimmedNow ?? (await this.#readTrimmed())
    this.#continueAfter(entry as [Buffer, Buffer] | undefined, trimmed)
  }

  #iterateSync(options: object): Iterable<[Buffer, Buffer]> {
    const { iterateSync } = this.#root as unknown as {
      iterateSync(options: object): Iterable<[Buffer, Buffer]>
    }
    return iterateSync.call(this.#root, options)
  }

  /** The stored number up to which changes are, or are being, removed. */
  get #storedTrimmed(): number {
    return trimmedOf(this.#store.get(TRIMMED))
  }

  /** The same outside hooks; undefined if only hooks can read within the call. */
  get #trimmedNow(): number | undefined {
    return readsAtOnce(this.#root) ? this.#storedTrimmed : undefined
  }

  async #readTrimmed(): Promise<number> {
    return trimmedOf(await this.#store.read(TRIMMED))
  }

  #lastEntryOptions(): object {
    return this.#store.iteratorOptions({ gte: FIRST, lt: END }, { reverse: true, limit: 1 })
  }

  #continueAfter(entry: [Buffer, Buffer] | undefined, trimmed: number): void {
    this.#trimmed = trimmed
    this.#mayHaveRest = true
    this.#head = { last: this.#trimmed, offset: 0 }
    if (entry === undefined) return

    const last = this.#decode(entry)
    this.#head = {
      last: Math.max(this.#trimmed, last.sequence),
      offset: last.offset + entry[1].length + entry[0].length
    }
  }

  #entries(range: { gt?: Buffer }, more?: object): AsyncIterable<[Buffer, Buffer]> {
    const options = this.#store.iteratorOptions({ gte: FIRST, lt: END, ...range }, more)
    return this.#root.iterator(options) as unknown as AsyncIterable<[Buffer, Buffer]>
  }

  async *#decoded(entries: AsyncIterable<[Buffer, Buffer]>): AsyncGenerator<StoredChange> {
    for await (const entry of entries) yield this.#decode(entry)
  }

  #decode([key, value]: [Buffer, Buffer]): StoredChange {
    return decodeChange(numberAt(this.#store.fromRoot(key), FIRST.length), value)
  }

  #trimmedError(after: number): Error {
    const oldestSequence = this.#trimmed + 1
    return feedError(
      'FEED_TRIMMED',
      `Changes after ${after} have been removed: the oldest sequence number retained is ${oldestSequence}`,
      { oldestSequence }
    )
  }
}

function trimmedOf(stored: Buffer | undefined): number {
  return stored === undefined ? 0 : numberAt(stored, 0)
}

function keyOf(sequence: number): Buffer {
  const key = Buffer.allocUnsafe(FIRST.length + 8)
  key[0] = FIRST[0] as number
  writeNumber(key, FIRST.length, sequence)
  return key
}
