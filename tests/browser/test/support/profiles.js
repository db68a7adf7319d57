// Where browsers keep what they keep: in memory if there is room, so that tests need not wait for a disk that others keep busy. What a killed
// browser has written is there nevertheless, as it is on a disk: the system has it.

import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Files in memory, on Linux. */
const IN_MEMORY = '/dev/shm'
const ROOM_BYTES = 2 ** 31

export const makeProfile = (name) =>
  mkdtempSync(join(hasRoom(IN_MEMORY) ? IN_MEMORY : tmpdir(), `terrace-${name}-`))

/** A browser may write to its profile a little longer than it lives. */
export const removeProfile = (profile) =>
  rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })

function hasRoom(directory) {
  try {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize >= ROOM_BYTES
  } catch {
    return false
  }
}
