/** The options that declare an index, and those of queries. */

/** The progress of building an index. */
export interface IndexProgress {
  /** The number of records read since the build began, including those read before a restart. */
  records: number
  /** The number of index entries written for these records. */
  entries: number
}

/** Options of `index()`. */
export interface IndexOptions<K, V> {
  /** The name of the index, which no other index of the database may have: letters, digits, `_` and `-`. */
  name: string
  /**
   * What to index: the path of a property, with dots between its names; several paths, for a compound value; or a function
   * that computes the indexed value from a value and its key. Records whose indexed value is undefined are not in the index.
   * The function must be pure: it always returns the same result for the same value and key, and has no side effects. If it
   * throws, the write is refused.
   */
  on: string | readonly string[] | ((value: V, key: K) => unknown)
  /**
   * Whether each element of an array gets a separate entry. If not, an array is indexed as one value.
   *
   * @defaultValue `false`
   */
  multiple?: boolean
  /**
   * Whether each value may belong to only one key. A write that would give a value to a second key is refused.
   *
   * @defaultValue `false`
   */
  unique?: boolean
  /**
   * The version of the function in `on`. If it differs from the previous version, the index is rebuilt.
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
  /** Called after each step of the build. Errors that it throws are ignored. */
  onProgress?: (progress: IndexProgress) => void
}

/** The range of index entries to read. Values are compared in the order of terrace-bytewise. */
export interface IndexRange {
  /** Selects the entries with exactly this value. */
  equals?: unknown
  /** Selects the entries whose value begins with this: a string, bytes, or the first elements of a compound value. */
  prefix?: unknown
  /** The lower bound, exclusive. */
  gt?: unknown
  /** The lower bound, inclusive. */
  gte?: unknown
  /** The upper bound, exclusive. */
  lt?: unknown
  /** The upper bound, inclusive. */
  lte?: unknown
  /**
   * Whether to read from the highest value to the lowest.
   *
   * @defaultValue `false`
   */
  reverse?: boolean
  /** The maximum number of results. By default, all are returned. */
  limit?: number
  /**
   * How many entries and values are read, and held in memory, at a time: 1 to 10,000.
   *
   * @defaultValue `100`
   */
  pageSize?: number
}
