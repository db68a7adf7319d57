/** Ranges of keys as half-open intervals of bytes, and what is common to them. */

import type { WireRange } from '../protocol/parts.js'

/** From `start`, included, to `end`, excluded. An `end` of null is after every key. */
export interface Interval {
  readonly start: Uint8Array
  readonly end: Uint8Array | null
}

const nothing = new Uint8Array(0)

export const everything: Interval = { start: nothing, end: null }

/** The interval of a range with abstract-level's bounds. `gte` takes precedence over `gt`, and `lte` over `lt`. */
export function intervalOf([gte, gt, lte, lt]: WireRange): Interval {
  return {
    start: gte ?? (gt === null ? nothing : successor(gt)),
    end: lte === null ? lt : successor(lte)
  }
}

/** The keys that begin with these bytes. */
export function intervalOfPrefix(prefix: Uint8Array): Interval {
  const end = Uint8Array.from(prefix)
  for (let last = end.length - 1; last >= 0; last--) {
    if ((end[last] as number) < 0xff) {
      end[last] = (end[last] as number) + 1
      return { start: prefix, end: end.subarray(0, last + 1) }
    }
  }
  return { start: prefix, end: null }
}

export function contains({ start, end }: Interval, key: Uint8Array): boolean {
  return compare(key, start) >= 0 && (end === null || compare(key, end) < 0)
}

/** Whether an interval has all keys that are in another one. */
export function includes(outer: Interval, inner: Interval): boolean {
  if (compare(inner.start, outer.start) < 0) return false
  return outer.end === null || (inner.end !== null && compare(inner.end, outer.end) <= 0)
}

export function isEmpty({ start, end }: Interval): boolean {
  return end !== null && compare(start, end) >= 0
}

/** The keys that are in both. */
export function intersection(a: Interval, b: Interval): Interval {
  const start = compare(a.start, b.start) >= 0 ? a.start : b.start
  if (a.end === null || b.end === null) return { start, end: a.end ?? b.end }
  return { start, end: compare(a.end, b.end) <= 0 ? a.end : b.end }
}

/** The same keys, in order, as few intervals that neither overlap nor touch. */
export function union(intervals: readonly Interval[]): Interval[] {
  const sorted = intervals.filter((each) => !isEmpty(each)).sort((a, b) => compare(a.start, b.start))
  const result: Interval[] = []
  for (const each of sorted) {
    const last = result.at(-1)
    const touches = last !== undefined && (last.end === null || compare(each.start, last.end) <= 0)
    if (last === undefined || !touches) result.push(each)
    else if (last.end !== null && (each.end === null || compare(each.end, last.end) > 0)) {
      result[result.length - 1] = { start: last.start, end: each.end }
    }
  }
  return result
}

export function compare(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a, b)
}

/** The first key after this one. */
function successor(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1)
  next.set(key)
  return next
}
