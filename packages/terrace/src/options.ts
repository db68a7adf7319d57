/** Options of `open`, with their defaults, and the check of their types. */

import type { AbstractDatabaseOptions, AbstractOpenOptions, Transcoder } from 'abstract-level'

/** Options of {@link Level.open}. Sizes are in bytes. */
export interface OpenOptions extends AbstractOpenOptions {
  /**
   * The set of defaults, chosen by the purpose of the database. `'embedded'` suits a database within a program that has other
   * work to do. `'server'` suits a machine whose main work is this database: it has larger buffers and more threads for
   * compactions. Other options override individual settings. Where their defaults differ, they are given as embedded / server.
   *
   * @defaultValue `'embedded'`
   */
  preset?: 'embedded' | 'server' | undefined

  /**
   * The compression of new data. `true` is `'snappy'`, `false` is `'none'`. LevelDB 1.23 and older, and therefore classic-level,
   * cannot read `'zstd'`.
   *
   * @defaultValue `true`
   */
  compression?: boolean | 'snappy' | 'zstd' | 'none' | undefined

  /**
   * The memory for caching uncompressed blocks of tables, in bytes. 0 disables caching.
   *
   * @defaultValue `32 * 1024 * 1024` / `512 * 1024 * 1024`
   */
  cacheSize?: number | undefined

  /**
   * The memory for recent writes, in bytes. When it is full, the writes are written to a table. A larger value means fewer and
   * larger flushes, more memory (a few full buffers may be waiting), and a slower open after a crash.
   *
   * @defaultValue `16 * 1024 * 1024` / `64 * 1024 * 1024`
   */
  writeBufferSize?: number | undefined

  /**
   * The uncompressed size of a table's blocks, in bytes. Blocks are the unit of reading and caching.
   *
   * @defaultValue `4096`
   */
  blockSize?: number | undefined

  /**
   * The maximum number of tables kept open. Each takes some memory and, only with `mapTables: false`, a file descriptor. In any
   * case, tables use at most a fifth of the descriptors that the process may have (`ulimit -n`).
   *
   * @defaultValue `1000` / `10000`
   */
  maxOpenFiles?: number | undefined

  /**
   * The interval, in entries, at which a block stores a whole key. Each key in between stores only its difference from the key
   * before it.
   *
   * @defaultValue `16`
   */
  blockRestartInterval?: number | undefined

  /**
   * The size, in bytes, at which a compaction closes a table and begins the next.
   *
   * @defaultValue `8 * 1024 * 1024` / `32 * 1024 * 1024`
   */
  maxFileSize?: number | undefined

  /**
   * The number of bits per key of the filter that avoids reads for absent keys. With 0, no filters are written.
   *
   * @defaultValue `10`
   */
  filterBitsPerKey?: number | undefined

  /**
   * The maximum size of a table's hash index, as a percentage of the table's data. With the index, a get locates its entry
   * directly. The index takes six bytes per key; if a table's values are so small that the index would exceed the percentage,
   * the table gets no index. With 0, no indexes are written.
   *
   * @defaultValue `12`
   */
  hashIndexPercent?: number | undefined

  /**
   * Whether to read tables through memory mappings of their files. This is faster. But if the device fails (a bad sector, an
   * unplugged disk), the process is killed by SIGBUS, whereas without mappings the read fails with `LEVEL_IO_ERROR`.
   *
   * @defaultValue `true`
   */
  mapTables?: boolean | undefined

  /**
   * Whether to write to the log through a memory mapping, where that is safe (on Linux: ext4 and tmpfs). A put then needs no
   * system call, and is just as durable. If the device under the mapping fails, the write fails with an error. To make that
   * possible, a SIGBUS handler is installed, which passes every other fault to the previous handler.
   *
   * @defaultValue `true`
   */
  mapLog?: boolean | undefined

  /**
   * Whether several instances in this process, including those in worker threads, may open the same location. All of them must
   * set it. They share one engine, which the options of the first instance configure.
   *
   * @defaultValue `false`
   */
  multithreading?: boolean | undefined

  /**
   * Whether to share one block cache with all databases of the process that set this option. The options of the first of these
   * databases determine its size. Background threads are shared with or without this option.
   *
   * @defaultValue `false`
   */
  sharedResources?: boolean | undefined

