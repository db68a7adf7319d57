/** The files of a database's log. They show whether the database exists, and whether it was written to. */

import { setTimeout } from 'node:timers/promises'
import type { Binding, Native } from './binding.js'

/**
 * How often a busy or unreachable store is tried, and the pause after the first attempt, in ms; it grows by as much
 * each time. Together half a second.
 */
const ATTEMPTS = 4
const PAUSE_MS = 80

export interface Log {
  /** The number of files. */
  readonly files: number
  /** Lists the files that were added since. Costs one request. */
  later(): Promise<Log>
}

/**
 * Lists the files of the log. This is the only call that soon fails if the store refuses, for example because of
 * wrong credentials: the engine retries all others indefinitely.
 *
 * @param after - The number of the last file to exclude.
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
