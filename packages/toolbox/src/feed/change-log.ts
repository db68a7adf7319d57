/** The stored changes: how they are numbered, added, read and removed. */

import { isExact, type PrewriteBatch } from '../hooks.js'
import type { EncodedRange, KeySpace } from '../key-space.js'
import type { AnyLevel } from '../level-like.js'
import { AuxiliaryStore } from './auxiliary-store.js'
import { feedError } from './errors.js'
import { numberAt, numberBytes, writeNumber } from './numbers.js'
import { decodeChange, encodeChange, type StoredChange } from './record.js'
import { orderWrites, type WriteOrder, type WriteRaw } from './write-order.js'

/** What comes before all changes, and after them. */
const FIRST = Buffer.from('c')
const END = Buffer.from('d')
/** Where the number of the last change that was removed is kept. */
const TRIMMED = Buffer.from('t')
/** Never written. */
const BARRIER = Buffer.from('b')

const REMOVED_AT_ONCE = 1000

/** How far the log has come. */
interface Head {
  /** The last number that was given to a change, also to one that was refused. */
  last: number
  /** The bytes of all changes that were added, from some beginning. */
  offset: number
}

/** A change to add: the log gives it its number. */
export type NewChange = Pick<StoredChange, 'type' | 'key' | 'value' | 'oldValue'>

/** The stored changes of a feed. */
export class ChangeLog {
  readonly order: WriteOrder
  readonly #root: AnyLevel
  readonly #auxiliary: AuxiliaryStore
  #head: Head | undefined
  #loading: Promise<void> | undefined
  #trimmed = 0
  /** Whether something may be left of changes up to `#storedTrimmed`: a removal was interrupted, or goes on. */
  #mayHaveRest = true
  /**
   * What the first number of a batch is noted under, on the batch: a weak map would cost more than all else.
   */
  readonly #start = Symbol('first number')

