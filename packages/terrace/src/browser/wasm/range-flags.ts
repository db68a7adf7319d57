/** Ranges as numbers, as `crates/wasm-abi/src/page.rs` has them. */

import type { CursorParts, Range } from 'terrace-core'

export const RangeFlag = { keys: 1, values: 2, reverse: 4, lowerExcluded: 8, upperExcluded: 16 } as const

/** What a cursor over these parts reads. */
export const partsFlags: Record<CursorParts, number> = {
  keys: RangeFlag.keys,
  values: RangeFlag.values,
  entries: RangeFlag.keys | RangeFlag.values
}

/** The flags of a range. A bound that is missing counts as excluded. */
export function flagsOf({ gte, lte }: Range, reverse: boolean): number {
  let flags = reverse ? RangeFlag.reverse : 0
  if (gte === undefined) flags |= RangeFlag.lowerExcluded
  if (lte === undefined) flags |= RangeFlag.upperExcluded
  return flags
}
