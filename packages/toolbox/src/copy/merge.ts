/**
 * Adds the entries of a source to a target that keeps its other entries. Each part is compared by a lookup of
 * its keys.
 */

import { bytesOf } from '../encoded.js'
import { codedError } from '../errors.js'
import type { AnyLevel } from '../level-like.js'
import type { RawEntry } from './tally.js'
import { valuesOf, writeEntries } from './write-entries.js'

/** Writes the entries that the target does not have. Returns their number. */
export async function mergePart(to: AnyLevel, part: RawEntry[], verify: boolean): Promise<number> {
  const missing = await missingOf(to, part)
  if (missing.length === 0) return 0
  await writeEntries(to, missing)

  const wrong = verify ? await missingOf(to, missing) : []
  if (wrong.length === 0) return missing.length
  throw codedError(
    'COPY_MISMATCH',
    `The target differs from what was written: ${wrong.length} of ${missing.length} entries are missing or differ`
  )
}

/** The entries that the target lacks or holds with another value. */
async function missingOf(to: AnyLevel, entries: RawEntry[]): Promise<RawEntry[]> {
  const values = await valuesOf(to, entries)
  return entries.filter(([, value], index) => {
    const found = values[index]
    return found === undefined || !bytesOf(value).equals(bytesOf(found))
  })
}
