/** The files of a database: a directory of the origin-private file system, whose files are open for as long as the database is. */

import { type CodedError, codedError } from 'terrace-core'
import type { LevelErrorCode } from '../../error-codes.js'
import { browserError, lostError, storageError } from '../errors.js'
import type { Engine, Imports } from '../wasm/engine.js'

/** Files of a new database. */
const FIRST_FILES = 16

/** Safari opens no more than 252 files. */
const MAX_FILES = 192

/** Files that are opened at once when more are needed. */
const MORE_FILES = 16

/** Prefix of the name of an empty file that distinguishes a database from a later one of the same name. The rest is unique. */
const IDENTITY_PREFIX = 'id-'

/** The browser's names of errors. */
const QUOTA_EXCEEDED = 'QuotaExceededError'
const NOT_FOUND = 'NotFoundError'

/** The same values are in `crates/wasm/src/host_files.rs`. */
const REFUSED = -1
const NO_ROOM = -2

/** TypeScript declares these only for workers. */
interface OpenFile {
  read(buffer: Uint8Array, options: { at: number }): number
  write(buffer: Uint8Array, options: { at: number }): number
  truncate(size: number): undefined
  flush(): undefined
  getSize(): number
  close(): void
}

export class FilePool {
  readonly #name: string
  readonly #directory: FileSystemDirectoryHandle
  #identity: string
  readonly #files: OpenFile[] = []
  /** Why the browser refused to open more files, the last time this was tried. */
  #refusal: unknown
  /** Why the browser refused the last call that failed. */
  #failure: unknown

  private constructor(name: string, directory: FileSystemDirectoryHandle, identity: string) {
    this.#name = name
    this.#directory = directory
    this.#identity = identity
  }

  /**
   * Opens all files of a directory.
   *
   * @param identity - The {@link FilePool.identity} that it must have, if it was open before.
   * @throws LEVEL_NOT_SUPPORTED except in a worker.
   * @throws LEVEL_LOCKED if another worker has it open.
   * @throws LEVEL_DATABASE_MISSING if there is none, and it is not to be created.
   * @throws LEVEL_STORAGE_LOST if it has another identity, or is gone.
   */
  static async open(name: string, create: boolean, identity = ''): Promise<FilePool> {
    assertInWorker()
    const directory = await (identity === '' ? directoryOf(name, create) : knownDirectory(name))
    const pool = new FilePool(name, directory, identity)
    try {
      if (identity !== '' && !(await pool.isThere())) throw lostError()
      const count = await pool.#countFiles()
      // The first one is also the lock: every worker opens it before the others.
      await pool.#openMore(1)
      if (identity === '') await pool.#identify()
      await pool.#openMore(FIRST_FILES - 1)
      // Those at the end may be unused, from an attempt to open more than the browser allows.
      await pool.#openMore(count - FIRST_FILES).catch(throwIfLocked)
      return pool
    } catch (error) {
      pool.close()
      throw storageError(error)
    }
  }

