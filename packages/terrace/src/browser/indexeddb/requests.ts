/** The ends of requests and transactions of IndexedDB as promises. */

import { lossError } from './errors.js'

/** Resolves with the results of requests, in order. All are of one transaction, which needs no further ones. */
export function resultsOf(transaction: IDBTransaction, requests: readonly IDBRequest[]): Promise<unknown[]> {
  return new Promise((resolve, reject) => {
    transaction.onabort = () => reject(transaction.error ?? lossError())
    const last = requests.at(-1)
    // They succeed in the order in which they were made.
    if (last === undefined) resolve([])
    else last.onsuccess = () => resolve(requests.map(({ result }) => result))
    transaction.commit()
  })
}

/** Resolves with the result of a request, of a transaction that may need further ones. */
export function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error ?? lossError())
  })
}

/** Resolves once a transaction is stored, and rejects if it is undone. */
export function stored(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve()
    transaction.onabort = () => reject(transaction.error ?? lossError())
  })
}

/**
 * Makes the requests of a transaction, and commits it. Resolves once it is stored. If making one of them throws, the transaction is
 * undone, and the promise rejects with that error.
 */
export function committed(transaction: IDBTransaction, makeRequests: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let refusal: unknown
    transaction.oncomplete = () => resolve()
    transaction.onabort = () => reject(refusal ?? transaction.error ?? lossError())
    try {
      makeRequests()
      transaction.commit()
    } catch (error) {
      refusal = error
      transaction.abort()
    }
  })
}
