// Processes and directories that end with this program, however it ends.
//
// A normal exit, a signal and an uncaught error all reach the event `exit`. If the program is killed, the kernel kills the
// servers (`setpriv --pdeathsig`); their directory then stays in the directory for temporary files.

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asServerUser } from './installation.js'

const children = new Set()
const directories = new Set()
let isWatching = false

/** Makes a directory of this program that only its user can read. */
export function ownDirectory(name) {
  watch()
  const path = mkdtempSync(join(tmpdir(), `${name}-`))
  directories.add(path)
  return path
}

/** Removes a directory that {@link ownDirectory} made. */
export function removeDirectory(path) {
  rmSync(path, { recursive: true, force: true })
  directories.delete(path)
}

/**
 * Starts a process that dies with this one, in a separate process group: Ctrl-C only reaches this program, which then ends the
 * others in order.
 *
 * @param log - The descriptor of a file for all its output.
 */
export function spawnOwn(command, log) {
  watch()
  const [program, ...rest] = asServerUser(command, ['--pdeathsig', 'KILL'])
  const child = spawn(program, rest, { detached: true, stdio: ['ignore', log, log] })
  children.add(child)
  child.once('exit', () => children.delete(child))
  child.once('error', () => children.delete(child))
  return child
}

/** Sends a signal to a process started by {@link spawnOwn}, and to its child processes. */
export function signalGroup(child, signal) {
  try {
    process.kill(-child.pid, signal)
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  }
}

function watch() {
  if (isWatching) return
  isWatching = true
  process.once('exit', endAll)
  for (const [signal, number] of Object.entries({ SIGINT: 2, SIGTERM: 15, SIGHUP: 1 })) {
    // A program with its own listener decides when it ends. This listener stays, so that a second signal during the cleanup does
    // not end the program halfway.
    process.on(signal, () => process.listenerCount(signal) === 1 && process.exit(128 + number))
  }
}

function endAll() {
  for (const child of children) signalGroup(child, 'SIGKILL')
  for (const path of directories) removeSoon(path)
}

/** Removes a directory whose server was killed and may take a moment to exit. */
function removeSoon(path) {
  for (let attempt = 0; attempt < 40; attempt++) {
    try {
      removeDirectory(path)
      return
    } catch (error) {
      if (attempt === 39) console.error(`left behind: ${error.message}`)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
    }
  }
}
