/** What {@link Level.export} and {@link Level.import} take. */

/** The progress of an export or an import. */
export interface TransferProgress {
  /** The number of finished files. */
  files: number
  /** The number of bytes transferred so far. */
  bytes: number
  /** The total number of bytes; undefined if the files arrive one by one, so that the total is unknown. */
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
   * Whether the files replace an existing database. The existing database stays unchanged until all files are stored and the new
   * database has been opened once, so there must be room for both.
   *
   * @defaultValue `false`
   */
  overwrite?: boolean | undefined
}

/** A file to import: a `File`, such as a user selects or drops, or a name with its contents. */
export type ImportFile = File | readonly [name: string, contents: Blob]

/** The source that {@link Level.import} reads: a directory, or its files. */
export type ImportSource = FileSystemDirectoryHandle | Iterable<ImportFile> | AsyncIterable<ImportFile>
