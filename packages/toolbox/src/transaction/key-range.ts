import type { ByteString } from '../encoded.js'

/** Keys of the root from `from` up to, but not including, `to`; up to the last key if `to` is undefined. */
export interface KeyRange {
  readonly from: ByteString
  readonly to: ByteString | undefined
}

/** Options of iterators that bound a range. */
export interface RangeOptions {
  gt?: unknown
  gte?: unknown
  lt?: unknown
  lte?: unknown
}

/** Whether a key is in the range. */
export function contains(range: KeyRange, key: ByteString): boolean {
  return key >= range.from && (range.to === undefined || key < range.to)
}
