/** What {@link Level.export} and {@link Level.import} take. */

/** How far an export or an import has come. */
export interface TransferProgress {
  /** Files that are finished. */
  files: number
  /** Bytes so far. */
  bytes: number
  /** All bytes that there are; undefined if the files come one by one, so that nobody knows. */
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
   * Whether the files take the place of a database that exists already. It stays as it is until all of them are stored and the new database
   * was opened once, so there has to be room for both.
   *
   * @defaultValue `false`
   */
  overwrite?: boolean | undefined
}

/** A file for an import: one that has its name, such as a program chooses or drops, or a name and the contents. */
export type ImportFile = File | readonly [name: string, contents: Blob]

/** What {@link Level.import} reads: a directory, or its files. */
export type ImportSource = FileSystemDirectoryHandle | Iterable<ImportFile> | AsyncIterable<ImportFile>
