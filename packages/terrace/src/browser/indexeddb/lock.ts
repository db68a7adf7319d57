/** The lock that ensures a single writer of a database among all tabs and workers of the site. */

import { codedError } from 'terrace-core'
import { storageError } from '../errors.js'
import type { IndexedDbErrorCode } from './errors.js'

/** Whether the browser has locks here. If so, an open database is the only one that writes. */
export const hasLocks = (): boolean => globalThis.navigator?.locks !== undefined

/** Releases a lock. Resolves once others can take it. */
export type Release = () => Promise<void>

/** How long a browser may take to release the lock of a tab or worker that has just ended. */
const ENDED_MS = 1000

/** The databases that are open here. Waiting for their locks is pointless. */
const open = new Set<string>()

/**
 * Takes the lock of an IndexedDB database. Waits no longer than the browser needs to release it after its holder has ended.
 *
 * @param mayBeMissing - Whether to continue without one if the browser has no locks here.
 * @throws LEVEL_LOCKED if another tab, worker or instance holds it.
 * @throws LEVEL_NOT_SUPPORTED if the browser has no locks here, as in pages not served over HTTPS or from this machine.
 */
export async function takeLock(name: string, mayBeMissing: boolean): Promise<Release> {
  const locks = globalThis.navigator?.locks
  if (locks === undefined) {
    if (mayBeMissing) return async () => {}
    throw missingError()
  }
  if (open.has(name)) throw lockedError(name)

  const waiting = new AbortController()
  const timer = setTimeout(() => waiting.abort(), ENDED_MS)
  return new Promise((resolve, reject) => {
    const ended = locks.request(`terrace:${name}`, { signal: waiting.signal }, () => {
      clearTimeout(timer)
      open.add(name)
      return new Promise<void>((release) => {
        resolve(() => {
          open.delete(name)
          release()
          return ended
        })
      })
    })
    ended.catch((error) => reject(waiting.signal.aborted ? lockedError(name) : storageError(error)))
  })
}

function lockedError(name: string): Error {
  return codedError<IndexedDbErrorCode>(
    'LEVEL_LOCKED',
    `The database ${name} is open in another tab, worker or instance: close it there first`
  )
}

function missingError(): Error {
  return codedError(
    'LEVEL_NOT_SUPPORTED',
    'navigator.locks is missing, as in pages that are not a secure context, so other tabs could write as well: ' +
      "serve the page over HTTPS, or set 'allowMissingLocks' and make sure that only one tab writes"
  )
}
