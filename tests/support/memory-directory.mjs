// A directory in memory for tests that are not about the disk: they need not wait for one that others keep busy. What a killed process
// has written is there nevertheless, as it is on a disk: the system has it.

import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

/** Files in memory, on Linux. */
const IN_MEMORY = '/dev/shm'
const ROOM_BYTES = 2 ** 31

/** The directory if there is room in it, otherwise that of temporary files. */
export function memoryDirectory() {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY)
    return bavail * bsize >= ROOM_BYTES ? IN_MEMORY : tmpdir()
  } catch {
    return tmpdir()
  }
}
