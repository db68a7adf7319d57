/** The codes of this package's errors. */

import type { CoreErrorCode } from 'terrace-core'

/**
 * Codes of the errors that this package adds to those of
 * [abstract-level](https://github.com/Level/abstract-level#errors), and to those that terrace-core makes.
 */
export type LevelErrorCode =
  | CoreErrorCode
  /** Another instance or process has the database open. The message explains what to do. */
  | 'LEVEL_LOCKED'
  /** Stored bytes are damaged, at `offset` in the file `path`. */
  | 'LEVEL_CORRUPTION'
  /** The operating system refused an operation. `cause.code` is the reason, for example `ENOSPC` on a full disk. */
  | 'LEVEL_IO_ERROR'
  /** The database does not exist, and `createIfMissing` is false or `readOnly` is true. */
  | 'LEVEL_DATABASE_MISSING'
  /** The database exists already, and `errorIfExists` is true. */
  | 'LEVEL_DATABASE_EXISTS'
  /** A write was called on a database that was opened with `readOnly`. */
  | 'LEVEL_READ_ONLY'
  /**
   * Another process has since written to the database, and the disk no longer holds the state that this read-only database, or
   * its iterator or snapshot, shows. Call `refresh()` and read again.
   */
  | 'LEVEL_OUTDATED'
  /**
   * The tab that owned the database is gone, and this write may or may not be stored; or the snapshot was lost with it. Only in
   * browsers.
   */
  | 'LEVEL_LEADER_LOST'
  /** An earlier failure makes further writes unsafe. Close the database and open it again. */
  | 'LEVEL_WRITES_REFUSED'
  /** The bytes are well-formed, but in a newer format or in that of a fork of LevelDB. */
  | 'LEVEL_UNSUPPORTED_FORMAT'
  /** The value is too large for a JavaScript string or buffer, or for the memory of the page. */
  | 'LEVEL_VALUE_TOO_LARGE'
  /** The write would make a database in memory larger than the option `maxSizeBytes` allows. Nothing was written. */
  | 'LEVEL_SIZE_LIMIT'
  /**
   * The browser grants the site no more space. None of the write is stored, and writes succeed again once there is space. If later
   * writes fail with LEVEL_WRITES_REFUSED instead, flushing has failed, and the next open may find the write. Reads keep working.
   */
  | 'LEVEL_QUOTA_EXCEEDED'
  /**
   * The browser removed the database while it was open, as it does when the user clears the site's data. The event `storageLost`
   * carries the error. Close the database; opening it again creates a new one. Only in browsers.
   */
  | 'LEVEL_STORAGE_LOST'
  /** There is a bug in this package. */
  | 'LEVEL_INTERNAL_ERROR'

/** The codes for the engine's kinds of errors, and for those that the glue adds. */
const codes: Record<string, LevelErrorCode> = {
  InvalidArgument: 'LEVEL_INVALID_ARGUMENT',
  NoDatabase: 'LEVEL_DATABASE_MISSING',
  AlreadyExists: 'LEVEL_DATABASE_EXISTS',
  Locked: 'LEVEL_LOCKED',
  Corruption: 'LEVEL_CORRUPTION',
  Unsupported: 'LEVEL_UNSUPPORTED_FORMAT',
  Io: 'LEVEL_IO_ERROR',
  DiskFull: 'LEVEL_IO_ERROR',
  ReadOnly: 'LEVEL_READ_ONLY',
  Closed: 'LEVEL_DATABASE_NOT_OPEN',
  Poisoned: 'LEVEL_WRITES_REFUSED',
  Outdated: 'LEVEL_OUTDATED',
  Conflict: 'LEVEL_CONFLICT',
  Aborted: 'LEVEL_ABORTED',
  TooLarge: 'LEVEL_VALUE_TOO_LARGE',
  Full: 'LEVEL_SIZE_LIMIT'
}

/** The code of an error that the engine, or the glue, reports as of this kind. */
export function codeOf(kind: string): LevelErrorCode {
  return codes[kind] ?? 'LEVEL_INTERNAL_ERROR'
}
