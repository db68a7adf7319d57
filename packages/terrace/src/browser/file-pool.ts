/** The files of a database: a directory of the origin-private file system, whose files are open for as long as the database is. */

import { codedError } from 'terrace-core'
import type { LevelErrorCode } from '../error-codes.js'
import type { Engine, Imports } from './engine.js'

/** Files of a new database. */
const FIRST_FILES = 16

/** Safari opens no more than 252 files. */
const MAX_FILES = 192

/** Files that are opened at once when more are needed. */
const MORE_FILES = 16

/** As `crates/wasm/src/host_files.rs` has them. */
const REFUSED = -1
const NO_ROOM = -2

/** What TypeScript knows only of workers. */
interface OpenFile {
  read(buffer: Uint8Array, options: { at: number }): number
  write(buffer: Uint8Array, options: { at: number }): number
  truncate(size: number): undefined
  flush(): undefined
  getSize(): number
  close(): void
}

export class FilePool {
  readonly #directory: FileSystemDirectoryHandle
  readonly #files: OpenFile[] = []
  /** Why the browser refused the last call that failed. */
  #failure: unknown

  private constructor(directory: FileSystemDirectoryHandle) {
    this.#directory = directory
  }

  /**
   * Opens all files of the directory.
   *
   * @throws LEVEL_LOCKED if another worker has it open.
   * @throws LEVEL_DATABASE_MISSING if there is none, and it is not to be created.
   */
  static async open(name: string, create: boolean): Promise<FilePool> {
    const pool = new FilePool(await directoryOf(name, create))
    try {
      const count = await pool.#countFiles()
      // The first one is the lock as well: nobody opens another before it.
      await pool.#openMore(1)
      await pool.#openMore(Math.max(count, FIRST_FILES) - 1)
      return pool
    } catch (error) {
      pool.close()
      throw error
    }
  }

  /** Opens more files, if there may be more. Returns whether it did. */
  async grow(): Promise<boolean> {
    const more = Math.min(MORE_FILES, MAX_FILES - this.#files.length)
    if (more <= 0) return false
    await this.#openMore(more)
    return true
  }

  close(): void {
    for (const file of this.#files.splice(0)) file.close()
  }

  /** Takes why the browser refused a call, if it did since the last time. */
  takeFailure(): unknown {
    const failure = this.#failure
    this.#failure = undefined
    return failure
  }

  /** The functions that `crates/wasm/src/host_files.rs` imports. */
  imports(engine: Engine): Imports {
    const files = this.#files
    const file = (handle: number): OpenFile => files[handle] as OpenFile
    const bytesAt = (start: number, length: number): Uint8Array =>
      engine.memory.subarray(start >>> 0, (start >>> 0) + (length >>> 0))
    return {
      file_count: () => files.length,
      file_read: (handle, at, start, length) =>
        this.#attempt(() => file(handle).read(bytesAt(start, length), { at })),
      file_write: (handle, at, start, length) =>
        this.#attempt(() => writeAll(file(handle), bytesAt(start, length), at)),
      file_truncate: (handle, size) => this.#attempt(() => file(handle).truncate(size)),
      file_flush: (handle) => this.#attempt(() => file(handle).flush()),
      file_size: (handle) => this.#attempt(() => file(handle).getSize()),
      now: () => performance.now(),
      date: () => Date.now()
    }
  }

  /** Runs a call of the browser. What returns nothing answers 0. */
  #attempt(call: () => number | undefined): number {
    try {
      return call() ?? 0
    } catch (error) {
      this.#failure = error
      return nameOf(error) === 'QuotaExceededError' ? NO_ROOM : REFUSED
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

  async #openMore(count: number): Promise<void> {
    const first = this.#files.length
    const opened = await Promise.allSettled(
      Array.from({ length: count }, (_, index) => openFile(this.#directory, String(first + index)))
    )
    const failed = opened.find((each) => each.status === 'rejected')
    for (const each of opened) {
      if (each.status !== 'fulfilled') continue
      if (failed === undefined) this.#files.push(each.value)
      else each.value.close()
    }
    if (failed !== undefined) throw failed.reason
  }
}

/** A write may store less than all of it. */
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
  const root = await rootDirectory()
  try {
    return await root.getDirectoryHandle(name, { create })
  } catch (error) {
    if (nameOf(error) !== 'NotFoundError') throw error
    throw coded('LEVEL_DATABASE_MISSING', 'The database does not exist, and createIfMissing is false', error)
  }
}

/** Some browsers refuse it in private windows. */
async function rootDirectory(): Promise<FileSystemDirectoryHandle> {
  try {
    return await navigator.storage.getDirectory()
  } catch (error) {
    throw coded('LEVEL_NOT_SUPPORTED', `the browser refuses the origin-private file system: ${error}`, error)
  }
}

async function openFile(directory: FileSystemDirectoryHandle, name: string): Promise<OpenFile> {
  const file = await directory.getFileHandle(name, { create: true })
  try {
    return await (
      file as FileSystemFileHandle & { createSyncAccessHandle(): Promise<OpenFile> }
    ).createSyncAccessHandle()
  } catch (error) {
    if (nameOf(error) !== 'NoModificationAllowedError') throw error
    throw coded('LEVEL_LOCKED', 'Another worker has the database open', error)
  }
}

function coded(code: LevelErrorCode, message: string, cause: unknown): Error {
  return Object.assign(codedError(code, message), { cause })
}
