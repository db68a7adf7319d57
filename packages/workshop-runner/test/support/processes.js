// Waiting for processes.

import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const DEADLINE_MS = 60_000

/** Waits until `condition` returns what is not false, and returns that. */
export async function until(condition, what) {
  const end = Date.now() + DEADLINE_MS
  for (;;) {
    const value = condition()
    if (value) return value
    if (Date.now() > end) throw new Error(`waited in vain until ${what}`)
    await sleep(20)
  }
}

/** Whether a process runs. One that nobody has waited for yet does not. */
export function isRunning(pid) {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  if (process.platform !== 'linux') return true
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
