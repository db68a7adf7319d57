/**
 * Listens on a Unix socket. A socket is a name in a directory, so it is only put where nobody else is, and only removed if it is
 * still this one:
 *
 * ```text
 *   .sXXXXXX/hidden ──▶ .sXXXXXX/announced ──▶ nobody else has announced? ──▶ nobody listens at the path? ──▶ renamed to the path
 *    (mode 0700)                ▲                     └── no: hides again, waits a little ──┐        └── no: EADDRINUSE
 *                               └───────────────────────────────────────────────────────────┘
 * ```
 *
 * Of servers that start at once, one at most is between the second step and the last: both announce before they look, so one sees
 * the other. An announcement is a socket that answers, so it ends with its process.
 */

import { chmodSync, lstatSync, mkdtempSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { connect, type Server } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { netError } from '../protocol/errors.js'
import { MAX_SOCKET_PATH_BYTES } from '../transport/socket-path.js'
import { closed, listening } from './listening.js'

/** Only its user may connect to a socket. */
const SOCKET_MODE = 0o600

/** The directories in which sockets begin, which `mkdtemp` makes for their user alone. */
const PRIVATE_PREFIX = '.s'
const privateName = /^\.s[A-Za-z0-9]{6}$/
const HIDDEN = 'h'
const ANNOUNCED = 'a'

/** How long one of several servers that start at once waits on average, in ms. */
const PAUSE_MS = 5

/** A socket on which a server listens. */
export interface SocketFile {
  /** Its absolute path. */
  readonly path: string
  /** Removes it, if it is still the one of this server. Call it while the server listens: nobody takes its place then. */
  remove(): void
}

/**
 * Begins to listen at a path, in the place of a server that has died. If that fails, the server does not listen.
 *
 * @throws EADDRINUSE if another server listens there, or if a file there is no socket.
 * @throws NET_INVALID if the path is too long for the system.
 */
export async function listenAtPath(server: Server, given: string): Promise<SocketFile> {
  if (process.platform === 'win32') {
    await listening(server, () => server.listen({ path: given, exclusive: true }))
    return { path: given, remove: () => {} }
  }

  const path = resolve(given)
  const directory = dirname(path)
  checkLength(path)
  checkLength(join(directory, `${PRIVATE_PREFIX}XXXXXX`, HIDDEN))
  await checkFree(path)
  const own = privateDirectory(path)
  try {
    const hidden = join(own, HIDDEN)
    // A worker of node:cluster would otherwise let the primary listen, which outlives it.
    await listening(server, () => server.listen({ path: hidden, exclusive: true }))
    chmodSync(hidden, SOCKET_MODE)
    const { dev, ino } = lstatSync(hidden, { bigint: true })
    await moveInto(path, own)
    return { path, remove: () => removeIf(path, dev, ino) }
  } catch (error) {
    if (server.listening) await closed(server)
    throw error
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
}

function privateDirectory(path: string): string {
  try {
    return mkdtempSync(join(dirname(path), PRIVATE_PREFIX))
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    throw Object.assign(new Error(`Cannot listen at ${path}: ${message}`, { cause }), { code })
  }
}

/** Moves a socket from its own directory to where it is meant to be. */
async function moveInto(path: string, own: string): Promise<void> {
  const [hidden, announced] = [join(own, HIDDEN), join(own, ANNOUNCED)]
  for (;;) {
    renameSync(hidden, announced)
    const isAlone = !(await hasOthers(own))
    await checkFree(path)
    if (isAlone) {
      renameSync(announced, path)
      return
    }
    renameSync(announced, hidden)
    await pause(2 * PAUSE_MS * Math.random())
  }
}

/** Whether another server that starts in the same directory has announced itself. Removes what killed ones have left. */
async function hasOthers(own: string): Promise<boolean> {
  const others = privateDirectoriesIn(dirname(own)).filter((each) => each !== own)
  let isAnyAnnounced = false
  for (const other of others) {
    // A hidden one may be about to listen, so it is not looked at.
    const state = await stateAt(join(other, ANNOUNCED))
    if (state === 'alive') isAnyAnnounced = true
    else if (state === 'dead') removeLeft(other)
  }
  return isAnyAnnounced
}

/** The directories in which sockets of this user begin, or began when their process was killed. */
export function privateDirectoriesIn(directory: string): string[] {
  const isOwn = (path: string): boolean => {
    const found = lstatSync(path, { throwIfNoEntry: false })
    return found?.isDirectory() === true && found.uid === process.getuid?.()
  }
  return readdirSync(directory)
    .filter((name) => privateName.test(name))
    .map((name) => join(directory, name))
    .filter(isOwn)
}

/** Removes what a killed server has left, and nothing else that may be there. */
function removeLeft(directory: string): void {
  for (const name of [HIDDEN, ANNOUNCED]) rmSync(join(directory, name), { force: true })
  try {
    rmdirSync(directory)
  } catch {
    // Another server has removed it, or somebody has put something into it.
  }
}

/** @throws EADDRINUSE if a path is taken. */
async function checkFree(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isSocket()) throw inUse(`${path} exists, and is no socket: choose another path`)
  if ((await stateAt(path)) === 'alive') {
    throw inUse(`Another server listens at ${path}: stop it, or choose another path`)
  }
}

/** Whether a server listens at a path. A busy one may fail to answer, but does not refuse. */
function stateAt(path: string): Promise<'alive' | 'dead' | 'missing'> {
  return new Promise((resolve) => {
    const socket = connect({ path })
    socket.once('connect', () => {
      socket.destroy()
      resolve('alive')
    })
    socket.once('error', ({ code }: NodeJS.ErrnoException) => {
      resolve(code === 'ECONNREFUSED' ? 'dead' : code === 'ENOENT' ? 'missing' : 'alive')
    })
  })
}

function removeIf(path: string, dev: bigint, ino: bigint): void {
  try {
    const found = lstatSync(path, { bigint: true })
    if (found.dev === dev && found.ino === ino) rmSync(path)
  } catch {
    // It is gone, or its directory is, or may not be written to: a socket that is left is replaced.
  }
}

function checkLength(path: string): void {
  const length = Buffer.byteLength(path)
  if (length <= MAX_SOCKET_PATH_BYTES) return
  throw netError(
    'NET_INVALID',
    `The path of a Unix socket may have at most ${MAX_SOCKET_PATH_BYTES} bytes; ${path} has ${length}: choose a shorter one`
  )
}

function inUse(message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code: 'EADDRINUSE' })
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, durationMs)
  })
}
