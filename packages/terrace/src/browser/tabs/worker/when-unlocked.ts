import type { CodedError } from 'terrace-core'
import type { LevelErrorCode } from '../../../error-codes.js'

/** How long a browser may keep the files of a worker that has just ended. */
const LOCKED_MS = 5000
const ATTEMPT_MS = 10

/**
 * Opens, repairs or removes a database whose last worker may have ended a moment ago: its files stay locked a little longer.
 *
 * @param attempt - If the files are locked, fails with LEVEL_LOCKED before it has done anything.
 * @param isUnwanted - Whether the result is no longer wanted.
 * @throws LEVEL_LOCKED if it is still locked after some seconds.
 */
export async function whenUnlocked<T>(
  attempt: () => Promise<T>,
  isUnwanted: () => boolean = () => false
): Promise<T> {
  const deadline = performance.now() + LOCKED_MS
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      const isLocked = (error as Partial<CodedError<LevelErrorCode>>).code === 'LEVEL_LOCKED'
      if (!isLocked || isUnwanted() || performance.now() > deadline) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, ATTEMPT_MS))
  }
}
