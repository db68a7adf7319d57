/** A database opened for writing. */

import type { Operations } from 'terrace-core'
import type { Binding, Native, NativeDb } from './binding.js'
import type { Calls } from './calls.js'
import { slateError } from './errors.js'
import { Flusher } from './flusher.js'
import type { Settings } from './options.js'
import { WriterState } from './state.js'
import { WriteQueue } from './write-queue.js'

/**
 * After this many files, the contents of the log are written as a table. The next opening reads the remaining files, each with
 * about five requests.
 */
const LOG_FILES = 100

/** If the log had this many files at the opening, the first flush writes them as a table. */
const MANY_FILES = 20

/** The settings of a writer. */
export interface WriteMode {
  readonly acknowledgesInMemory: boolean
  /** See {@link Flusher}. */
  readonly flushIntervalMs: number
  /** The number of log files when the database was opened. */
  readonly logFiles: number
}

/** Opens a database for writing, and fences a writer that has it open. */
export async function openToWrite(
  binding: Binding,
  store: Native,
  calls: Calls,
  { pollIntervalMs }: Settings
): Promise<NativeDb> {
  const builder = new binding.DbBuilder('', store)
  const settings = binding.Settings.default()
  try {
    // The flusher triggers flushes.
    settings.set('flush_interval', 'null')
    settings.set('manifest_poll_interval', JSON.stringify(`${pollIntervalMs}ms`))
    settings.set('compactor_options.poll_interval', JSON.stringify(`${pollIntervalMs}ms`))
    builder.with_settings(settings)
    const opening = builder.build()
    return await calls.within('open()', opening).catch((error) => {
      // It may succeed later.
      opening.then(
        (db) => db.shutdown(),
        () => undefined
      )
      throw error
    })
  } finally {
    builder.dispose()
    settings.dispose()
  }
}

export class Writer {
  readonly db: NativeDb
  readonly #calls: Calls
  readonly #acknowledgesInMemory: boolean
  readonly #queue: WriteQueue
  readonly #flusher: Flusher
  #logFiles: number
  /** Why acknowledged writes may be lost; undefined if none are. */
  #loss: unknown
  /** The writes called last, with or without `sync`: all earlier ones settle no later. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(db: NativeDb, binding: Binding, calls: Calls, mode: WriteMode) {
    this.db = db
    this.#calls = calls
    this.#acknowledgesInMemory = mode.acknowledgesInMemory
    this.#logFiles = mode.logFiles < MANY_FILES ? mode.logFiles : LOG_FILES
    this.#queue = new WriteQueue({
      newBatch: () => new binding.WriteBatch(),
      accept: (batch) => db.write_with_options(batch, { await_durable: false })
    })
    this.#flusher = new Flusher(() => this.#flush(), mode.flushIntervalMs)
  }

  write(operations: Operations, sync: boolean): Promise<void> {
    const { refusal } = this.#queue
    if (refusal !== undefined) return Promise.reject(refusal)
    const accepted = operations.length === 0 ? this.#queue.barrier(nothing) : this.#queue.write(operations)
    return this.#acknowledgement(accepted, sync)
  }

  /** Runs work that writes with {@link apply}, in its place among the writes. */
  run(work: () => Promise<void>, sync: boolean): Promise<void> {
    const { refusal } = this.#queue
    if (refusal !== undefined) return Promise.reject(refusal)
    return this.#acknowledgement(this.#queue.barrier(work), sync)
  }

  /** Applies operations within the work of {@link run}. */
  async apply(operations: Operations): Promise<void> {
    await this.#calls.within('a write', this.#queue.apply(operations))
  }

  /** Settles when a write may be acknowledged; `accepted` settles when the engine has applied it. */
  #acknowledgement(accepted: Promise<void>, sync: boolean): Promise<void> {
    const durable = accepted.then(() => this.#flusher.durable(sync))
    const acknowledged = this.#settled(this.#acknowledgesInMemory && !sync ? accepted : durable)
    if (this.#acknowledgesInMemory && !sync) {
      this.#settled(durable).catch((error) => {
        this.#loss ??= error
      })
    }
    this.#last = acknowledged.catch(() => undefined)
    return acknowledged
  }

  /** After a write that failed, or whose outcome is unknown, no more writes are accepted. */
  async #settled(write: Promise<void>): Promise<void> {
    try {
      await this.#calls.within('a write', write)
    } catch (error) {
      this.#queue.refuse(this.#refusalAfter(error as Error))
      throw error
    }
  }

  #refusalAfter(error: Error & { code?: string }): Error {
    if (error.code === 'LEVEL_FENCED' || error.code === 'LEVEL_WRITES_REFUSED') return error
    const { location } = this.#calls
    return slateError(
      'LEVEL_WRITES_REFUSED',
      `The outcome of an earlier write is not known: close the database and open it again: ${location}`,
      location,
      error
    )
  }

  async #flush(): Promise<void> {
    await this.db.flush_with_options({ flush_type: 'Wal' })
    if (++this.#logFiles < LOG_FILES) return
    this.#logFiles = 0
    // The result is not awaited: the data is durable already. A failure shows in later writes, or the engine retries.
    this.db.flush_with_options({ flush_type: 'MemTable' }).catch(() => undefined)
  }

  /** Why reads are refused, if a write has met a newer writer. The engine itself may notice that slightly later. */
  get fenced(): Error | undefined {
    const refusal: (Error & { code?: string }) | undefined = this.#queue.refusal
    return refusal?.code === 'LEVEL_FENCED' ? refusal : undefined
  }

  /** The state with all acknowledged writes, and none that is called later. */
  snapshot(): WriterState {
    const opening = this.fenced === undefined ? this.db.snapshot() : Promise.reject(this.fenced)
    this.#queue.holdUntil(opening)
    return new WriterState(opening)
  }

  /**
   * Closes the database once everything acknowledged is durable.
   *
   * @throws LEVEL_DEADLINE, LEVEL_FENCED and so on if writes acknowledged in memory are not durable. It is closed nevertheless.
   */
  async close(): Promise<void> {
    await this.#last
    try {
      // The engine's own shutdown flushes too, but hides failures. The table makes the next opening cheap.
      await this.#calls.within('close()', this.db.flush_with_options({ flush_type: 'MemTable' }))
    } catch (error) {
      if (this.#acknowledgesInMemory) this.#loss ??= error
    }
    await this.#calls.within('close()', this.db.shutdown()).catch(() => undefined)
    this.db.dispose()
    if (this.#loss !== undefined) throw this.#loss
  }
}

function nothing(): void {}
