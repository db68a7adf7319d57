/** Reads and writes of entries as bytes. */

import type { AnyLevel } from '../level-like.js'
import type { RawEntry } from './tally.js'

/** Options for keys and values as bytes. */
export const rawBytes = { keyEncoding: 'view', valueEncoding: 'view' } as const

/** Writes entries in one batch. */
export function writeEntries(to: AnyLevel, entries: RawEntry[]): Promise<void> {
  return to.batch(
    entries.map(([key, value]) => ({ type: 'put', key, value })),
    rawBytes as object
  )
}

/** Reads what the target has for the keys of some entries: a value for each, or nothing. */
export async function valuesOf(to: AnyLevel, entries: RawEntry[]): Promise<Array<Uint8Array | undefined>> {
  const keys = entries.map(([key]) => key)
  return to.getMany(keys, rawBytes as object)
}
