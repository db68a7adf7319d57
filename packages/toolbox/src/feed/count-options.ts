/** The options and the results of a count. */

import type { CountedRange, Groups } from './grouping.js'

/** Options of `count`. */
export interface CountOptions<K = string, V = string> {
  /** The name under which numbers are stored: letters, digits, `_` and `-`. */
  name: string
  /**
   * Returns the group or groups, as text, in which an entry is counted, or undefined for none. Alternatively a list of ranges
   * of keys, each with the name of its group. A function must always return the same for the same entry.
   */
  of: ((key: K, value: V) => Groups) | ReadonlyArray<CountedRange<K>>
  /**
   * Whether the function is passed the value.
   *
   * @defaultValue `true`
   */
  values?: boolean
  /**
   * Change it whenever `of` changes; everything is then counted again.
   *
   * @defaultValue `''`
   */
  version?: string
  /** Called while existing entries are counted, with the number of entries so far. */
  onProgress?: (entries: number) => void
}

/** A group whose stored number differs from that of its entries. */
export interface CountDifference {
  /** The name of the group. */
  group: string
  /** The stored number. */
  stored: number
  /** The number of entries. */
  counted: number
}
