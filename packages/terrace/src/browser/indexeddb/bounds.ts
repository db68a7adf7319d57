/** The bounds of a range, as IndexedDB takes them. */

import type { Range } from 'terrace-core'
import { bytesOf } from './bytes.js'

/** A missing bound is undefined. */
export interface Bounds {
  readonly lower: IDBValidKey | undefined
  readonly isLowerOpen: boolean
  readonly upper: IDBValidKey | undefined
  readonly isUpperOpen: boolean
}

/** The bounds of a range. Its keys are copied. */
export function boundsOf({ gte, gt, lte, lt }: Range): Bounds {
  return {
    lower: copied(gte ?? gt),
    isLowerOpen: gte === undefined,
    upper: copied(lte ?? lt),
    isUpperOpen: lte === undefined
  }
}

function copied(key: Range['gte']): Uint8Array<ArrayBuffer> | undefined {
  return key === undefined ? undefined : bytesOf(key)
}

/** The bounds of the rest, in the direction of a walk, from a key on. */
export function boundsFrom(bounds: Bounds, key: IDBValidKey, isOpen: boolean, reverse: boolean): Bounds {
  return reverse
    ? { ...bounds, upper: key, isUpperOpen: isOpen }
    : { ...bounds, lower: key, isLowerOpen: isOpen }
}

/** Whether a range cannot hold any key. IndexedDB refuses such ranges. */
export function isEmpty({ lower, isLowerOpen, upper, isUpperOpen }: Bounds): boolean {
  if (lower === undefined || upper === undefined) return false
  const order = indexedDB.cmp(lower, upper)
  return order > 0 || (order === 0 && (isLowerOpen || isUpperOpen))
}

/** Whether a key lies within the bounds. */
export function contains(bounds: Bounds, key: IDBValidKey): boolean {
  return !isEmpty(bounds) && (keyRangeOf(bounds)?.includes(key) ?? true)
}

/** A range that is not empty for IndexedDB; undefined if it holds every key. */
export function keyRangeOf({ lower, isLowerOpen, upper, isUpperOpen }: Bounds): IDBKeyRange | undefined {
  if (lower !== undefined && upper !== undefined) {
    return IDBKeyRange.bound(lower, upper, isLowerOpen, isUpperOpen)
  }
  if (lower !== undefined) return IDBKeyRange.lowerBound(lower, isLowerOpen)
  return upper === undefined ? undefined : IDBKeyRange.upperBound(upper, isUpperOpen)
}
