/** Opening and deleting databases of IndexedDB, laid out as browser-level lays them out: one store, named after the location. */

import { codedError } from 'terrace-core'
import { type IndexedDbErrorCode, lossError, typedError } from './errors.js'

/** Where a database is. */
export interface Place {
  /** The name of the database of IndexedDB. */
  readonly name: string
  /** The name of its object store. */
  readonly store: string
  /** The version to open; undefined for the one that it has. */
  readonly version: number | undefined
}

/** Whether the database may be missing, and whether it may be there. */
export interface Expected {
  readonly createIfMissing: boolean
  readonly errorIfExists: boolean
}

/** Opens a database. Waits while others have it open with an older version. */
export function openDatabase(place: Place, expected: Expected): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = requested(() => indexedDB.open(place.name, place.version))
    let isNew = false
    let refusal: Error | undefined

    request.onupgradeneeded = () => {
      if (request.result.objectStoreNames.contains(place.store)) return
      isNew = true
      if (expected.createIfMissing) request.result.createObjectStore(place.store)
      else {
        refusal = codedError<IndexedDbErrorCode>(
          'LEVEL_DATABASE_MISSING',
          `Database does not exist: ${place.name}`
        )
        // Nothing is made then.
        request.transaction?.abort()
      }
    }
    request.onerror = () => reject(refusal ?? typedError(request.error ?? lossError()))
    request.onsuccess = () => {
      const database = request.result
      refusal = refusalOf(database, place, expected, isNew)
      if (refusal === undefined) resolve(database)
      else {
        database.close()
        reject(refusal)
      }
    }
  })
}

function refusalOf(
  database: IDBDatabase,
  { name, store }: Place,
  { errorIfExists }: Expected,
  isNew: boolean
): Error | undefined {
  if (!database.objectStoreNames.contains(store)) {
    return codedError<IndexedDbErrorCode>(
      'LEVEL_UNSUPPORTED_FORMAT',
      `The database ${name} is not one of Level: it has no store ${store}`
    )
  }
  if (!isNew && errorIfExists) {
    return codedError<IndexedDbErrorCode>(
      'LEVEL_DATABASE_EXISTS',
      `Database exists already, and the option 'errorIfExists' is true: ${name}`
    )
  }
  return undefined
}

/** Deletes a database, or does nothing if it does not exist. Waits until others have closed it. */
export function deleteDatabase(name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = requested(() => indexedDB.deleteDatabase(name))
    request.onsuccess = () => resolve()
    request.onerror = () => reject(typedError(request.error ?? lossError()))
  })
}

/** Begins a request. A browser that denies a page its storage throws at once. */
function requested(begin: () => IDBOpenDBRequest): IDBOpenDBRequest {
  try {
    return begin()
  } catch (error) {
    throw typedError(error)
  }
}
