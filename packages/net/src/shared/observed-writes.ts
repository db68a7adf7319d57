/**
 * Wraps a back-end and reports each write to it, in the order in which the writes take effect. In a shared database, the writes
 * of all processes pass through here, the owner's included.
 */

import type {
  Backend,
  BackendCondition,
  BackendSnapshot,
  Bytes,
  Operations,
  RangeDeletion
} from 'terrace-core'
import { copyOf } from '../protocol/bytes.js'
import { wireRange } from '../protocol/parts.js'
import { intervalOf } from '../server/key-range.js'
import { sharedBytesOf, type WriteListener, type WriteSource } from '../server/watching.js'

type Telling = (listener: WriteListener) => void

/** A write that is reported to listeners, unless it fails. */
interface Observed {
  readonly tell: Telling
  state: 'running' | 'done' | 'failed'
}

export class ObservedWrites implements WriteSource {
  readonly #backend: Backend
  readonly #listeners = new Set<WriteListener>()
  /** Calls that were not reported yet. A write that completes synchronously may finish before an earlier one was reported. */
  readonly #called: Observed[] = []

  constructor(backend: Backend) {
    this.#backend = backend
  }

  listen(listener: WriteListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  write(operations: Operations, sync: boolean): void | Promise<void> {
    return this.#observed(operations, this.#backend.write(operations, sync))
  }

  writeIf(
    conditions: readonly BackendCondition[],
    operations: Operations,
    sync: boolean
  ): void | Promise<void> {
    return this.#observed(operations, this.#backend.writeIf?.(conditions, operations, sync))
  }

  clear(range: RangeDeletion, snapshot?: BackendSnapshot): void | Promise<void> {
    const clearing = this.#backend.clear?.(range, snapshot)
    if (this.#listeners.size === 0) return clearing
    const interval = intervalOf(wireRange(copied(range)))
    const isPartial = range.limit >= 0 || snapshot !== undefined
    return this.#told(clearing, (listener) => listener.cleared(interval, isPartial))
  }

  #observed(operations: Operations, writing: void | Promise<void>): void | Promise<void> {
    if (this.#listeners.size === 0) return writing
    const written = operations.map((part) => (part === null ? null : copyOf(part)))
    const shared = sharedBytesOf(written)
    return this.#told(writing, (listener) => listener.written(written, shared))
  }

  #told(writing: void | Promise<void>, tell: Telling): void | Promise<void> {
    const told: Observed = { tell, state: 'running' }
    this.#called.push(told)
    if (writing === undefined) return this.#settle(told, 'done')
    return writing.then(
      () => this.#settle(told, 'done'),
      (error) => {
        this.#settle(told, 'failed')
        throw error
      }
    )
  }

  #settle(settled: Observed, state: Observed['state']): void {
    settled.state = state
    for (
      let first = this.#called[0];
      first !== undefined && first.state !== 'running';
      first = this.#called[0]
    ) {
      this.#called.shift()
      if (first.state === 'done') for (const listener of [...this.#listeners]) first.tell(listener)
    }
  }
}

/** Copies a range's bounds. */
function copied(range: RangeDeletion): RangeDeletion {
  const own = (bound: Bytes | undefined): Bytes | undefined =>
    bound === undefined ? undefined : copyOf(bound)
  const { gte, gt, lte, lt } = range
  return { ...range, gte: own(gte), gt: own(gt), lte: own(lte), lt: own(lt) }
}
