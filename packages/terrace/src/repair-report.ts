/** The result of a repair. */
export interface RepairReport {
  /** Whether every entry that the database held is still there, as far as that can be determined. */
  nothingLost: boolean
  /** The bytes of entries and log records that could not be read. */
  lostBytes: number
  /** The number of entries in the tables afterwards, including deletions and old values that no compaction has removed yet. */
  entriesKept: number
  /** A report of everything that was found and done, for people to read. */
  text: string
}
