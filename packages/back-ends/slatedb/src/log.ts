/** The files of a database's log, which tell whether there is a database, and whether something was written. */

import { setTimeout } from 'node:timers/promises'
import type { Binding, Native } from './binding.js'

/** A store that is busy or cut off is asked again, so often and after such pauses: together half a second. */
const ATTEMPTS = 4
const PAUSE_MS = 80

export interface Log {
  /** How many files were there. */
  readonly files: number
  /** The files that have been added since. Costs one request. */
  later(): Promise<Log>
}

/**
 * Lists the files of the log. It is the one call that soon fails if the store refuses, for example because of wrong
 * credentials: the engine repeats all others without end.
 *
 * @param after - The number of the last file that does not count.
 */
export async function logOf(binding: Binding, store: Native, after: number | undefined): Promise<Log> {
  const reader = new binding.WalReader('', store)
  try {
    const files = await again(() => reader.list(after === undefined ? undefined : after + 1, undefined))
    let last = after ?? 0
    for (const file of files) {
      last = Math.max(last, Number(file.id()))
      file.dispose()
    }
    return { files: files.length, later: () => logOf(binding, store, last) }
  } finally {
    reader.dispose()
  }
}

async function again<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call()
    } catch (error) {
      if (attempt === ATTEMPTS) throw error
      await setTimeout(PAUSE_MS * attempt)
    }
  }
}
