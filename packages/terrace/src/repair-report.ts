/** What a repair did. */
export interface RepairReport {
  /** Whether every entry that the database held is still there, as far as that can be known. */
  nothingLost: boolean
  /** The bytes of entries and log records that could not be read. */
  lostBytes: number
  /** The number of entries in the tables afterwards, including deletions and old values that no compaction has removed yet. */
  entriesKept: number
  /** Everything that was found and done, for a person to read. */
  text: string
}
