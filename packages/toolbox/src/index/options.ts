/** What declares an index. */

/** How far the building of an index is. */
export interface IndexProgress {
  /** Records that were read, since the building began, also before a restart. */
  records: number
  /** Entries that were written for them. */
  entries: number
}

/** Options of `index()`. */
export interface IndexOptions<K, V> {
  /** The name of the index, one of its own for each index of a database: letters, digits, `_` and `-`. */
  name: string
  /**
   * What is indexed: the path of a property, with dots between its names; several paths, for a compound value; or a
   * function that makes it of a value and its key. Values for which it is undefined are not in the index. The function
   * must be pure: the same result for the same value and key, at any time, and nothing changed. One that throws
   * refuses the write.
   */
  on: string | readonly string[] | ((value: V, key: K) => unknown)
  /** An array gives an entry for each of its elements. Default: false, an array is one value. */
  multiple?: boolean
  /** A value may belong to one key only; what would give it to a second one is refused. Default: false. */
  unique?: boolean
  /** The version of the function: another one than last time rebuilds the index. Default: 0. */
  version?: number | string
  /** Whether queries wait while the index is being built; otherwise they throw. Default: true. */
  wait?: boolean
  /** Called after each step of building. What it throws is ignored. */
  onProgress?: (progress: IndexProgress) => void
}

/** Which entries of an index are read. Values compare in the order of terrace-bytewise. */
export interface IndexRange {
  /** Entries of exactly this value. */
  equals?: unknown
  /** Entries whose value begins so: a string, bytes, or the first elements of a compound value. */
  prefix?: unknown
  gt?: unknown
  gte?: unknown
  lt?: unknown
  lte?: unknown
  /** From the highest to the lowest. Default: false. */
  reverse?: boolean
  /** At most so many results. Default: all. */
  limit?: number
  /** How many entries and values are read, and held in memory, at a time: 1 to 10,000. Default: 100. */
  pageSize?: number
}
