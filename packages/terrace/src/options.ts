/** Options of `open`, with their defaults, and the check of their types. */

import type { AbstractDatabaseOptions, AbstractOpenOptions, Transcoder } from 'abstract-level'

/** Options of {@link Level.open}. Sizes are in bytes. */
export interface OpenOptions extends AbstractOpenOptions {
  /**
   * The purpose of the database. `'embedded'` suits a part of a program that has other work to do. `'server'` suits a machine
   * whose main work is this database: it has larger buffers and more threads for compactions. The options below override single
   * settings. Their defaults are given as embedded / server.
   *
   * @defaultValue `'embedded'`
   */
  preset?: 'embedded' | 'server' | undefined

  /**
   * Compression of new data. `true` is `'snappy'`, `false` is `'none'`. LevelDB 1.23 and older, and therefore classic-level,
   * cannot read `'zstd'`.
   *
   * @defaultValue `true`
   */
  compression?: boolean | 'snappy' | 'zstd' | 'none' | undefined

  /**
   * Memory for uncompressed blocks of tables that were read, in bytes. 0 turns caching off.
   *
   * @defaultValue `32 * 1024 * 1024` / `512 * 1024 * 1024`
   */
  cacheSize?: number | undefined

  /**
   * Memory for recent writes, in bytes. Beyond it, they are written to a table. A larger value means fewer and larger flushes,
   * more memory (a few buffers may be waiting), and a longer opening after a crash.
   *
   * @defaultValue `16 * 1024 * 1024` / `64 * 1024 * 1024`
   */
  writeBufferSize?: number | undefined

  /**
   * Uncompressed size of a table's blocks, in bytes. Blocks are the unit of reading and caching.
   *
   * @defaultValue `4096`
   */
  blockSize?: number | undefined

  /**
   * The most tables that are kept open. Each costs some memory, and a file descriptor only with `mapTables: false`. In any
   * case, tables get no more than a fifth of the descriptors that the process may have (`ulimit -n`).
   *
   * @defaultValue `1000` / `10000`
   */
  maxOpenFiles?: number | undefined

  /**
   * The number of entries from one key of a block that is stored whole to the next. The keys in between store only what
   * differs.
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
   * Bits per key of the filter that saves reads of absent keys. 0 writes no filters.
   *
   * @defaultValue `10`
   */
  filterBitsPerKey?: number | undefined

  /**
   * The largest size of a table's hash index, as a percentage of the table's data. With the index, a get finds its entry at
   * once. It takes six bytes per key; a table whose values are so small that this exceeds the percentage gets no index. 0
   * writes no indexes.
   *
   * @defaultValue `12`
   */
  hashIndexPercent?: number | undefined

  /**
   * Whether to read tables through a mapping of the file into memory. This is faster. But if the device under it fails (a bad
   * sector, a disk that is pulled out), the process ends (SIGBUS) instead of the read failing with `LEVEL_IO_ERROR`.
   *
   * @defaultValue `true`
   */
  mapTables?: boolean | undefined

  /**
   * Whether to store writes into memory that is mapped from the log, where that is safe (on Linux: ext4 and tmpfs). A put then
   * needs no system call, and is as durable. A device that fails under the mapping is an error. To report it, a handler of
   * SIGBUS is installed, which leaves every other fault to the previous handler.
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
   * Whether to use the one block cache that all databases of the process with this option share. The options of the first of these
   * databases decide its size. Background threads are shared with or without it.
   *
   * @defaultValue `false`
   */
  sharedResources?: boolean | undefined

  /**
   * Whether to open without the lock and without changing a byte, even beside a process that writes. Reads show the state at
   * the time of opening. Writes fail with `LEVEL_READ_ONLY`.
   *
   * @defaultValue `false`
   */
  readOnly?: boolean | undefined

  /**
   * Whether to fail to open on any damage in a log, instead of keeping what lies before it.
   *
   * @defaultValue `false`
   */
  paranoidChecks?: boolean | undefined

  /**
   * The order of keys, by the name that the database stores. It must be the same at each open. `'idb_cmp1'` is the order that
   * Chromium's IndexedDB uses.
   *
   * @defaultValue `'leveldb.BytewiseComparator'`
   */
  comparator?: 'leveldb.BytewiseComparator' | 'idb_cmp1' | undefined
}

/** Options of the constructor of {@link Level}. */
export interface DatabaseOptions<K, V> extends AbstractDatabaseOptions<K, V>, Omit<OpenOptions, 'passive'> {
  /**
   * Whether several processes of this machine may open the database at once, all with this option. One of them is the owner; the
   * others use it over a local socket, and one of them takes over when it closes or dies. There are no synchronous methods then,
   * and hooks see only the writes of the same process.
   *
   * @defaultValue `false`
   */
  shared?: boolean | undefined

  /**
   * How long calls wait for another owner, or for a busy one, in ms, if the database is shared. Then they fail.
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
