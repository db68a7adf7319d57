/** The lock that makes a database the only writer of what it has open, among all tabs and workers of the site. */

import { codedError } from 'terrace-core'
import { storageError } from '../errors.js'
import type { IndexedDbErrorCode } from './errors.js'

/** Gives a lock back. Resolves once others can take it. */
export type Release = () => Promise<void>

/** How long a browser may take to give back the lock of a tab or worker that has just ended. */
const ENDED_MS = 1000

/** The databases that are open here. Nobody needs to wait for their locks. */
const open = new Set<string>()

/**
 * Takes the lock of a database of IndexedDB. Waits for it only as long as its holder may have ended already.
 *
 * @param mayBeMissing - Whether to go on without one if the browser has no locks here.
 * @throws LEVEL_LOCKED if somebody has it.
 * @throws LEVEL_NOT_SUPPORTED if the browser has no locks here, as in pages that do not come by HTTPS or from this machine.
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
    'navigator.locks is missing, as in pages that are not a secure context, so other tabs cannot be kept from writing: ' +
      "with the option 'allowMissingLocks' it is for you to see to that"
  )
}
