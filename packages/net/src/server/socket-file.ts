/**
 * Listens on a Unix socket. A socket is a name in a directory. It is only put where no other server listens, and only removed if
 * it is still this server's:
 *
 * ```text
 *   .sXXXXXX/hidden ──▶ .sXXXXXX/announced ──▶ no other server announced? ──▶ nothing listens at the path? ──▶ renamed to the path
 *    (mode 0700)                ▲                     └── no: hides again, waits a little ──┐        └── no: EADDRINUSE
 *                               └───────────────────────────────────────────────────────────┘
 * ```
 *
 * Of several servers that start at once, at most one is between the second step and the last: both announce before they check, so
 * one sees the other. An announcement is a socket that answers, so it ends with its process.
 */

import { chmodSync, lstatSync, mkdtempSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { connect, type Server } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { netError } from '../protocol/errors.js'
import { MAX_SOCKET_PATH_BYTES } from '../transport/socket-path.js'
import { closed, listening } from './listening.js'

/** Only the server's user may connect to a socket. */
const SOCKET_MODE = 0o600

/** The prefix of the directories in which sockets begin. `mkdtemp` makes them accessible to their user only. */
const PRIVATE_PREFIX = '.s'
const privateName = /^\.s[A-Za-z0-9]{6}$/
const HIDDEN = 'h'
const ANNOUNCED = 'a'

/** The average pause of a server that finds another one starting, in ms. */
const PAUSE_MS = 5

/** A socket on which a server listens. */
export interface SocketFile {
  /** Its absolute path. */
  readonly path: string
  /**
   * Removes the socket file, if it is still this server's. Call it while the server listens: no other server takes its place
   * then.
   */
  remove(): void
}

/**
 * Begins to listen at a path, replacing the socket of a server that has died. If that fails, the server does not listen.
 *
 * @throws EADDRINUSE if another server listens there, or if the file there is not a socket.
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
    // In a worker of node:cluster, the primary would otherwise listen, and it outlives the worker.
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

/** Moves a socket from its own directory to its final path. */
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

/** Whether another server starting in the same directory has announced itself. Removes what killed servers left. */
async function hasOthers(own: string): Promise<boolean> {
  const others = privateDirectoriesIn(dirname(own)).filter((each) => each !== own)
  let isAnyAnnounced = false
  for (const other of others) {
    // A hidden socket is not checked: its server may be about to listen.
    const state = await stateAt(join(other, ANNOUNCED))
    if (state === 'alive') isAnyAnnounced = true
    else if (state === 'dead') removeLeft(other)
  }
  return isAnyAnnounced
}

/** The directories in which sockets of this user begin, including those left by killed processes. */
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

/** Removes what a killed server left, and nothing else. */
function removeLeft(directory: string): void {
  for (const name of [HIDDEN, ANNOUNCED]) rmSync(join(directory, name), { force: true })
  try {
    rmdirSync(directory)
  } catch {
    // Another server has removed it, or it contains something else.
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

/** Whether a server listens at a path. A busy server may fail to answer, but does not refuse. */
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
    // The socket or its directory is gone, or the directory is not writable. A socket that remains gets replaced.
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
