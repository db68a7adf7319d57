import { codedError } from '../errors.js'
import type { AnyLevel } from '../level-like.js'
import { ByteSource, type DumpSource } from './byte-source.js'
import { DumpDecoder } from './decode.js'
import {
  batchSizeOf,
  maxBlockSizeOf,
  type RestoreOptions,
  type Summary,
  throwIfAborted,
  type VerifyOptions
} from './options.js'
import { type RawEntry, Tally } from './tally.js'
import { writeEntries } from './write-entries.js'

/** Writes the entries of a dump, each block once it is known to be intact. */
export function restoreFrom(db: AnyLevel, source: DumpSource, options: RestoreOptions): Promise<Summary> {
  const batchSize = batchSizeOf(options)

  return readDump(source, options, async (entries) => {
    for (let first = 0; first < entries.length; first += batchSize) {
      throwIfAborted(options)
      await writeEntries(db, entries.slice(first, first + batchSize))
    }
  })
}

/** Reads a dump to its end, and passes each of its blocks to `take`. */
export async function readDump(
  source: DumpSource,
  options: VerifyOptions,
  take: (entries: RawEntry[]) => Promise<void>
): Promise<Summary> {
  const maxBlockSize = maxBlockSizeOf(options)
  throwIfAborted(options)
  const bytes = new ByteSource(source)
  const decoder = new DumpDecoder(bytes, maxBlockSize)
  const tally = new Tally(options)

  try {
    await decoder.header()

    while (true) {
      throwIfAborted(options)
      const part = await decoder.next()
      if ('trailer' in part) {
        compare(tally.summary, part.trailer)
        return tally.finish()
      }

      await take(part.entries)
      for (const entry of part.entries) tally.add(entry)
      tally.report()
    }
  } finally {
    await bytes.close()
  }
}

/**
 * Compares what was read with what the trailer says.
 *
 * @throws DUMP_DAMAGED if blocks are missing, duplicated or reordered.
 */
function compare(read: Summary, written: Summary): void {
  const isSame =
    read.entries === written.entries && read.bytes === written.bytes && read.checksum === written.checksum
  if (isSame) return

  throw codedError(
    'DUMP_DAMAGED',
    `The dump is damaged: it has ${read.entries} entries, but ${written.entries} or different ones were written`
  )
}
