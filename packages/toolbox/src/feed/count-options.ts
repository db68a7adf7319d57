/** The options and the results of a count. */

import type { CountedRange, Groups } from './grouping.js'

/** Options of `count`. */
export interface CountOptions<K = string, V = string> {
  /** The name under which the counts are stored: letters, digits, `_` and `-`. */
  name: string
  /**
   * A function that returns the group or groups, as text, in which an entry is counted, or undefined for none. Alternatively,
   * a list of ranges of keys, each with the name of its group. A function must always return the same groups for the same
   * entry.
   */
  of: ((key: K, value: V) => Groups) | ReadonlyArray<CountedRange<K>>
  /**
   * Whether the function is passed the value.
   *
   * @defaultValue `true`
   */
  values?: boolean
  /**
   * The version of `of`. Change it whenever `of` changes; all entries are then counted again.
   *
   * @defaultValue `''`
   */
  version?: string
  /** Called while existing entries are counted, with the number of entries so far. */
  onProgress?: (entries: number) => void
}

/** A group whose stored count differs from the number of its entries. */
export interface CountDifference {
  /** The name of the group. */
  group: string
  /** The stored count. */
  stored: number
  /** The actual number of entries. */
  counted: number
}
