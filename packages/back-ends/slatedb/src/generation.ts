/** A reader of the engine, as long as it shows one state. */

import { setTimeout } from 'node:timers/promises'
import type { Binding, Native, NativeReader, Source } from './binding.js'
import type { Calls } from './calls.js'
import { slateError } from './errors.js'
import { type Log, logOf } from './log.js'

/** How long the engine gets at least, after opening, for its first check for new data. */
const SETTLE_MS = 30

/**
 * The engine's reader follows the writer in place: once right after it was opened, and then at an interval. To keep its state,
 * it is opened with an interval longer than the state is needed, and used only after it has settled. Each read then checks that
 * the state has not changed, by the sequence number of the last visible write. The engine raises this number before it shows the
 * write.
 */
export class Generation {
  readonly #reader: NativeReader
  readonly #calls: Calls
  readonly #log: Log
  readonly #lifetimeMs: number
  readonly #openedAt = performance.now()
  readonly #lastWrite: number | bigint
  /** The number of users: the database, and each snapshot or cursor. */
  #users = 1

  private constructor(reader: NativeReader, calls: Calls, log: Log, lifetimeMs: number) {
    this.#reader = reader
    this.#calls = calls
    this.#log = log
    this.#lifetimeMs = lifetimeMs
    this.#lastWrite = this.#reader.status().durable_seq
  }

  static async open(binding: Binding, store: Native, calls: Calls, lifetimeMs: number): Promise<Generation> {
    const log = await calls.within('open()', logOf(binding, store, undefined))
    const start = performance.now()
    const builder = new binding.DbReaderBuilder('', store)
    try {
      builder.with_options({
        manifest_poll_interval_ms: 2 * lifetimeMs,
        checkpoint_lifetime_ms: 4 * lifetimeMs,
        max_memtable_bytes: 64 * 1024 * 1024,
        skip_wal_replay: false
      })
      const opening = builder.build()
      const reader = await calls.within('open()', opening).catch((error) => {
        opening.then(
          (reader) => reader.shutdown(),
          () => undefined
        )
        throw error
      })
      await setTimeout(SETTLE_MS + (performance.now() - start))
      return new Generation(reader, calls, log, lifetimeMs)
    } finally {
      builder.dispose()
    }
  }

  get source(): Source {
    return this.#reader
  }

  get ageMs(): number {
    return performance.now() - this.#openedAt
  }

  /** Whether the writer has stored anything since. */
  async isOutdated(): Promise<boolean> {
    const { files } = await this.#calls.within('refresh()', this.#log.later())
    return files > 0
  }

  /**
   * Reads from this state.
   *
   * @throws LEVEL_SNAPSHOT_LOST if it is too old, or has changed nevertheless.
   */
  async exactly<T>(read: (source: Source) => Promise<T>): Promise<T> {
    this.#check()
    const result = await read(this.#reader)
    this.#check()
    return result
  }

  #check(): void {
    if (this.ageMs < this.#lifetimeMs && this.#reader.status().durable_seq === this.#lastWrite) return
    const { location } = this.#calls
    throw slateError(
      'LEVEL_SNAPSHOT_LOST',
      `The state that a snapshot or iterator shows is too old: open it again: ${location}`,
      location
    )
  }

  retain(): void {
    this.#users++
  }

  /** Closes the reader after its last user has released it. */
  async release(): Promise<void> {
    if (--this.#users > 0) return
    // Otherwise, the files it pins are released when its checkpoint expires.
    await this.#calls.within('close()', this.#reader.shutdown()).catch(() => undefined)
    this.#reader.dispose()
  }
}
