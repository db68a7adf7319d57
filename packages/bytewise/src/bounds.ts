/** Bounds of ranges, for the options `gt`, `gte`, `lt` and `lte`: positions between keys that no key can have. */

import type { Key } from './keys.js'

/** Marks bounds, including those of other copies of this package in the process. */
const BOUND = Symbol.for('terrace-bytewise.bound')

/**
 * A position just before or just after a key and everything below it. Bounds are created by {@link lower} and {@link upper}.
 */
export class Bound {
  /** Whether the position is after the key. */
  readonly isUpper: boolean
  /** The key that the position is before or after. It is undefined if {@link isWhole} is true. */
  readonly prefix: Key
  /** Whether the position is before or after all keys or, within an array, all elements that can follow there. */
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
 * A range, as options for an iterator, `clear()` and the like. The bounds have the type `any`, because the options of a
 * database have the type of its keys, and a bound is not a key.
 */
export interface KeyRange {
  /** The start of the range, inclusive. */
  // biome-ignore lint/suspicious/noExplicitAny: see above
  gte: any
  /** The end of the range, exclusive. */
  // biome-ignore lint/suspicious/noExplicitAny: see above
  lt: any
}

/**
 * Creates a bound just before `prefix` and everything below it. Below an array are all longer arrays that begin with its
 * elements. Below a string or bytes are all longer ones that begin with it. Below any other key is nothing. Without an
 * argument, the bound is before all keys or, as the last element of an array, before every possible element.
 */
export function lower(...prefix: [] | [prefix: Key]): Bound {
  return new Bound(false, prefix)
}

/** Creates a bound just after `prefix` and everything below it; see {@link lower}. */
export function upper(...prefix: [] | [prefix: Key]): Bound {
  return new Bound(true, prefix)
}

/**
 * Returns the range of `prefix` and everything below it: `prefix(['user', 7])` includes `['user', 7]` and
 * `['user', 7, 'name']`.
 */
export function prefix(prefix: Key): KeyRange {
  return between(prefix, prefix)
}

/** Returns the range from `first` to `last`, including both and everything below them. */
export function between(first: Key, last: Key): KeyRange {
  return { gte: lower(first), lt: upper(last) }
}