  /**
   * Whether to open the database for reading only: without the lock and without changing a byte, even while another process
   * writes to it. Reads show the state at the time of opening, or of the last `refresh()`. Writes fail with `LEVEL_READ_ONLY`.
   *
   * @defaultValue `false`
   */
  readOnly?: boolean | undefined

  /**
   * Whether to fail to open if a power loss left a hole in a log, instead of keeping what precedes the hole and setting the rest
   * aside. All other damage always makes the open fail.
   *
   * @defaultValue `false`
   */
  paranoidChecks?: boolean | undefined

  /**
   * The name of the comparator, which defines the order of keys. The database stores this name; it must be the same at each
   * open. `'idb_cmp1'` is the order that Chromium's IndexedDB uses.
   *
   * @defaultValue `'leveldb.BytewiseComparator'`
   */
  comparator?: 'leveldb.BytewiseComparator' | 'idb_cmp1' | undefined
}

/** Options of the constructor of {@link Level}. */
export interface DatabaseOptions<K, V> extends AbstractDatabaseOptions<K, V>, Omit<OpenOptions, 'passive'> {
  /**
   * Whether several processes on this machine may have the database open at once. All of them must set this option. One of them
   * is the owner, and the others reach it over a local socket. When the owner closes the database or dies, another process takes
   * over. A shared database has no synchronous methods, and hooks see only the writes of their own process.
   *
   * @defaultValue `false`
   */
  shared?: boolean | undefined

  /**
   * How long calls to a shared database wait for a new owner, or for a busy one, before they fail, in milliseconds.
   *
   * @defaultValue `10,000`
   */
  ownerTimeoutMs?: number | undefined
}

/** Options of {@link Level.repair}. */
export type RepairOptions = Pick<OpenOptions, 'comparator' | 'compression'>

/** Options of {@link Level.approximateSize} and {@link Level.compactRange}. */
export interface StartEndOptions<K> {
  /** The encoding of `start` and `end` in this operation. By default, that of the database's keys. */
  keyEncoding?: string | Transcoder.PartialEncoder<K> | undefined
}

/** Options in the form that the addon takes, by name. The preset decides those that are undefined. */
export type NativeOpenOptions = Record<string, boolean | number | string | undefined>

/**
 * Turns an option from a program into the form that the addon takes.
 *
 * @throws TypeError, which names the option, if its type is wrong.
 */
type Check = (name: string, value: unknown) => NativeOpenOptions[string]

/** The checks of all options except abstract-level's own. */
const checks = {
  preset: text,
  compression,
  comparator: text,
  multithreading: flag,
  sharedResources: flag,
  // options.json: plain values (make options)
  readOnly: flag,
  cacheSize: size,
  writeBufferSize: size,
  blockSize: size,
  blockRestartInterval: size,
  maxFileSize: size,
  maxOpenFiles: size,
  filterBitsPerKey: size,
  hashIndexPercent: size,
  mapTables: flag,
  mapLog: flag,
  paranoidChecks: flag
  // options.json: end
} satisfies Record<Exclude<keyof OpenOptions, keyof AbstractOpenOptions>, Check>

/**
 * Turns options into the form that the addon takes.
 *
 * @throws TypeError, which names the option, if one has the wrong type.
 * @internal
 */
export function nativeOptions(options: OpenOptions): NativeOpenOptions {
  const native: NativeOpenOptions = {}

  for (const [name, check] of Object.entries<Check>(checks)) {
    native[name] = check(name, options[name as keyof OpenOptions])
  }

  native.createIfMissing = options.createIfMissing !== false && native.readOnly !== true
  native.errorIfExists = options.errorIfExists === true
  return native
}

function compression(name: string, value: unknown): string | undefined {
  if (value === true) return 'snappy'
  if (value === false) return 'none'
  return text(name, value)
}

function flag(name: string, value: unknown): boolean | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'boolean') throw new TypeError(`The option '${name}' must be a boolean`)
  return value
}

function text(name: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw new TypeError(`The option '${name}' must be a string`)
  return value
}

/** The value of an option that is a size in bytes, or undefined if the option is left out. */
export function size(name: string, value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined

  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    throw new TypeError(`The option '${name}' must be an integer that is not negative`)
  }

  return value as number
}
