// Paths for the sockets, files and databases of a program. All are removed when it exits.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { socketIn } from '../../../../tests/support/sockets.mjs'

let parent
let made = 0

/** A path in a new directory. */
export function temporaryPath(name) {
  return join(temporaryDirectory(), name)
}

/** A path at which a server can listen. */
export function temporarySocket() {
  return socketIn(temporaryDirectory())
}

/** A new directory. */
export function temporaryDirectory() {
  if (parent === undefined) {
    parent = mkdtempSync(join(tmpdir(), 'terrace-net-'))
    // Prepended: tape exits the process in its own listener, and later listeners do not run.
    process.prependListener('exit', () => rmSync(parent, { recursive: true, force: true }))
  }
  // Short, because paths of sockets are limited to about a hundred bytes.
  const directory = join(parent, `${made++}`)
  mkdirSync(directory)
  return directory
}