  /** Opens more files, if there may be more. Returns whether it did. */
  async grow(): Promise<boolean> {
    const more = Math.min(MORE_FILES, MAX_FILES - this.#files.length)
    if (more <= 0) return false
    await this.#openMore(more)
    return true
  }

  /** Opens more files for as long as they are wanted. Stops if no more can be opened; the free ones may suffice. */
  async growWhile(areWanted: () => boolean): Promise<void> {
    while (this.run(areWanted)) {
      if (!(await this.grow().catch(() => false))) return
    }
  }

  /** Closes all files. If that fails for some, the others are closed nevertheless. */
  close(): void {
    const failures: unknown[] = []
    for (const file of this.#files.splice(0)) {
      try {
        file.close()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }

  /** The name of a file that no other directory has, not even a later one of the same name. */
  get identity(): string {
    return this.#identity
  }

  /** Whether the directory still exists. The browser may have removed it. */
  async isThere(): Promise<boolean> {
    try {
      await this.#directory.getFileHandle(this.#identity)
      return true
    } catch (error) {
      return nameOf(error) !== NOT_FOUND
    }
  }

  /**
   * Closes the files of a directory that the browser has removed. In Chromium, closing a file whose name is gone never returns, and
   * keeps the name locked. Each file therefore gets its name back for that moment.
   */
  async closeRemoved(): Promise<void> {
    const directory = await directoryOf(this.#name, true)
    const names = this.#files.map((_, index) => String(index))
    await Promise.all(names.map((name) => directory.getFileHandle(name, { create: true })))
    this.close()
  }

  /**
   * Calls the engine. An error that the browser caused has the browser's error as its `cause`.
   *
   * @throws LEVEL_QUOTA_EXCEEDED if the browser has no room for the site.
   */
  run<T>(call: () => T): T {
    const before = this.#failure
    try {
      return call()
    } catch (error) {
      const { code, message } = error as CodedError<LevelErrorCode>
      // To the engine, a file that could not be opened is missing.
      if (code === 'LEVEL_CORRUPTION' && this.#refusal !== undefined) throw unopened(this.#refusal)
      // An earlier failure is why the engine refuses writes.
      const isCause = this.#failure !== before || code === 'LEVEL_WRITES_REFUSED'
      const cause = isCause ? this.#failure : undefined
      if (cause === undefined) throw error
      if (code === 'LEVEL_IO_ERROR' && nameOf(cause) === QUOTA_EXCEEDED) {
        throw browserError('LEVEL_QUOTA_EXCEEDED', message, cause)
      }
      throw Object.assign(error as Error, { cause })
    }
  }

  /** The functions that `crates/wasm/src/host_files.rs` imports. */
  imports(engine: Engine): Imports {
    const files = this.#files
    const file = (handle: number): OpenFile => files[handle] as OpenFile
    const bytesAt = (start: number, length: number): Uint8Array =>
      engine.memory.subarray(start >>> 0, (start >>> 0) + (length >>> 0))
    return {
      file_count: () => files.length,
      file_count_may_grow: () => Number(files.length < MAX_FILES && this.#refusal === undefined),
      file_read: (handle, at, start, length) =>
        this.#answer(() => file(handle).read(bytesAt(start, length), { at })),
      file_write: (handle, at, start, length) =>
        this.#answer(() => writeAll(file(handle), bytesAt(start, length), at)),
      file_truncate: (handle, size) => this.#answer(() => file(handle).truncate(size)),
      file_flush: (handle) => this.#answer(() => file(handle).flush()),
      file_size: (handle) => this.#answer(() => file(handle).getSize()),
      now: () => performance.now(),
      date: () => Date.now()
    }
  }

  /** Runs a call of the browser. A call that returns nothing answers 0. */
  #answer(call: () => number | undefined): number {
    try {
      return call() ?? 0
    } catch (error) {
      this.#failure = error
      return nameOf(error) === QUOTA_EXCEEDED ? NO_ROOM : REFUSED
    }
  }

  /** The files that the directory has: those whose names are numbers, from 0 on. */
  async #countFiles(): Promise<number> {
    let count = 0
    for await (const name of this.#directory.keys()) {
      const number = /^\d+$/.test(name) ? Number(name) : MAX_FILES
      if (number < MAX_FILES) count = Math.max(count, number + 1)
    }
    return count
  }

  /** Finds the identity, or makes one. The caller holds the lock. */
  async #identify(): Promise<void> {
    for await (const name of this.#directory.keys()) {
      if (name.startsWith(IDENTITY_PREFIX)) this.#identity = name
    }
    if (this.#identity !== '') return
    this.#identity = IDENTITY_PREFIX + crypto.randomUUID()
    await this.#directory.getFileHandle(this.#identity, { create: true })
  }

  /** Opens the next files. If one fails, those before it stay open. */
  async #openMore(count: number): Promise<void> {
    const first = this.#files.length
    const opened = await Promise.allSettled(
      Array.from({ length: Math.max(count, 0) }, (_, index) =>
        openFile(this.#directory, String(first + index))
      )
    )
    this.#refusal = undefined
    for (const each of opened) {
      if (each.status === 'rejected') this.#refusal ??= each.reason
      else if (this.#refusal === undefined) this.#files.push(each.value)
      else each.value.close()
    }
    if (this.#refusal !== undefined) throw this.#refusal
  }
}

/** The name of the directory of a database, in that of the origin. */
export function directoryName(location: string): string {
  return `${encodeURIComponent(location)}.terrace`
}

/** Whether there is a directory of this name. */
export async function directoryExists(name: string): Promise<boolean> {
  return (await existingDirectory(name)) !== undefined
}

/**
 * Removes a directory with its files. Does nothing if there is none.
 *
 * @throws LEVEL_LOCKED if a worker has it open.
 */
export async function removeDirectory(name: string): Promise<void> {
  const directory = await existingDirectory(name)
  if (directory === undefined) return
  // A worker that has it open holds the first file. A browser might notice that only after it has removed others.
  if (hasSyncFiles()) {
    const first = await openFile(directory, '0')
    first.close()
  }
  const root = await rootDirectory()
  try {
    await root.removeEntry(name, { recursive: true })
  } catch (error) {
    if (nameOf(error) === 'NoModificationAllowedError') throw locked(error)
    if (nameOf(error) !== NOT_FOUND) throw error
  }
}

/** A write may store only a part of the bytes. */
function writeAll(file: OpenFile, bytes: Uint8Array, at: number): undefined {
  for (let written = 0; written < bytes.length; ) {
    const count = file.write(written === 0 ? bytes : bytes.subarray(written), { at: at + written })
    if (count === 0) throw new Error('The browser has written nothing')
    written += count
  }
}

function nameOf(error: unknown): string | undefined {
  return (error as Error | undefined)?.name
}

async function directoryOf(name: string, create: boolean): Promise<FileSystemDirectoryHandle> {
  if (create) {
    const root = await rootDirectory()
    return root.getDirectoryHandle(name, { create }).catch((error) => {
      throw storageError(error)
    })
  }
  const directory = await existingDirectory(name)
  if (directory !== undefined) return directory
  throw codedError<LevelErrorCode>(
    'LEVEL_DATABASE_MISSING',
    'The database does not exist, and createIfMissing is false'
  )
}

/** The directory of a database that was open before. */
async function knownDirectory(name: string): Promise<FileSystemDirectoryHandle> {
  const directory = await existingDirectory(name)
  if (directory === undefined) throw lostError()
  return directory
}

async function existingDirectory(name: string): Promise<FileSystemDirectoryHandle | undefined> {
  const root = await rootDirectory()
  try {
    return await root.getDirectoryHandle(name)
  } catch (error) {
    if (nameOf(error) !== NOT_FOUND) throw error
    return undefined
  }
}

/** Some browsers refuse it in private windows. */
async function rootDirectory(): Promise<FileSystemDirectoryHandle> {
  try {
    return await navigator.storage.getDirectory()
  } catch (error) {
    throw browserError(
      'LEVEL_NOT_SUPPORTED',
      `the browser refuses the origin-private file system: ${error}`,
      error
    )
  }
}

/** Whether there are files that can be read and written within a call: in dedicated workers of secure contexts, unless the browser lacks them. */
export function hasSyncFiles(): boolean {
  return (
    typeof FileSystemFileHandle !== 'undefined' && 'createSyncAccessHandle' in FileSystemFileHandle.prototype
  )
}

/** Whether the browser refuses files that it seems to have, as Firefox does in private windows. */
export async function refusesFiles(): Promise<boolean> {
  return rootDirectory().then(
    () => false,
    () => true
  )
}

function assertInWorker(): void {
  if (hasSyncFiles()) return
  throw codedError<LevelErrorCode>(
    'LEVEL_NOT_SUPPORTED',
    'the origin-private file system has synchronous files only in a dedicated worker of a secure context, and not in every browser'
  )
}

/** TypeScript declares these only for workers. */
interface FileHandle extends FileSystemFileHandle {
  createSyncAccessHandle(): Promise<OpenFile>
}

/** Files that are being opened. Chromium never answers if the handle, to which nothing else refers, is collected meanwhile. */
const opening = new Set<FileHandle>()

async function openFile(directory: FileSystemDirectoryHandle, name: string): Promise<OpenFile> {
  const file = (await directory.getFileHandle(name, { create: true })) as FileHandle
  opening.add(file)
  try {
    return await file.createSyncAccessHandle()
  } catch (error) {
    if (nameOf(error) !== 'NoModificationAllowedError') throw error
    throw locked(error)
  } finally {
    opening.delete(file)
  }
}

function unopened(cause: unknown): Error {
  const message = `The browser cannot open all files of the database (${cause}): close other databases or tabs, then retry`
  return browserError('LEVEL_IO_ERROR', message, cause)
}

function throwIfLocked(error: unknown): void {
  if ((error as CodedError<LevelErrorCode>).code === 'LEVEL_LOCKED') throw error
}

function locked(cause: unknown): Error {
  return browserError('LEVEL_LOCKED', 'Another worker has the database open', cause)
}
