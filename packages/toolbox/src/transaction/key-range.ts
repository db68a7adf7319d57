import type { ByteString } from '../encoded.js'

/** Keys of the root from `from` to before `to`; to the last one if `to` is undefined. */
export interface KeyRange {
  from: ByteString
  to: ByteString | undefined
}

/** The options of iterators that bound a range. */
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

/** Whether two ranges may have a key in common. */
export function overlap(a: KeyRange, b: KeyRange): boolean {
  return (a.to === undefined || b.from < a.to) && (b.to === undefined || a.from < b.to)
}
