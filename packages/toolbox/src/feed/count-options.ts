/** What a count is asked for, and what it answers. */

import type { CountedRange, Groups } from './grouping.js'

/** Options of `count`. */
export interface CountOptions<K = string, V = string> {
  /** The name under which numbers are stored: letters, digits, `_` and `-`. */
  name: string
  /**
   * The group, or groups, that an entry is counted in, as text; undefined: in none. Or a list of ranges of
   * keys, each with the name of its group. A function must always say the same of the same entry.
   */
  of: ((key: K, value: V) => Groups) | readonly CountedRange[]
  /** Whether `of` is passed the value. Default true. */
  values?: boolean
  /** To be changed when `of` changes: what is stored is then counted anew. Default `''`. */
  version?: string
  /** Called while existing entries are counted, with how many were until now. */
  onProgress?: (entries: number) => void
}

/** A group whose stored number is not what its entries are. */
export interface CountDifference {
  group: string
  /** What is stored. */
  stored: number
  /** What the entries are. */
  counted: number
}
