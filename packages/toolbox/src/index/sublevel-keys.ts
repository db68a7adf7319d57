/** The keys of sublevels among those of the database that they are in. */

import { Buffer } from '../buffer.js'

const EXCLAMATION_MARK = 0x21
/** The bytes of a sublevel's name are between these two, both excluded. */
const BELOW_NAMES = 0x22
const ABOVE_NAMES = 0x7f

/**
 * The end of a sublevel's keys within a database, if `key` is one of them: `!name!` and what follows. Such keys belong to the
 * sublevel and are not indexed.
 */
export function endOfSublevel(key: Uint8Array): Buffer | undefined {
  if (key[0] !== EXCLAMATION_MARK) return undefined
  let length = 1
  while (
    length < key.length &&
    (key[length] as number) > BELOW_NAMES &&
    (key[length] as number) < ABOVE_NAMES
  ) {
    length++
  }
  if (length === 1 || key[length] !== EXCLAMATION_MARK) return undefined
  const end = Buffer.from(key.subarray(0, length + 1))
  end[length] = EXCLAMATION_MARK + 1
  return end
}
