/** A connection to IndexedDB that opens itself again. */

import { type CodedError, codedError } from 'terrace-core'
import { lostError } from '../errors.js'
import { type IndexedDbErrorCode, isLoss, typedError } from './errors.js'
import { type Expected, openDatabase, type Place } from './open-database.js'

/** A transaction's work on the store. The promise settles with the outcome of the transaction, or with what it has read. */
export type Work<T> = (store: IDBObjectStore) => Promise<T>

/**
 * How often to try to open a database again, and the pause between. The browser opens none while it removes data, or while its
 * storage process restarts.
 */
const ATTEMPTS = 20
const PAUSE_MS = 100

/** A lost connection is reopened only to a database that exists. */
const EXISTING: Expected = { createIfMissing: false, errorIfExists: false }

export class Connection {
  readonly #place: Place
  readonly #onLost: (error: Error) => void
  #database: IDBDatabase | undefined
  #opening: Promise<IDBDatabase> | undefined
  #isClosed = false
  #isUnsure = false
  /** Why all calls fail from now on: the database is gone. */
  #loss: Error | undefined

  /** @param onLost - Called when the database turns out to have been deleted by the browser or by others. */
  constructor(place: Place, onLost: (error: Error) => void) {
    this.#place = place
    this.#onLost = onLost
  }

  async open(expected: Expected): Promise<void> {
    this.#adopt(await openDatabase(this.#place, expected))
  }

  /** Closes the connection once its transactions have ended. */
  close(): void {
    this.#isClosed = true
    this.#drop(this.#database)
  }

  /**
   * Does work in a transaction. It is made within the call, unless the connection has to be opened first. If the connection is
   * lost meanwhile, the work is done again, once: nothing of the transaction is stored then, or all of it, which does no harm.
   *
   * @throws LEVEL_STORAGE_LOST if the database is gone.
   * @throws LEVEL_WRITES_REFUSED if an earlier write was lost twice, so that it is not known whether it is stored.
   */
  async run<T>(mode: IDBTransactionMode, sync: boolean, work: Work<T>): Promise<T> {
    if (this.#loss !== undefined) throw this.#loss
    if (mode === 'readwrite' && this.#isUnsure) throw refusedError()
    try {
      return await this.#attempt(mode, sync, work)
    } catch (error) {
      if (!isLoss(error)) throw typedError(error)
    }

    try {
      return await this.#attempt(mode, sync, work)
    } catch (error) {
      if (mode === 'readwrite') this.#isUnsure = true
      throw typedError(error)
    }
  }

  async #attempt<T>(mode: IDBTransactionMode, sync: boolean, work: Work<T>): Promise<T> {
    const database = this.#database ?? (await this.#opened())
    try {
      return await work(this.#begin(database, mode, sync))
    } catch (error) {
      if (isLoss(error)) this.#drop(database)
      throw error
    }
  }

  #begin(database: IDBDatabase, mode: IDBTransactionMode, sync: boolean): IDBObjectStore {
    const { store } = this.#place
    const transaction = database.transaction(store, mode, { durability: sync ? 'strict' : 'relaxed' })
    return transaction.objectStore(store)
  }

  #opened(): Promise<IDBDatabase> {
    this.#opening ??= this.#reopen().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  async #reopen(): Promise<IDBDatabase> {
    for (let attempt = 1; ; attempt++) {
      this.#checkOpen()
      const database = await openDatabase(this.#place, EXISTING).catch((error) => {
        if (attempt === ATTEMPTS || !isLoss(error.cause)) this.#fail(error)
      })
      if (database === undefined) await pause()
      else {
        if (this.#isClosed) database.close()
        this.#checkOpen()
        this.#adopt(database)
        return database
      }
    }
  }

  /** Checks whether the database still exists, without waiting for the next call. */
  async #look(): Promise<void> {
    await pause()
    if (this.#database === undefined && this.#loss === undefined) await this.#opened().catch(() => {})
  }

  #fail(error: CodedError<IndexedDbErrorCode>): never {
    if (error.code !== 'LEVEL_DATABASE_MISSING') throw error
    this.#loss = lostError()
    this.#onLost(this.#loss)
    throw this.#loss
  }

  #checkOpen(): void {
    if (this.#isClosed) throw codedError('LEVEL_DATABASE_NOT_OPEN', 'Database is not open')
  }

  #adopt(database: IDBDatabase): void {
    this.#database = database
    // The browser has closed it, as Safari does to pages in the background, or has removed the database.
    database.onclose = () => {
      this.#drop(database)
      void this.#look()
    }
    // Another connection wants to delete it or to raise its version, and waits for this.
    database.onversionchange = () => this.#drop(database)
  }

  #drop(database: IDBDatabase | undefined): void {
    database?.close()
    if (this.#database === database) this.#database = undefined
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
}

function refusedError(): Error {
  return codedError<IndexedDbErrorCode>(
    'LEVEL_WRITES_REFUSED',
    'The browser has lost an earlier write twice, which may be stored or not: close the database and open it again'
  )
}
