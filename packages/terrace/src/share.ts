/** A database that several processes share: its back-end, and what a killed owner leaves. */

import { existsSync, lstatSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { codedError } from 'terrace-core'
import type { SharedBackend } from 'terrace-net/shared'
import { binding } from './load-binding.js'
import type { NativeBackend } from './native-backend.js'
import type { DatabaseOptions } from './options.js'

/**
 * A back-end that uses `native` whenever this process is the owner.
 *
 * @param path - The absolute path of the database.
 * @throws TypeError if an option cannot go with `shared`.
 * @throws LEVEL_NOT_SUPPORTED if the package terrace-net is missing.
 */
export function share(
  native: NativeBackend,
  path: string,
  {
    readOnly,
    multithreading,
    ownerTimeoutMs
  }: Pick<DatabaseOptions<unknown, unknown>, 'readOnly' | 'multithreading' | 'ownerTimeoutMs'>
): SharedBackend {
  if (readOnly === true) {
    throw new TypeError("The options 'shared' and 'readOnly' exclude each other: readOnly needs no lock")
  }
  if (multithreading === true) {
    throw new TypeError(
      "The options 'shared' and 'multithreading' exclude each other: shared works in threads as well"
    )
  }

  const { SharedBackend: Shared } = loadNet()
  return new Shared(native, path, ownerTimeoutMs === undefined ? {} : { ownerTimeoutMs }, {
    approximateSize: (start: Uint8Array, end: Uint8Array) =>
      binding.approximateSize(native.database, start, end),
    compactRange: (start: Uint8Array, end: Uint8Array) => binding.compactRange(native.database, start, end),
    checkpoint: (target: string) => binding.checkpoint(native.database, target)
  })
}

/** The socket in a shared database's directory, as terrace-net names it. */
const SOCKET_NAME = 'terrace.sock'

/** The directory in which a socket begins, and the names that it may have there. */
const beginning = /^\.s[A-Za-z0-9]{6}$/
const beginnings = ['h', 'a']

/** Removes the sockets that a killed owner has left where a database was, and the directory if nothing else is in it. */
export function removeLeftSockets(path: string): void {
  // A database that was made in the meantime has a lock, and perhaps an owner.
  if (!existsSync(path) || existsSync(join(path, 'LOCK'))) return
  let hasRemoved = removeSocket(join(path, SOCKET_NAME))
  for (const name of readdirSync(path).filter((name) => beginning.test(name))) {
    const directory = join(path, name)
    if (!beginnings.map((socket) => removeSocket(join(directory, socket))).includes(true)) continue
    hasRemoved = true
    if (readdirSync(directory).length === 0) rmdirSync(directory)
  }
  if (hasRemoved && readdirSync(path).length === 0) rmdirSync(path)
}

function removeSocket(path: string): boolean {
  const isSocket = lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true
  if (isSocket) rmSync(path)
  return isSocket
}

/** Loads the package that only those need who share a database. */
function loadNet(): typeof import('terrace-net/shared') {
  try {
    return require('terrace-net/shared')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'MODULE_NOT_FOUND' || !message.includes('terrace-net')) throw error
    throw codedError(
      'LEVEL_NOT_SUPPORTED',
      "The option 'shared' needs the package terrace-net: npm install terrace-net"
    )
  }
}
