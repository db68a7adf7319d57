/** Copies between databases, and dumps that can be restored into any database. */

import type { AnyLevel, LevelLike } from '../level-like.js'
import type { DumpSource } from './byte-source.js'
import { copyEntries } from './copy.js'
import { type DumpDestination, dumpPieces, dumpTo } from './dump.js'
import type {
  CopyOptions,
  CopySummary,
  DumpOptions,
  RestoreOptions,
  Summary,
  VerifyOptions
} from './options.js'
import { readDump, restoreFrom } from './restore.js'

export type { DumpSource } from './byte-source.js'
export type { DumpDestination } from './dump.js'
export type {
  CopyOptions,
  CopyProgress,
  CopyRange,
  CopySummary,
  DumpOptions,
  Existing,
  Progress,
  RestoreOptions,
  Summary,
  VerifyOptions
} from './options.js'

/**
 * Copies the entries of one database into another, as bytes, in batches, from one snapshot. When the promise resolves, the target
 * holds exactly what was read from the source, and the last write was synced. With `existing: 'merge'`, the target also keeps its
 * other entries, and nothing was synced.
 *
 * Until then, the target is marked as unfinished. After an error or a crash, copying again completes the copy: it compares the
 * existing entries with the current source, writes what differs, and deletes what only the target has.
 *
 * Nothing else may write to the target during the copy.
 *
 * @throws COPY_TARGET_NOT_EMPTY if the target has entries that are not from an unfinished copy, and `existing` is `refuse`.
 * @throws COPY_SAME_DATABASE if the source and the target are the same. Nothing is changed.
 * @throws COPY_UNFINISHED if the source is the target of an unfinished copy, or the target is and `existing` is `merge`.
 * @throws COPY_MISMATCH if the target does not have what was written to it.
 * @throws COPY_KEY_ORDER if the keys of a database are not in byte order, and the copy must compare them in that order.
 * @throws COPY_ABORTED if the signal was aborted.
 * @throws COPY_INVALID_OPTION if an option is not valid.
 * @throws any error of the databases.
 */
export async function copy<K, V, KTo, VTo>(
  from: LevelLike<K, V>,
  to: LevelLike<KTo, VTo>,
  options: CopyOptions<K> = {}
): Promise<CopySummary> {
  return copyEntries(from as AnyLevel, to as AnyLevel, options)
}

/**
 * Writes the entries of a database to a stream of bytes, from one snapshot, and ends the stream.
 *
 * @throws COPY_ABORTED if the signal was aborted. The dump in the stream is then incomplete.
 * @throws DUMP_TRUNCATED if the destination ended before the dump.
 * @throws any error of the database or the stream, with the same consequence.
 */
export async function dump<K, V>(
  db: LevelLike<K, V>,
  destination: DumpDestination,
  options: DumpOptions<K> = {}
): Promise<Summary> {
  return dumpTo(db as AnyLevel, destination, options)
}

/** Yields the bytes of a dump in pieces, for functions that take an iterable: `writeFile(path, dumpBytes(db))`. */
export function dumpBytes<K, V>(
  db: LevelLike<K, V>,
  options: DumpOptions<K> = {}
): AsyncGenerator<Uint8Array, Summary, void> {
  return dumpPieces(db as AnyLevel, options)
}

/**
 * Writes the entries of a dump into a database. Existing entries with the same keys are overwritten; all others stay. Each block is
 * written once it is known to be intact. Success means that the dump was complete.
 *
 * After an error, the database contains the blocks that were written before it. To check a dump beforehand, use {@link verifyDump}.
 *
 * @throws DUMP_NOT_A_DUMP if the source is not a dump. This error and the next four have an `offset`, the number of bytes read, where
 *   it is known.
 * @throws DUMP_VERSION if the dump has a version that cannot be read.
 * @throws DUMP_TRUNCATED if the dump is cut off.
 * @throws DUMP_DAMAGED if a checksum or a count is wrong.
 * @throws DUMP_TOO_LARGE if a block is larger than `maxBlockSizeBytes`.
 * @throws DUMP_INVALID_SOURCE if the source is neither a stream nor an iterable, or yields something other than bytes.
 * @throws COPY_ABORTED if the signal was aborted.
 * @throws COPY_INVALID_OPTION if an option is not valid.
 * @throws any error of the source or the database.
 */
export async function restore<K, V>(
  db: LevelLike<K, V>,
  source: DumpSource,
  options: RestoreOptions = {}
): Promise<Summary> {
  return restoreFrom(db as AnyLevel, source, options)
}

/**
 * Reads a dump to its end and checks it, without writing anything.
 *
 * @throws the errors of {@link restore}.
 */
export async function verifyDump(source: DumpSource, options: VerifyOptions = {}): Promise<Summary> {
  return readDump(source, options, async () => {})
}
