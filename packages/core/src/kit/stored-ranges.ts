/**
 * Ranges of keys in the form that a store has them: with a prefix, as another type, or of a limited length. For back-ends that
 * cannot pass the ranges of users to their stores unchanged.
 */

import type { Bytes, Range } from '../backend.js'

/** One end of a range of stored keys. */
export interface StoredBound<Key> {
  readonly key: Key
  readonly isIncluded: boolean
}

/** A range of stored keys. If a bound is undefined, the range has no limit at that end. */
export interface StoredRange<Key> {
  readonly lower: StoredBound<Key> | undefined
  readonly upper: StoredBound<Key> | undefined
}

/** Defines how a store represents keys. */
export interface KeyStorage<Key> {
  /** Returns a user's key as the store represents it. The argument may be a bound, which can be longer than any key. */
  stored(key: Bytes): Key
  /** Returns the longest prefix of a key that the store can hold; undefined if it can hold the whole key. */
  shortened?(key: Key): Key | undefined
  /** Returns a negative number if `a` comes before `b`, a positive one if it comes after `b`, and 0 if they are equal. */
  compare(a: Key, b: Key): number
}

/** Converts ranges of users' keys to ranges of stored keys. */
export class StoredRanges<Key> {
  readonly #keys: KeyStorage<Key>

  constructor(keys: KeyStorage<Key>) {
    this.#keys = keys
  }

  /** Returns the range of stored keys for a range of users' keys. */
  of({ gte, gt, lte, lt }: Range): StoredRange<Key> {
    return {
      lower: this.#bound(gte ?? gt, gte !== undefined, false),
      upper: this.#bound(lte ?? lt, lte !== undefined, true)
    }
  }

  /** Returns the rest of a range, in the direction of a walk, from a target on. */
  from(range: StoredRange<Key>, isReverse: boolean, target: Bytes): StoredRange<Key> {
    const { lower, upper } = this.of({ gte: target, lte: target })
    return isReverse ? { ...range, upper } : { ...range, lower }
  }

  /** Returns the rest of a range, in the direction of a walk, after a stored key. */
  after(range: StoredRange<Key>, isReverse: boolean, key: Key): StoredRange<Key> {
    const bound = { key, isIncluded: false }
    return isReverse ? { ...range, upper: bound } : { ...range, lower: bound }
  }

  /** Returns whether a key lies within a range. */
  contains({ lower, upper }: StoredRange<Key>, key: Key): boolean {
    return (
      (lower === undefined || isAfter(this.#keys.compare(key, lower.key), lower)) &&
      (upper === undefined || isAfter(this.#keys.compare(upper.key, key), upper))
    )
  }

  /** Returns whether no key can lie within a range. */
  isEmpty({ lower, upper }: StoredRange<Key>): boolean {
    if (lower === undefined || upper === undefined) return false
    const order = this.#keys.compare(lower.key, upper.key)
    return order > 0 || (order === 0 && !(lower.isIncluded && upper.isIncluded))
  }

  /** After a bound that is longer than any key come the keys after its beginning, which itself could be a key. */
  #bound(given: Bytes | undefined, isIncluded: boolean, isUpper: boolean): StoredBound<Key> | undefined {
    if (given === undefined) return undefined
    const key = this.#keys.stored(given)
    const shortened = this.#keys.shortened?.(key)
    return shortened === undefined ? { key, isIncluded } : { key: shortened, isIncluded: isUpper }
  }
}

function isAfter(order: number, { isIncluded }: { isIncluded: boolean }): boolean {
  return order > 0 || (order === 0 && isIncluded)
}
