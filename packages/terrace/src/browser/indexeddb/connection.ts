/** A connection to IndexedDB that opens itself again. */

import { codedError } from 'terrace-core'
import { type IndexedDbErrorCode, isLoss, typedError } from './errors.js'
import { type Expected, openDatabase, type Place } from './open-database.js'

/** A transaction's work on the store. The promise tells how the transaction has ended, or what it has read. */
export type Work<T> = (store: IDBObjectStore) => Promise<T>

/** When the connection is opened again, the database may be gone. */
const ANYTHING: Expected = { createIfMissing: true, errorIfExists: false }

export class Connection {
  readonly #place: Place
  readonly #emptied: () => void
  #database: IDBDatabase | undefined
  #opening: Promise<IDBDatabase> | undefined
  #isClosed = false
  #isUnsure = false

  /** @param emptied - Called when the database turns out to have been deleted by others, and was made anew. */
  constructor(place: Place, emptied: () => void) {
    this.#place = place
    this.#emptied = emptied
  }

  async open(expected: Expected): Promise<void> {
    this.#adopt((await openDatabase(this.#place, expected)).database)
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
   * @throws LEVEL_WRITES_REFUSED if an earlier write was lost twice, so that it is not known whether it is stored.
   */
  async run<T>(mode: IDBTransactionMode, sync: boolean, work: Work<T>): Promise<T> {
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
    this.#checkOpen()
    const { database, isNew } = await openDatabase(this.#place, ANYTHING)
    if (this.#isClosed) database.close()
    this.#checkOpen()
    if (isNew) this.#emptied()
    this.#adopt(database)
    return database
  }

  #checkOpen(): void {
    if (this.#isClosed) throw codedError('LEVEL_DATABASE_NOT_OPEN', 'Database is not open')
  }

  #adopt(database: IDBDatabase): void {
    this.#database = database
    // The browser has closed it, as Safari does to pages in the background.
    database.onclose = () => this.#drop(database)
    // Somebody wants to delete it or to raise its version, and waits for this.
    database.onversionchange = () => this.#drop(database)
  }

  #drop(database: IDBDatabase | undefined): void {
    database?.close()
    if (this.#database === database) this.#database = undefined
  }
}

function refusedError(): Error {
  return codedError<IndexedDbErrorCode>(
    'LEVEL_WRITES_REFUSED',
    'The browser has lost an earlier write twice, which may be stored or not: close the database and open it again'
  )
}
