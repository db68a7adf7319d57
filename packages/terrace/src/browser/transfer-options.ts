/** What {@link Level.export} and {@link Level.import} take. */

/** The progress of an export or an import. */
export interface TransferProgress {
  /** The number of finished files. */
  files: number
  /** The number of bytes so far. */
  bytes: number
  /** The total number of bytes; undefined if the files come one by one, so that it is unknown. */
  totalBytes: number | undefined
}

/** Options of {@link Level.export}. */
export interface ExportOptions {
  /** Called after each piece of at most 1 MiB. */
  onProgress?: ((progress: TransferProgress) => void) | undefined
}

/** Options of {@link Level.import}. */
export interface ImportOptions extends ExportOptions {
  /**
   * Whether the files replace an existing database. It stays unchanged until all of them are stored and the new database was opened
   * once, so there must be room for both.
   *
   * @defaultValue `false`
   */
  overwrite?: boolean | undefined
}

/** A file for an import: one with its name, such as a user chooses or drops, or a name and the contents. */
export type ImportFile = File | readonly [name: string, contents: Blob]

/** What {@link Level.import} reads: a directory, or its files. */
export type ImportSource = FileSystemDirectoryHandle | Iterable<ImportFile> | AsyncIterable<ImportFile>