  constructor(space: KeySpace, name: string) {
    this.#root = space.root
    this.#auxiliary = new AuxiliaryStore(space, `feed.${name}`)
    this.order = orderWrites(space, () => this.#prepare(), this.#auxiliary.inRoot(BARRIER))
  }

  /** The last change of which all before it, and itself, are or will be removed. */
  get trimmed(): number {
    return this.#trimmed
  }

  /** The last number given, and the bytes added until now. To be read once it is loaded. */
  get head(): Readonly<Head> {
    return this.#head as Head
  }

  /** Adds a change to the write of a hook, under the next number. */
  append(batch: PrewriteBatch, { type, key, value, oldValue }: NewChange): void {
    if (this.#head === undefined) this.#loadNow()
    const head = this.#head as Head
    const sequence = ++head.last
    const { offset } = head
    const start = this.#startOf(batch, sequence)
    const time = Date.now()
    const record = encodeChange({ sequence, batch: start, type, time, offset, key, value, oldValue })
    this.#auxiliary.put(batch, keyOf(sequence), record)
    head.offset += record.length + FIRST.length + 8
  }

  /** Waits until the database is open and the log knows its numbers. */
  async load(): Promise<void> {
    await this.#root.open({ passive: true })
    await this.#prepare()
  }

  /** Forgets its numbers: to be called when the database is closed. */
  unload(): void {
    this.#head = undefined
    this.#loading = undefined
  }

  /**
   * The stored changes after `after`, of one moment: the call. Changes of a batch are there together. To be
   * called once it is loaded.
   *
   * @throws FEED_TRIMMED if some of them are removed.
   */
  changes(after: number): AsyncIterable<StoredChange> {
    if (after < this.#trimmed) throw this.#trimmedError(after)
    return this.#decoded(this.#entries({ gt: keyOf(after) }))
  }

  /** All that is stored, also what is left of changes whose removal was interrupted. */
  get oldest(): AsyncIterable<StoredChange> {
    return this.#decoded(this.#entries({ gt: keyOf(this.#trimmed) }))
  }

  /** The last change that is stored, of a moment; the last that was removed if there is none. */
  async lastSequence(options?: object): Promise<number> {
    for await (const { sequence } of this.#decoded(
      this.#entries({}, { reverse: true, limit: 1, ...options })
    )) {
      return sequence
    }
    return this.#trimmed
  }

  /** Removes the changes up to `last`, by batches, until `isStopped`. How many were removed. */
  async remove(last: number, write: WriteRaw, isStopped: () => boolean): Promise<number> {
    // Before it is done, so that whoever reads afterwards knows that there may be a hole.
    this.#trimmed = Math.max(this.#trimmed, last)
    let from: EncodedRange & { gte: Buffer } = { gte: FIRST }
    if (!this.#mayHaveRest) from = { ...from, gt: keyOf(this.#storedTrimmed) }
    this.#mayHaveRest = true
    let removed = 0

    while (!isStopped()) {
      const keys: Buffer[] = []
      const range = { ...from, lt: END, lte: keyOf(last) }
      const options = this.#auxiliary.iteratorOptions(range, { limit: REMOVED_AT_ONCE })
      for await (const key of this.#root.keys(options)) keys.push(key as unknown as Buffer)
      const lastKey = keys.at(-1)
      if (lastKey === undefined) {
        this.#mayHaveRest = false
        break
      }

      const trimmed = Math.max(last, this.#storedTrimmed)
      const note = { type: 'put', key: this.#auxiliary.inRoot(TRIMMED), value: numberBytes(trimmed) }
      await write([note, ...keys.map((key) => ({ type: 'del', key }))])
      // What was removed is not passed again: it is there until it is compacted away.
      from = { gte: FIRST, gt: this.#auxiliary.fromRoot(lastKey) }
      removed += keys.length
    }
    return removed
  }

  /**
   * Has the write of a hook remove the oldest changes as far as they have expired: by whole batches, and at least `count` if there
   * are so many. Only where the database can read within a hook; to be called once it is loaded.
   *
   * @returns How many are removed.
   */
  removeWithin(batch: PrewriteBatch, isExpired: (change: StoredChange) => boolean, count: number): number {
    const trimmed = this.#storedTrimmed
    const sequences: number[] = []
    /** How many of them are whole batches. */
    let removed = 0
    let isAll = true

    for (const entry of this.#iterateSync(
      this.#auxiliary.iteratorOptions({ gte: FIRST, gt: keyOf(trimmed), lt: END })
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
    for (const sequence of sequences.slice(0, removed)) this.#auxiliary.del(batch, keyOf(sequence))
    this.#auxiliary.put(batch, TRIMMED, numberBytes(last))
    return removed
  }

  /** Another feed may have the name from now on. */
  release(): void {
    this.order.release()
    this.#auxiliary.release()
  }

  /** The first number of the batch that a change with the number `sequence` is of. */
  #startOf(batch: PrewriteBatch, sequence: number): number {
    const starts = batch as unknown as Record<symbol, number | undefined>
    const start = starts[this.#start]
    if (start !== undefined) return start
    starts[this.#start] = sequence
    // Having read, it is called again if a batch that is filled now is written after others.
    if (this.order.showsOwnBatch) this.#auxiliary.get(BARRIER)
    return sequence
  }

  #prepare(): Promise<void> | undefined {
    if (this.#head !== undefined) return undefined
    if (isExact(this.#root)) {
      this.#loadNow()
      return undefined
    }

    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  /** Reads the last number within the call, which only Terrace can. */
  #loadNow(): void {
    const [entry] = [...this.#iterateSync(this.#lastEntryOptions())]
    this.#continueAfter(entry)
  }

  async #load(): Promise<void> {
    await this.#root.open({ passive: true })
    const [entry] = await this.#root.iterator(this.#lastEntryOptions()).all()
    this.#continueAfter(entry as [Buffer, Buffer] | undefined)
  }

  #iterateSync(options: object): Iterable<[Buffer, Buffer]> {
    const { iterateSync } = this.#root as unknown as {
      iterateSync(options: object): Iterable<[Buffer, Buffer]>
    }
    return iterateSync.call(this.#root, options)
  }

  /** Up to where changes are, or are being, removed, as it is stored. */
  get #storedTrimmed(): number {
    const trimmed = this.#auxiliary.get(TRIMMED)
    return trimmed === undefined ? 0 : numberAt(trimmed, 0)
  }

  #lastEntryOptions(): object {
    return this.#auxiliary.iteratorOptions({ gte: FIRST, lt: END }, { reverse: true, limit: 1 })
  }

  #continueAfter(entry: [Buffer, Buffer] | undefined): void {
    this.#trimmed = this.#storedTrimmed
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
    const options = this.#auxiliary.iteratorOptions({ gte: FIRST, lt: END, ...range }, more)
    return this.#root.iterator(options) as unknown as AsyncIterable<[Buffer, Buffer]>
  }

  async *#decoded(entries: AsyncIterable<[Buffer, Buffer]>): AsyncGenerator<StoredChange> {
    for await (const entry of entries) yield this.#decode(entry)
  }

  #decode([key, value]: [Buffer, Buffer]): StoredChange {
    return decodeChange(numberAt(this.#auxiliary.fromRoot(key), FIRST.length), value)
  }

  #trimmedError(after: number): Error {
    const oldestSequence = this.#trimmed + 1
    return feedError(
      'FEED_TRIMMED',
      `Changes after ${after} were removed: the oldest sequence number retained is ${oldestSequence}`,
      { oldestSequence }
    )
  }
}

function keyOf(sequence: number): Buffer {
  const key = Buffer.allocUnsafe(FIRST.length + 8)
  key[0] = FIRST[0] as number
  writeNumber(key, FIRST.length, sequence)
  return key
}
