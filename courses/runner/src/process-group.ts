/** Processes that end with everything they started. */

import { type ChildProcess, spawnSync } from 'node:child_process'

const isWindows = process.platform === 'win32'

/** A process leads a separate group, except on Windows, which finds its children by other means. */
export const groupOptions = { detached: !isWindows, windowsHide: true } as const

const running = new Set<ChildProcess>()

/** Has a process that was started with `groupOptions` ended at the latest with this one. */
export function watch(child: ChildProcess): void {
  running.add(child)
  child.once('exit', () => {
    // What it started has no one who waits for it.
    killGroup(child)
    running.delete(child)
  })
}

/** Ends a process and what it started. A child process that made another group is not found. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  if (isWindows) {
    spawnSync('taskkill', ['/pid', String(child.pid), '/t', '/f'], { stdio: 'ignore' })
    return
  }
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // All of them have ended.
  }
}

process.on('exit', () => {
  for (const child of running) killGroup(child)
})
