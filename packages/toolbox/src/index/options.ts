/** The options that declare an index, and those of queries. */

/** The progress of building an index. */
export interface IndexProgress {
  /** The number of records read since the building began, including those before a restart. */
  records: number
  /** The number of entries written for them. */
  entries: number
}

/** Options of `index()`. */
export interface IndexOptions<K, V> {
  /** The name of the index, which no other index of the database may have: letters, digits, `_` and `-`. */
  name: string
  /**
   * What is indexed: the path of a property, with dots between its names; several paths, for a compound value; or a function
   * that computes it from a value and its key. Records for which it is undefined are not in the index. The function must be
   * pure: it always returns the same for the same value and key, and changes nothing. If it throws, the write is refused.
   */
  on: string | readonly string[] | ((value: V, key: K) => unknown)
  /**
   * Whether an array gives an entry for each of its elements. If not, an array is one value.
   *
   * @defaultValue `false`
   */
  multiple?: boolean
  /**
   * Whether a value may belong to one key only. A write that would give it to a second key is refused.
   *
   * @defaultValue `false`
   */
  unique?: boolean
  /**
   * The version of the function. If it differs from the last one, the index is rebuilt.
   *
   * @defaultValue `0`
   */
  version?: number | string
  /**
   * Whether queries wait while the index is being built. If not, they throw.
   *
   * @defaultValue `true`
   */
  wait?: boolean
  /** Called after each step of building. If it throws, the error is ignored. */
  onProgress?: (progress: IndexProgress) => void
}

/** The entries of an index to read. Values compare in the order of terrace-bytewise. */
export interface IndexRange {
  /** Only entries of exactly this value. */
  equals?: unknown
  /** Only entries whose value begins with this: a string, bytes, or the first elements of a compound value. */
  prefix?: unknown
  /** The lower bound, excluded. */
  gt?: unknown
  /** The lower bound, included. */
  gte?: unknown
  /** The upper bound, excluded. */
  lt?: unknown
  /** The upper bound, included. */
  lte?: unknown
  /**
   * Whether to go from the highest to the lowest.
   *
   * @defaultValue `false`
   */
  reverse?: boolean
  /** The most results to return. By default, all are returned. */
  limit?: number
  /**
   * How many entries and values are read, and held in memory, at a time: 1 to 10,000.
   *
   * @defaultValue `100`
   */
  pageSize?: number
}
