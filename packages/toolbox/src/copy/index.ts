/** Copies between databases, and dumps that can be restored into any. */

import type { AnyLevel, LevelLike } from '../level-like.js'
import type { DumpSource } from './byte-source.js'
import { copyEntries } from './copy.js'
import { type DumpDestination, dumpPieces, dumpTo } from './dump.js'
import type { CopyOptions, DumpOptions, RestoreOptions, Summary, VerifyOptions } from './options.js'
import { readDump, restoreFrom } from './restore.js'

export type { DumpSource } from './byte-source.js'
export type { DumpDestination } from './dump.js'
export type {
  CopyOptions,
  CopyRange,
  DumpOptions,
  Progress,
  RestoreOptions,
  Summary,
  VerifyOptions
} from './options.js'

/**
 * Copies the entries of one database into another, as bytes, in batches, from one snapshot. What the target has under
 * the same keys is overwritten, what it has besides stays. Each batch is read back and compared.
 *
 * After an error the target has the batches before; copying again completes it.
 *
 * @throws COPY_MISMATCH if the target does not have what was written to it, COPY_ABORTED, COPY_INVALID_OPTION, and what the
 * databases reject with.
 */
export async function copy<K, V, KTo, VTo>(
  from: LevelLike<K, V>,
  to: LevelLike<KTo, VTo>,
  options: CopyOptions<K> = {}
): Promise<Summary> {
  return copyEntries(from as AnyLevel, to as AnyLevel, options)
}

/**
 * Writes the entries of a database to a stream of bytes, from one snapshot, and ends the stream.
 *
 * @throws COPY_ABORTED, and what the database and the stream reject with; the stream then has no whole dump.
 */
export async function dump<K, V>(
  db: LevelLike<K, V>,
  destination: DumpDestination,
  options: DumpOptions<K> = {}
): Promise<Summary> {
  return dumpTo(db as AnyLevel, destination, options)
}

/** The bytes of a dump in pieces, for what takes those: `writeFile(path, dumpBytes(db))`. */
export function dumpBytes<K, V>(
  db: LevelLike<K, V>,
  options: DumpOptions<K> = {}
): AsyncGenerator<Uint8Array, Summary, void> {
  return dumpPieces(db as AnyLevel, options)
}

/**
 * Writes the entries of a dump into a database. What it has under the same keys is overwritten, what it has besides
 * stays. A block is written once it is known to be whole; success means that all of the dump was there.
 *
 * After an error the database has the blocks before. To know beforehand use {@link verifyDump}.
 *
 * @throws DUMP_NOT_A_DUMP, DUMP_VERSION, DUMP_TRUNCATED, DUMP_DAMAGED, DUMP_TOO_LARGE (all with `offset`), DUMP_INVALID_SOURCE,
 * COPY_ABORTED, COPY_INVALID_OPTION, and what the source and the database reject with.
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
 * @throws as {@link restore} does.
 */
export async function verifyDump(source: DumpSource, options: VerifyOptions = {}): Promise<Summary> {
  return readDump(source, options, async () => {})
}
