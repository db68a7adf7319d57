/** Bounds of ranges, for the options `gt`, `gte`, `lt` and `lte`: places between keys that no key has. */

import type { Key } from './keys.js'

/** Marks bounds, also for other copies of this package in the process. */
const BOUND = Symbol.for('terrace-bytewise.bound')

/** A place just before, or just behind, a key and everything beneath it. Made by {@link lower} and {@link upper}. */
export class Bound {
  /** Whether it is behind. */
  readonly isUpper: boolean
  /** What it is before or behind; undefined, with `isWhole`, for all keys. */
  readonly prefix: Key
  /** Whether it is before or behind all keys, or within an array all that can follow there. */
  readonly isWhole: boolean

  /** @internal */
  readonly [BOUND] = true

  /** @internal */
  static [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && Object.hasOwn(value, BOUND)
  }

  /** @internal */
  constructor(isUpper: boolean, prefix: readonly [] | readonly [Key]) {
    this.isUpper = isUpper
    this.isWhole = prefix.length === 0
    this.prefix = prefix[0]
  }
}

/**
 * Options of an iterator, of `clear()` and alike. The types are open because the options of a database have the type of
 * its keys, and a bound is none.
 */
export interface KeyRange {
  /** From here. */
  // biome-ignore lint/suspicious/noExplicitAny: see above
  gte: any
  /** To before here. */
  // biome-ignore lint/suspicious/noExplicitAny: see above
  lt: any
}

/**
 * A bound just before `prefix` and everything beneath it: the array and all longer ones that begin with its elements;
 * the string, or bytes, and all that begin with them. Of other keys, before just the key. Without an argument: before
 * all keys, or, as the last element of an array, before all that can stand there.
 */
export function lower(...prefix: [] | [prefix: Key]): Bound {
  return new Bound(false, prefix)
}

/** A bound just behind `prefix` and everything beneath it; see {@link lower}. */
export function upper(...prefix: [] | [prefix: Key]): Bound {
  return new Bound(true, prefix)
}

/** The range of `prefix` and everything beneath it: `prefix(['user', 7])` has `['user', 7]` and `['user', 7, 'name']`. */
export function prefix(prefix: Key): KeyRange {
  return between(prefix, prefix)
}

/** The range from `first` to `last`, both with everything beneath them. */
export function between(first: Key, last: Key): KeyRange {
  return { gte: lower(first), lt: upper(last) }
}
