/** A database that was opened to write. */

import type { Operations } from 'terrace-core'
import type { Binding, Native, NativeDb } from './binding.js'
import type { Calls } from './calls.js'
import { slateError } from './errors.js'
import { Flusher } from './flusher.js'
import type { Settings } from './options.js'
import { WriterState } from './state.js'
import { WriteQueue } from './write-queue.js'

/**
 * After so many files of the log, its contents are written as a table. Whoever opens the database reads the files that are left,
 * each with about five requests.
 */
const LOG_FILES = 100

/** If so many were there at the opening, the first flush does so. */
const MANY_FILES = 20

/** How a writer works. */
export interface WriteMode {
  readonly acknowledgesInMemory: boolean
  /** See {@link Flusher}. */
  readonly flushIntervalMs: number
  /** How many files the log had when the database was opened. */
  readonly logFiles: number
}

/** Opens a database to write, and fences a writer that has it open. */
export async function openToWrite(
  binding: Binding,
  store: Native,
  calls: Calls,
  { pollIntervalMs }: Settings
): Promise<NativeDb> {
  const builder = new binding.DbBuilder('', store)
  const settings = binding.Settings.default()
  try {
    // The flusher says when.
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
  /** Why writes that were acknowledged may be lost; undefined if none are. */
  #loss: unknown
  /** The writes that were called last: of those with `sync` or not, all earlier ones settle no later. */
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

  /** Does some work that writes by {@link apply}, in its place among the writes. */
  run(work: () => Promise<void>, sync: boolean): Promise<void> {
    const { refusal } = this.#queue
    if (refusal !== undefined) return Promise.reject(refusal)
    return this.#acknowledgement(this.#queue.barrier(work), sync)
  }

  /** Applies operations within the work of {@link run}. */
  async apply(operations: Operations): Promise<void> {
    await this.#calls.within('a write', this.#queue.apply(operations))
  }

  /** Settles when a write may be acknowledged that settles as `accepted` when the engine has applied it. */
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

  /** If a write fails, or its outcome is not known, there are no later ones. */
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
    // Nobody waits for the table: what it holds is durable. If it fails, later writes or the engine's own attempts tell.
    this.db.flush_with_options({ flush_type: 'MemTable' }).catch(() => undefined)
  }

  /** Why nothing is read any more, if a write has met a newer writer. The engine itself may learn of it a moment later. */
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
   * Closes it, once everything that was acknowledged is durable.
   *
   * @throws LEVEL_DEADLINE, LEVEL_FENCED and so on if writes that were acknowledged in memory are not. It is closed all the same.
   */
  async close(): Promise<void> {
    await this.#last
    try {
      // The engine's own shutdown flushes as well, but keeps quiet when that fails. The table makes the next opening cheap.
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
