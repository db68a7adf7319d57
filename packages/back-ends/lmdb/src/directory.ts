/** The directory of a database: checks it before opening, and removes it. */

import { closeSync, mkdirSync, openSync, readdirSync, readSync } from 'node:fs'
import { readdir, rm, rmdir } from 'node:fs/promises'
import { endianness } from 'node:os'
import { join } from 'node:path'
import { type LmdbErrorCode, lmdbError } from './errors.js'

const DATA = 'data.mdb'
const LOCK = 'lock.mdb'

/** LMDB's magic number, and the version of the file format that lmdb reads. Both follow the page's header. */
const MAGIC = 0xbeefc0de
const VERSION = 2
const HEADER_BYTES = 24

/** The options of {@link prepare}. */
export interface Wanted {
  readonly createIfMissing?: boolean
  readonly errorIfExists?: boolean
  readonly readOnly?: boolean | undefined
}

/**
 * Checks that the database exists or may be created, and makes its directory. If this throws, nothing was written.
 *
 * @throws LEVEL_DATABASE_MISSING, LEVEL_DATABASE_EXISTS or LEVEL_UNSUPPORTED_FORMAT
 */
export function prepare(path: string, { createIfMissing, errorIfExists, readOnly }: Wanted): void {
  if (holdsDatabase(path)) {
    if (errorIfExists) {
      throw lmdbError(
        'LEVEL_DATABASE_EXISTS',
        `Database exists already, and the option 'errorIfExists' is true: ${path}`,
        path
      )
    }
    return
  }

  if (createIfMissing === false || readOnly) {
    throw lmdbError('LEVEL_DATABASE_MISSING', `Database does not exist: ${path}`, path)
  }
  attempt(path, () => mkdirSync(path, { recursive: true }))
}

/**
 * Returns whether the directory contains a database.
 *
 * @throws LEVEL_UNSUPPORTED_FORMAT if it contains something else.
 */
export function holdsDatabase(path: string): boolean {
  const names = attempt(path, () => readdirSync(path)) ?? []
  if (names.includes(DATA)) return isData(path)

  const other = names.find((name) => name !== LOCK)
  if (other === undefined) return false
  throw lmdbError(
    'LEVEL_UNSUPPORTED_FORMAT',
    `The directory holds other files, such as ${other}, and no database in LMDB: ${path}`,
    path
  )
}

/** Returns whether the data file is complete. It is empty if a process died while creating the database. */
function isData(path: string): boolean {
  const header = attempt(path, () => readStart(join(path, DATA))) as Buffer
  if (header.length === 0) return false

  // On 32-bit platforms, the page's header is shorter.
  const number = (at: number): number =>
    endianness() === 'LE' ? header.readUInt32LE(at) : header.readUInt32BE(at)
  const at = [16, 20, 24].find((offset) => header.length >= offset + 8 && number(offset) === MAGIC)
  if (at === undefined) {
    throw lmdbError('LEVEL_UNSUPPORTED_FORMAT', `The file ${DATA} is not of LMDB: ${path}`, path)
  }
  // The upper bits are flags of lmdb.
  const version = number(at + 4) & 0xffff
  if (version === VERSION) return true
  throw lmdbError(
    'LEVEL_UNSUPPORTED_FORMAT',
    `The file ${DATA} has version ${version} of LMDB's format; only version ${VERSION} can be read: ${path}`,
    path
  )
}

function readStart(file: string): Buffer {
  const descriptor = openSync(file, 'r')
  try {
    const start = Buffer.alloc(HEADER_BYTES + 8)
    return start.subarray(0, readSync(descriptor, start))
  } finally {
    closeSync(descriptor)
  }
}

/** Runs a file operation; undefined if the path does not exist. */
function attempt<T>(path: string, work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    const reason: LmdbErrorCode =
      code === 'ENOTDIR' || code === 'EEXIST' ? 'LEVEL_UNSUPPORTED_FORMAT' : 'LEVEL_IO_ERROR'
    throw lmdbError(reason, message, path, error)
  }
}

/** Removes the files of the database in a directory, and the directory if nothing else is in it. */
export async function remove(path: string): Promise<void> {
  await rm(join(path, DATA), { force: true })
  await rm(join(path, LOCK), { force: true })
  if ((await readdir(path)).length === 0) await rmdir(path)
}
