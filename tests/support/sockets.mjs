// Where a server of a test listens for programs of this machine.

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'

/** Whether a socket is a file. On Windows it is a pipe, which has none. */
export const hasSocketFile = process.platform !== 'win32'

/** The path of a new socket in a directory, or on Windows of a new pipe. */
export function socketIn(directory, name = 'socket') {
  return hasSocketFile ? join(directory, name) : `\\\\.\\pipe\\terrace-test-${randomUUID()}`
}
