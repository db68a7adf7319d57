import { codedError } from 'terrace-core'
import type { LevelErrorCode } from '../../error-codes.js'
import { whatHasArrived } from './channel/link.js'
import { isHeld, whenFree } from './channel/locks.js'

/** The end of a worker, and what to say if it had not opened its database. */
export interface WorkerEnd {
  readonly error: Error
  /** Whether another worker would end for this page in the same way. */
  readonly isFinal: boolean
}

/**
 * Resolves when a worker has ended that has said a moment ago that it holds this lock. When the browser removes the data of a site, it may
 * remove the names of its locks, too: a page from before and a worker from after that do not see each other's.
 */
export async function whenEnded(lock: string, signal: AbortSignal): Promise<WorkerEnd> {
  const isSeen = await isHeld(lock).catch(() => true)
  await new Promise<void>((resolve) => whenFree(lock, signal, resolve))
  await whatHasArrived()
  return { error: isSeen ? diedOpening() : unseen(), isFinal: !isSeen }
}

function diedOpening(): Error {
  return codedError<LevelErrorCode>(
    'LEVEL_INTERNAL_ERROR',
    'The worker has ended while it opened the database'
  )
}

function unseen(): Error {
  return codedError<LevelErrorCode>(
    'LEVEL_STORAGE_LOST',
    'The browser has removed the data of the site, and the locks that this page sees. Reload the page to open databases again'
  )
}
