import type { AnyLevel } from '../aside.js'
import { type ByteString, byteString, type Encoded } from './byte-string.js'
import type { RangeOptions } from './key-range.js'
import { fullRange, keySpaceOf } from './key-space.js'
import { type HookedOperation, SeenWrite } from './seen-write.js'
import { UnsettledWrites } from './unsettled-writes.js'

/** Set on the operations of a commit; see {@link OwnBatch}. */
export const OWN = Symbol('own')

/** Set on every operation that the hook saw; abstract-level copies it to what the event `write` shows. */
const SEEN = Symbol('seen')

/** Keys of others' writes that are remembered while transactions are open. */
export const MAX_REMEMBERED_KEYS = 200_000

/** Fewer remembered writes than this are not worth a look at which of them are still needed. */
const MIN_TRIM = 1000

/** The batch that commits a transaction. */
export interface OwnBatch {
  /**
   * Called by the hook, before the batch takes its place in the order of writes. Throws to refuse the batch. It is
   * passed what the hook has seen of the same batch before.
   */
  check(own: SeenWrite | undefined): void
  /** What the hook made of the batch. */
  seen: SeenWrite | undefined
}

/** A moment in the order of writes. */
export interface Moment {
  readonly sequence: number
  /** Writes that were called before and may not have taken effect yet. */
  unsettled: readonly SeenWrite[]
}

interface ObservedOperation extends HookedOperation {
  [OWN]?: OwnBatch
  [SEEN]?: SeenWrite
  encodedKey?: Encoded
}

/** Sees the writes to a database and its sublevels, and remembers them as long as open transactions need it. */
export class WriteObserver {
  readonly #root: AnyLevel
  readonly #unsettled = new UnsettledWrites()
  readonly #ofBatch = new WeakMap<object, SeenWrite>()
  readonly #moments = new Set<Moment>()
  #recent: SeenWrite[] = []
  #remembered = 0
  #trimAt = MIN_TRIM
  #sequence = 0
  /** Writes up to this one are no longer remembered. */
  #forgotten = 0

  constructor(root: AnyLevel) {
    this.#root = root
    root.hooks.prewrite.add(this.hook)
    // First, so that another listener's error does not keep the event from this one.
    root.prependListener('write', this.#onWrite as never)
    root.on('clear', this.#onClear as never)
    root.on('closed', this.#onClosed)
  }

  /** The prewrite hook function of the root. */
  readonly hook = (operation: ObservedOperation, batch: object): void => {
    const ownBatch = operation[OWN]
    let write = this.#ofBatch.get(batch)
    ownBatch?.check(write)

    write ??= this.#begin(batch)
    if (ownBatch !== undefined) ownBatch.seen = write
    write.addOperation(operation)
    operation[SEEN] = write
    this.#remembered++
  }

  /** From now on, writes are remembered until {@link release}. */
  now(): Moment {
    const moment = { sequence: this.#sequence, unsettled: this.#unsettled.list() }
    this.#moments.add(moment)
    return moment
  }

  /** Writes since the moment need not be remembered for its sake. */
  release(moment: Moment): void {
    // Those that have failed may then be garbage.
    moment.unsettled = []
    this.#moments.delete(moment)
    if (this.#moments.size === 0) this.#forget()
    else if (this.#recent.length > this.#trimAt) this.#trim()
  }

  /**
   * The writes that may have taken effect after the moment, in no certain order; undefined if they are not
   * remembered.
   */
  since(moment: Moment): SeenWrite[] | undefined {
    if (moment.sequence < this.#forgotten) return undefined
    const first = this.#recent.findLastIndex((write) => write.sequence <= moment.sequence) + 1
    return [...moment.unsettled, ...this.#recent.slice(first)]
  }

  /** Notes that a batch, which the hook saw as this, has failed. */
  failed(write: SeenWrite): void {
    if (!write.isSettled) this.#settle(write, [])
  }

  /** How many writes are remembered; for tests. @internal */
  get size(): number {
    return this.#recent.length
  }

  #begin(batch: object): SeenWrite {
    const write = this.#add(new SeenWrite(++this.#sequence))
    this.#ofBatch.set(batch, write)
    this.#unsettled.add(write)
    return write
  }

  #add(write: SeenWrite): SeenWrite {
    if (this.#moments.size === 0) {
      this.#remembered = 0
    } else {
      if (this.#remembered > MAX_REMEMBERED_KEYS) this.#forget()
      this.#recent.push(write)
    }

    return write
  }

  #forget(): void {
    this.#recent = []
    this.#remembered = 0
    this.#forgotten = this.#sequence
  }

  /** Forgets what is older than the oldest moment. */
  #trim(): void {
    const [oldest] = this.#moments
    const first = this.#recent.findIndex((write) => write.sequence > (oldest as Moment).sequence)
    this.#recent = first < 0 ? [] : this.#recent.slice(first)
    this.#remembered = this.#recent.reduce((count, write) => count + write.length, 0)
    this.#trimAt = Math.max(MIN_TRIM, this.#recent.length * 2)
  }

  #settle(write: SeenWrite, keys: ByteString[]): void {
    write.settle(keys)
    this.#unsettled.delete(write)
  }

  readonly #onWrite = (operations: ObservedOperation[]): void => {
    const keys = this.#moments.size > 0 ? keysOf(operations) : []
    let isSeen = false

    for (const { [SEEN]: write } of operations) {
      if (write === undefined) continue
      isSeen = true
      if (!write.isSettled) this.#settle(write, keys)
    }

    if (!isSeen && keys.length > 0) this.#note(new SeenWrite(++this.#sequence), keys)
  }

  /** Notes a write that no hook ran for, such as a chained batch that is older than the hook. */
  #note(write: SeenWrite, keys: ByteString[]): void {
    this.#remembered += keys.length
    this.#add(write).settle(keys)
  }

  readonly #onClear = (options: RangeOptions & { keyEncoding?: unknown }): void => {
    if (this.#moments.size === 0) return
    const range = fullRange(keySpaceOf(this.#root), options, options.keyEncoding)
    this.#add(new SeenWrite(++this.#sequence, range))
  }

  readonly #onClosed = (): void => {
    this.#unsettled.clear()
    this.#sequence++
    this.#forget()
  }
}

function keysOf(operations: ObservedOperation[]): ByteString[] {
  return operations.map(({ encodedKey }) => byteString(encodedKey as Encoded))
}
