// Other processes.

import { readFileSync } from 'node:fs'

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
