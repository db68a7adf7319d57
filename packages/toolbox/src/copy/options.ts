import { codedError } from '../errors.js'

/** The progress so far. */
export interface Progress {
  /** The number of entries so far. */
  entries: number
  /** The number of bytes in the keys and values so far. */
  bytes: number
}

/** A summary of what was copied, dumped or restored. */
export interface Summary extends Progress {
  /**
   * The CRC-32 of all entries in order. Each entry contributes the lengths of its key and value (4 bytes each, little-endian),
   * then both.
   */
  checksum: number
}

/** A range of keys, in the encoding `keyEncoding` or else that of the database. */
export interface CopyRange<K> {
  /** The lower bound, exclusive. */
  gt?: K | undefined
  /** The lower bound, inclusive. */
  gte?: K | undefined
  /** The upper bound, exclusive. */
  lt?: K | undefined
  /** The upper bound, inclusive. */
  lte?: K | undefined
  /** The encoding of the bounds. By default, that of the database. */
  keyEncoding?: string | undefined
}

/** Options of every copy, dump and restore. */
export interface WorkOptions {
  /** Called with the progress, at most four times per second and at the end. */
  onProgress?: ((progress: Progress) => void) | undefined

  /** A signal that aborts the operation with COPY_ABORTED. */
  signal?: AbortSignal | undefined
}

/** Limits on one part of a copy. */
export interface PartLimits {
  readonly entries: number
  /** Includes the lengths of keys and values. A single entry may have more. */
  readonly bytes: number
}

/** Options of every copy and restore. */
export interface WritingOptions extends WorkOptions {
  /**
   * The maximum number of entries per batch, 1 to 2^20. A batch also ends at 1 MiB; in a copy, at `batchSizeBytes`.
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

/** The progress of a copy. */
export interface CopyProgress extends Progress {
  /** The phase of the copy: entries are being copied, or read back from the target for comparison. Each phase counts from 0. */
  phase: 'copying' | 'verifying'
  /**
   * The approximate number of bytes that this phase will process. While copying, it is known if the source has
   * `approximateSize()`, as Terrace and classic-level do.
   */
  estimatedBytes?: number | undefined
}

/** A summary of a copy. `entries`, `bytes` and `checksum` are those of the source. */
export interface CopySummary extends Summary {
  /** How many entries were written because the target lacked them. */
  written: number
  /** How many entries were deleted because only the target had them. */
  deleted: number
  /** Whether this completed an earlier, unfinished copy. */
  resumed: boolean
}

/** What to do with a target that has entries; see {@link CopyOptions.existing}. */
export type Existing = 'refuse' | 'merge' | 'overwrite'

/** Options of `copy()`. */
export interface CopyOptions<K>
  extends Omit<WritingOptions, 'onProgress'>,
    Omit<DumpOptions<K>, 'onProgress'> {
  /**
   * What to do if the target has entries that are not from an unfinished copy: fail (`refuse`), keep entries with other keys
   * (`merge`), or make the target hold exactly what is copied (`overwrite`).
   *
   * @defaultValue `'refuse'`
   */
  existing?: Existing | undefined

  /**
   * Whether to read back and compare what was written.
   *
   * @defaultValue `true`
   */
  verify?: boolean | undefined

  /**
   * The maximum number of bytes per batch, 1 to 2^30. A single entry may be larger.
   *
   * @defaultValue `2 ** 20`
   */
  batchSizeBytes?: number | undefined

  /** Called with the progress, at most four times per second and at the end of each phase. */
  onProgress?: ((progress: CopyProgress) => void) | undefined
}

/** Options of `verifyDump()`. */
export interface VerifyOptions extends WorkOptions {
  /**
   * The maximum size of a block to keep in memory, in bytes, 1 to 2^32 - 1. A block of a dump is larger than 1 MiB only if a
   * single entry is.
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
const DEFAULT_BATCH_SIZE_BYTES = 2 ** 20
const MAX_BATCH_SIZE_BYTES = 2 ** 30
const EXISTING: readonly Existing[] = ['refuse', 'merge', 'overwrite']

/** The option `batchSize`, checked. */
export function batchSizeOf({ batchSize = DEFAULT_BATCH_SIZE }: Pick<WritingOptions, 'batchSize'>): number {
  return integer('batchSize', batchSize, MAX_BATCH_SIZE)
}

/** The options `batchSize` and `batchSizeBytes`, checked. */
export function batchLimitsOf(options: CopyOptions<unknown>): PartLimits {
  const { batchSizeBytes = DEFAULT_BATCH_SIZE_BYTES } = options
  return {
    entries: batchSizeOf(options),
    bytes: integer('batchSizeBytes', batchSizeBytes, MAX_BATCH_SIZE_BYTES)
  }
}

/** The option `existing`, checked. */
export function existingOf({ existing = 'refuse' }: CopyOptions<unknown>): Existing {
  if (EXISTING.includes(existing)) return existing
  throw codedError('COPY_INVALID_OPTION', `The option 'existing' must be one of ${EXISTING.join(', ')}`)
}

/** The option `maxBlockSizeBytes`, checked. */
export function maxBlockSizeOf(options: VerifyOptions): number {
  const { maxBlockSizeBytes = DEFAULT_MAX_BLOCK_SIZE_BYTES } = options
  return integer('maxBlockSizeBytes', maxBlockSizeBytes, MAX_BLOCK_SIZE_BYTES)
}

/** @throws COPY_ABORTED if the signal is aborted. */
export function throwIfAborted({ signal }: Pick<WorkOptions, 'signal'>): void {
  if (signal?.aborted) throw codedError('COPY_ABORTED', 'The operation was aborted', signal.reason)
}

function integer(name: string, value: number, max: number): number {
  if (!Number.isInteger(value) || value < 1 || value > max) {
    throw codedError('COPY_INVALID_OPTION', `The option '${name}' must be an integer from 1 to ${max}`)
  }
  return value
}
