/** Ranges on their way to the worker. */

import type { Bytes, Range } from 'terrace-core'
import { storeTwo } from '../../wasm/arguments.js'
import { flagsOf, RangeFlag } from '../../wasm/range-flags.js'
import type { ByteWriter } from './byte-writer.js'
import { NONE } from './calls.js'

/** Stores the bounds of a range. Returns its flags and the lengths of the bounds. */
export function storeRange(
  bytes: ByteWriter,
  range: Range,
  reverse: boolean
): [flags: number, lowerLength: number, upperLength: number] {
  const lower = range.gte ?? range.gt
  const upper = range.lte ?? range.lt
  const [lowerLength, upperLength] = storeTwo(bytes, lower, upper)
  bytes.end += lowerLength + upperLength
  return [
    flagsOf(range, reverse),
    lower === undefined ? NONE : lowerLength,
    upper === undefined ? NONE : upperLength
  ]
}

/** The range of these words. `take` takes the next bytes. */
export function rangeOf(
  flags: number,
  lowerLength: number,
  upperLength: number,
  take: (lengthBytes: number) => Bytes
): Range & { reverse: boolean } {
  const range: Range & { reverse: boolean } = { reverse: (flags & RangeFlag.reverse) !== 0 }
  if (lowerLength !== NONE) range[(flags & RangeFlag.lowerExcluded) === 0 ? 'gte' : 'gt'] = take(lowerLength)
  if (upperLength !== NONE) range[(flags & RangeFlag.upperExcluded) === 0 ? 'lte' : 'lt'] = take(upperLength)
  return range
}
