import { type ByteString, byteString, type Encoded } from '../encoded.js'
import { addHook } from '../hooks.js'
import { keySpaceOf } from '../key-space.js'
import type { AnyLevel } from '../level-like.js'
import type { RangeOptions } from './key-range.js'
import { fullRange } from './root-keys.js'
import { type HookedOperation, SeenWrite } from './seen-write.js'
import { UnsettledWrites } from './unsettled-writes.js'

/** Marks the operations of a batch that commits a transaction. */
export const OWN = Symbol('own')

/** Marks every operation that the hook saw. Databases copy the mark to what the event `write` shows. */
const SEEN = Symbol('seen')

/** The maximum number of keys of other writes that are remembered while transactions are open. */
export const MAX_REMEMBERED_KEYS = 200_000

/** With fewer remembered writes than this, it is not worthwhile to check which of them are still needed. */
const MIN_TRIM = 1000

/** The batch that commits a transaction. */
export interface OwnBatch {
  /** Called before the batch gets its position in the order of writes. Throws to refuse the batch. */
  check(): void
  /** The writes of the batch that the hook saw. */
  readonly seen: SeenWrite[]
}

/** The value of the mark {@link OWN}. */
export interface OwnOperation {
  readonly batch: OwnBatch
  /** Whether the batch must be checked with this operation. */
  readonly isFirst: boolean
}

/** A moment in the order of writes. */
export interface Moment {
  readonly sequence: number
  /** Earlier writes that may not have taken effect yet. */
  unsettled: readonly SeenWrite[]
}

interface ObservedOperation extends HookedOperation {
  [OWN]?: OwnOperation
  [SEEN]?: SeenWrite
  encodedKey?: Encoded
}

/** Sees the writes to a database and its sublevels, and remembers them while open transactions need them. */
export class WriteObserver {
  readonly #root: AnyLevel
  readonly #unsettled = new UnsettledWrites()
  readonly #moments = new Set<Moment>()
  #recent: SeenWrite[] = []
  #trimAt = MIN_TRIM
  #sequence = 0
  /** The last write that is no longer remembered. */
  #forgotten = 0

  constructor(root: AnyLevel) {
    this.#root = root
    addHook(root, this.hook)
    // Added first, so that an error of another listener does not keep the event from this one.
    root.prependListener('write', this.#onWrite as never)
    root.on('clear', this.#onClear as never)
    root.on('closed', this.#onClosed)
  }

  /** The prewrite hook function of the root. */
  readonly hook = (operation: ObservedOperation): void => {
    const own = operation[OWN]
    if (own?.isFirst) own.batch.check()

    const write = this.#add(new SeenWrite(++this.#sequence, operation, own?.batch))
    this.#unsettled.add(write)
    own?.batch.seen.push(write)
    operation[SEEN] = write
  }

  /** Makes writes be remembered from now on, until {@link release}. */
  now(): Moment {
    const moment = { sequence: this.#sequence, unsettled: this.#unsettled.list() }
    this.#moments.add(moment)
    return moment
  }

  /** Writes since the moment need not be remembered for it any longer. */
  release(moment: Moment): void {
    // Those that have failed can then be garbage.
    moment.unsettled = []
    this.#moments.delete(moment)
    if (this.#moments.size === 0) this.#forget()
    else if (this.#recent.length > this.#trimAt) this.#trim()
  }

  /** The writes that may have taken effect after the moment, in no particular order; undefined if they are not remembered. */
  since(moment: Moment): SeenWrite[] | undefined {
    if (moment.sequence < this.#forgotten) return undefined
    const first = this.#recent.findLastIndex((write) => write.sequence <= moment.sequence) + 1
    return [...moment.unsettled, ...this.#recent.slice(first)]
  }

  /** Notes that a batch has failed. What was seen of it counts as written, because an error does not prove that nothing was. */
  failed(batch: OwnBatch): void {
    for (const write of batch.seen) {
      if (!write.isSettled) this.#settle(write, write.key(this.#root))
    }
  }

  /**
   * The number of remembered writes, for tests.
   *
   * @internal
   */
  get size(): number {
    return this.#recent.length
  }

  #add(write: SeenWrite): SeenWrite {
    if (this.#moments.size === 0) return write
    if (this.#recent.length >= MAX_REMEMBERED_KEYS) this.#forget()
    this.#recent.push(write)
    return write
  }

  #forget(): void {
    this.#recent = []
    this.#forgotten = this.#sequence
  }

  /** Forgets what is older than the oldest moment. */
  #trim(): void {
    const [oldest] = this.#moments
    const first = this.#recent.findIndex((write) => write.sequence > (oldest as Moment).sequence)
    this.#recent = first < 0 ? [] : this.#recent.slice(first)
    this.#trimAt = Math.max(MIN_TRIM, this.#recent.length * 2)
  }

  #settle(write: SeenWrite, key: ByteString | undefined): void {
    write.settle(key)
    this.#unsettled.delete(write)
  }

  readonly #onWrite = (operations: ObservedOperation[]): void => {
    const isWanted = this.#moments.size > 0

    for (const { [SEEN]: seen, encodedKey } of operations) {
      const key = isWanted ? byteString(encodedKey as Encoded) : undefined
      // A hook may add a copy of an operation, with all its properties.
      if (seen !== undefined && !seen.isSettled) this.#settle(seen, key)
      else if (key !== undefined) this.#note(key)
    }
  }

  /** Notes a write that another hook has added, or that no hook ran for: that of a chained batch older than the hook. */
  #note(key: ByteString): void {
    this.#add(new SeenWrite(++this.#sequence)).settle(key)
  }

  readonly #onClear = (options: RangeOptions & { keyEncoding?: unknown }): void => {
    if (this.#moments.size === 0) return
    const write = new SeenWrite(++this.#sequence)
    write.range = fullRange(keySpaceOf(this.#root), options, options.keyEncoding)
    this.#add(write)
  }

  readonly #onClosed = (): void => {
    this.#unsettled.clear()
    this.#sequence++
    this.#forget()
  }
}
