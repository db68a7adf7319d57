import { codedError } from '../errors.js'

/** The progress so far. */
export interface Progress {
  /** The number of entries so far. */
  entries: number
  /** The bytes of their keys and values. */
  bytes: number
}

/** What was copied, dumped or restored. */
export interface Summary extends Progress {
  /**
   * The CRC-32 of all entries in order. Each entry counts with the lengths of key and value (4 bytes each, little endian), then
   * both.
   */
  checksum: number
}

/** A range of keys, in the database's own encoding or the one that is named. */
export interface CopyRange<K> {
  /** The lower bound, excluded. */
  gt?: K | undefined
  /** The lower bound, included. */
  gte?: K | undefined
  /** The upper bound, excluded. */
  lt?: K | undefined
  /** The upper bound, included. */
  lte?: K | undefined
  /** The encoding of the bounds. By default, that of the database. */
  keyEncoding?: string | undefined
}

/** Options of every copy, dump and restore. */
export interface WorkOptions {
  /** Called with the progress, at most four times a second and at the end. */
  onProgress?: ((progress: Progress) => void) | undefined

  /** A signal that ends the work with COPY_ABORTED. */
  signal?: AbortSignal | undefined
}

export interface WritingOptions extends WorkOptions {
  /**
   * The most entries of one batch, 1 to 2^20. A batch also ends at 1 MiB.
   *
   * @defaultValue `1000`
   */
  batchSize?: number | undefined
}

/** Options of `dump()` and `dumpBytes()`. */
export interface DumpOptions<K> extends WorkOptions {
  /** The keys to copy. By default, all. */
  range?: CopyRange<K> | undefined
}

/** Options of `copy()`. */
export interface CopyOptions<K> extends WritingOptions, DumpOptions<K> {
  /**
   * Whether to read back what was written, and compare.
   *
   * @defaultValue `true`
   */
  verify?: boolean | undefined
}

/** Options of `verifyDump()`. */
export interface VerifyOptions extends WorkOptions {
  /**
   * The largest block to keep in memory, in bytes, 1 to 2^32 - 1. A block of a dump is larger than 1 MiB only if a single entry
   * is.
   *
   * @defaultValue `256 * 2 ** 20`
   */
  maxBlockSizeBytes?: number | undefined
}

/** Options of `restore()`. */
export interface RestoreOptions extends VerifyOptions, WritingOptions {}

const DEFAULT_BATCH_SIZE = 1000
const MAX_BATCH_SIZE = 2 ** 20
const DEFAULT_MAX_BLOCK_SIZE_BYTES = 256 * 2 ** 20
const MAX_BLOCK_SIZE_BYTES = 2 ** 32 - 1

/** The option `batchSize`, checked. */
export function batchSizeOf({ batchSize = DEFAULT_BATCH_SIZE }: WritingOptions): number {
  return integer('batchSize', batchSize, MAX_BATCH_SIZE)
}

/** The option `maxBlockSizeBytes`, checked. */
export function maxBlockSizeOf(options: VerifyOptions): number {
  const { maxBlockSizeBytes = DEFAULT_MAX_BLOCK_SIZE_BYTES } = options
  return integer('maxBlockSizeBytes', maxBlockSizeBytes, MAX_BLOCK_SIZE_BYTES)
}

/** @throws COPY_ABORTED if the signal is aborted. */
export function throwIfAborted({ signal }: WorkOptions): void {
  if (signal?.aborted) throw codedError('COPY_ABORTED', 'The operation was aborted', signal.reason)
}

function integer(name: string, value: number, max: number): number {
  if (!Number.isInteger(value) || value < 1 || value > max) {
    throw codedError('COPY_INVALID_OPTION', `The option '${name}' must be an integer from 1 to ${max}`)
  }
  return value
}
