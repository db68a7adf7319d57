// Paths for the sockets, files and databases of a program. All are removed when it ends.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

let parent
let made = 0

/** A path in a new directory. */
export function temporaryPath(name) {
  if (parent === undefined) {
    parent = mkdtempSync(join(tmpdir(), 'terrace-net-'))
    process.on('exit', () => rmSync(parent, { recursive: true, force: true }))
  }
  // Short, because paths of sockets can be no longer than a hundred bytes or so.
  const directory = join(parent, `${made++}`)
  mkdirSync(directory)
  return join(directory, name)
}
