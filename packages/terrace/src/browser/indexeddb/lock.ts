/** The lock that makes a database the only writer of what it has open, among all tabs and workers of the site. */

import { codedError } from 'terrace-core'
import type { IndexedDbErrorCode } from './errors.js'

/** Gives a lock back. Resolves once others can take it. */
export type Release = () => Promise<void>

/**
 * Takes the lock of a database of IndexedDB, without waiting for it.
 *
 * @param mayBeMissing - Whether to go on without one if the browser has no locks here.
 * @throws LEVEL_LOCKED if somebody has it.
 * @throws LEVEL_NOT_SUPPORTED if the browser has no locks here, as in pages that do not come by HTTPS or from this machine.
 */
export function takeLock(name: string, mayBeMissing: boolean): Promise<Release> {
  const locks = globalThis.navigator?.locks
  if (locks === undefined && mayBeMissing) return Promise.resolve(async () => {})
  return new Promise((resolve, reject) => {
    if (locks === undefined) throw missingError()
    const ended = locks.request(`terrace:${name}`, { ifAvailable: true }, (lock) => {
      if (lock === null) throw lockedError(name)
      return new Promise<void>((release) => {
        resolve(() => {
          release()
          return ended
        })
      })
    })
    ended.catch(reject)
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
