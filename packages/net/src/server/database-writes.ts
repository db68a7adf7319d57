/**
 * All writes to the served database, by any program, from the events `write` and `clear` of its root. Only the root sees the writes
 * through every object, including sublevels.
 */

import { type Interval, intersection, intervalOf, intervalOfPrefix, isEmpty } from './key-range.js'
import { prefixOf, rootOf } from './place.js'
import type { AnyLevel, Servable } from './served-database.js'
import { sharedBytesOf, type WriteListener, type WriteSource } from './watching.js'

type Encoded = string | Uint8Array

/** An operation of the event `write`. */
interface WrittenOperation {
  readonly type: 'put' | 'del'
  readonly encodedKey: Encoded
  readonly encodedValue?: Encoded
}

/** The argument of the event `clear`: the options of the call. */
interface ClearOptions {
  readonly keyEncoding?: string
  readonly limit?: number
  readonly snapshot?: unknown
  readonly [bound: string]: unknown
}

/** Listens to a database once on behalf of all subscriptions. */
export class DatabaseWrites implements WriteSource {
  readonly #root: AnyLevel
  readonly #prefix: Buffer
  readonly #listeners = new Set<WriteListener>()

  constructor(db: Servable) {
    const any = db as AnyLevel
    this.#root = rootOf(any)
    this.#prefix = prefixOf(any)
  }

  listen(listener: WriteListener): () => void {
    if (this.#listeners.size === 0) {
      this.#root.on('write', this.#onWrite)
      this.#root.on('clear', this.#onClear)
    }
    this.#listeners.add(listener)
    return () => {
      if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return
      this.#root.off('write', this.#onWrite)
      this.#root.off('clear', this.#onClear)
    }
  }

  readonly #onWrite = (operations: readonly unknown[]): void => {
    const written: Array<Uint8Array | null> = []
    for (const { type, encodedKey, encodedValue } of operations as readonly WrittenOperation[]) {
      const key = this.#local(copied(encodedKey))
      if (key !== undefined) written.push(key, type === 'del' ? null : copied(encodedValue as Encoded))
    }
    if (written.length === 0) return
    const shared = sharedBytesOf(written)
    for (const listener of [...this.#listeners]) listener.written(written, shared)
  }

  readonly #onClear = (options: unknown): void => {
    const { limit, snapshot } = options as ClearOptions
    const interval = this.#localInterval(this.#clearedInterval(options as ClearOptions))
    if (isEmpty(interval)) return
    const isPartial = (Number.isInteger(limit) && (limit as number) >= 0) || snapshot !== undefined
    for (const listener of [...this.#listeners]) listener.cleared(interval, isPartial)
  }

  /** Converts a key of the root to a key of the served database. Undefined if it is outside. */
  #local(key: Buffer): Buffer | undefined {
    const { length } = this.#prefix
    return length === 0 || key.subarray(0, length).equals(this.#prefix) ? key.subarray(length) : undefined
  }

  /** The interval that was cleared, in keys of the root. */
  #clearedInterval(options: ClearOptions): Interval {
    const encoding = this.#root.keyEncoding(options.keyEncoding as 'buffer')
    const bound = (name: string): Buffer | null =>
      Object.hasOwn(options, name) ? copied(encoding.encode(options[name] as never) as Encoded) : null
    return intervalOf([bound('gte'), bound('gt'), bound('lte'), bound('lt')])
  }

  /** The part of an interval of the root that is in the served database. */
  #localInterval(interval: Interval): Interval {
    const { length } = this.#prefix
    if (length === 0) return interval
    const whole = intervalOfPrefix(this.#prefix)
    const { start, end } = intersection(interval, whole)
    const isToEnd = Buffer.compare(end as Uint8Array, whole.end as Uint8Array) === 0
    return { start: start.subarray(length), end: isToEnd ? null : (end as Uint8Array).subarray(length) }
  }
}

/**
 * Copies bytes: events are kept for a while, and the bytes belong to the writer. A database that is not Terrace's may report other
 * views than arrays of bytes.
 */
function copied(encoded: string | ArrayBufferView): Buffer {
  if (typeof encoded === 'string') return Buffer.from(encoded)
  return Buffer.from(new Uint8Array(encoded.buffer, encoded.byteOffset, encoded.byteLength))
}
