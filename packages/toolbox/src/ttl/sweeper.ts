/** Removes expired entries from a database. */
import { nextTurn, unref, warn } from '../platform.js'
import type { Due, DueLines } from './expiry-records.js'
import { REWRITTEN } from './write-hook.js'

/** What the sweeper needs from the database. */
export interface SweptDatabase {
  /** Whether to continue: false once the database closes. */
  isOpen(): boolean
  /** The lines of entries that have expired by now, after the line `after`. */
  due(after: Uint8Array | undefined): DueLines
  /**
   * Removes the entries in one batch, and returns how many were removed. An entry in `due` that has not expired stays; in a
   * batch of several, it may cause all of them to be refused.
   *
   * @throws LEVEL_HOOK_ERROR if a hook refuses the batch.
   */
  remove(due: Due[]): Promise<number>
}

/** The number of entries per batch: a few milliseconds of work, after which others get a turn. */
const BATCH_ENTRIES = 100

/**
 * A pass begins where the last one ended: removed lines remain until they are compacted away, and would have to be skipped
 * again. One in this many passes starts at the beginning, to find lines that a slow write added behind the pass.
 */
const PASSES_A_ROUND = 60

/** Removes expired entries, at intervals and on request. */
export class Sweeper {
  readonly #db: SweptDatabase
  readonly #intervalMs: number
  readonly #onError: (error: unknown) => void
  #timer: NodeJS.Timeout | undefined
  #isStopped = true
  #sweep: Promise<number> | undefined
  #passes = 0
  /** The last line that the previous pass reached. */
  #after: Uint8Array | undefined

  constructor(
    db: SweptDatabase,
    intervalMs: number,
    onError: (error: unknown) => void = (error) => warn(error as Error)
  ) {
    this.#db = db
    this.#intervalMs = intervalMs
    this.#onError = onError
  }

  /** Begins to search for expired entries at intervals. */
  start(): void {
    this.#isStopped = false
    this.#schedule()
  }

  /** Stops searching, and waits until the running pass has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#sweep?.catch(() => {})
  }

  /** Removes the entries that have expired by now, and returns how many. Concurrent calls share one pass. */
  sweep(): Promise<number> {
    this.#sweep ??= this.#pass().finally(() => {
      this.#sweep = undefined
    })
    return this.#sweep
  }

  #schedule(): void {
    if (this.#isStopped || this.#intervalMs === Infinity) return
    this.#timer = unref(setTimeout(() => this.#check(), this.#intervalMs))
  }

  async #check(): Promise<void> {
    try {
      await this.sweep()
    } catch (error) {
      if (this.#isOn) this.#onError(error)
    }
    this.#schedule()
  }

  get #isOn(): boolean {
    return !this.#isStopped && this.#db.isOpen()
  }

  async #pass(): Promise<number> {
    let removed = 0
    let after = this.#passes++ % PASSES_A_ROUND === 0 ? undefined : this.#after
    let failure: { error: unknown } | undefined
    const lines = this.#db.due(after)

    try {
      while (this.#isOn) {
        const due = await lines.next(BATCH_ENTRIES)
        if (due.length === 0) break

        const result = await this.#remove(due)
        removed += result.removed
        failure ??= result.failure
        after = due[due.length - 1]?.line
        await nextTurn()
      }
    } finally {
      await lines.close()
    }

    // The next pass retries refused entries.
    this.#after = failure === undefined ? after : undefined
    if (failure !== undefined) throw failure.error
    return removed
  }

  /**
   * Removes entries in a batch. If a hook refuses the batch, removes each entry separately, so that only the refused ones stay.
   */
  async #remove(due: Due[]): Promise<{ removed: number; failure?: { error: unknown } }> {
    try {
      return { removed: await this.#db.remove(due) }
    } catch (error) {
      if (!isRefused(error)) throw error
      return due.length === 1 ? { removed: 0, ...failureOf(error) } : this.#removeEach(due)
    }
  }

  async #removeEach(due: Due[]): Promise<{ removed: number; failure?: { error: unknown } }> {
    let removed = 0
    let failure: { error: unknown } | undefined

    for (const one of due) {
      const result = await this.#remove([one])
      removed += result.removed
      failure ??= result.failure
    }

    return failure === undefined ? { removed } : { removed, failure }
  }
}

function isRefused(error: unknown): boolean {
  return (error as { code?: string }).code === 'LEVEL_HOOK_ERROR'
}

/** A refusal counts as a failure, unless its cause is that the entry was written meanwhile. */
function failureOf(error: unknown): { failure?: { error: unknown } } {
  const { cause } = error as { cause?: { code?: string } }
  return cause?.code === REWRITTEN ? {} : { failure: { error } }
}
