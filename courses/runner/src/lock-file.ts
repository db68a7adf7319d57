/**
 * A lock between processes, held for the few milliseconds of a change. If two find the lock of a dead process in the same moment, both
 * may get it: the later change then replaces the earlier one, and the file stays whole.
 */

import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'

/** A holder that is older has died, or is too slow to wait for. */
const MAX_AGE_MS = 10_000

const WAIT_MS = 10

/**
 * Calls `action` while no other process holds the lock `path`. A lock that a dead process left is removed.
 *
 * @throws if the lock stays unavailable for half a minute.
 */
export function withLock<T>(path: string, action: () => T): T {
  const deadline = Date.now() + 3 * MAX_AGE_MS
  while (!acquired(path)) {
    if (isAbandoned(path)) rmSync(path, { force: true })
    else sleep(WAIT_MS)
    if (Date.now() > deadline) throw new Error(`${path} cannot be made, or is held by another process`)
  }
  try {
    return action()
  } finally {
    rmSync(path, { force: true })
  }
}

function acquired(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    // Windows says EPERM while the file is being removed.
    if (['EEXIST', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}

function isAbandoned(path: string): boolean {
  try {
    if (Date.now() - statSync(path).mtimeMs > MAX_AGE_MS) return true
    const holder = Number(readFileSync(path, 'utf8'))
    return holder > 0 && !isAlive(holder)
  } catch {
    // Its holder has removed it meanwhile.
    return false
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function sleep(timeMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, timeMs)
}
