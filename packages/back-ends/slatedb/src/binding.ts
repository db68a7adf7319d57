/**
 * Types for the part of the SlateDB package that this one uses. It is an ES module, so it is loaded by `import()`.
 */

/** A row that an iterator yields. */
export interface Row {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

/** A range of keys. An undefined bound does not limit it. SlateDB rejects a range that cannot contain any key. */
export interface KeyRange {
  readonly start: Uint8Array | undefined
  readonly start_inclusive: boolean
  readonly end: Uint8Array | undefined
  readonly end_inclusive: boolean
}

export interface ReadOptions {
  readonly durability_filter: 'Memory' | 'Remote'
  readonly dirty: boolean
  readonly cache_blocks: boolean
}

export interface ScanOptions extends ReadOptions {
  readonly read_ahead_bytes: number
  readonly max_fetch_tasks: number
  readonly order: 'Ascending' | 'Descending'
}

/** An object of the engine. `dispose()` releases it; running calls continue. */
export interface Native {
  dispose(): boolean
}

/** Yields rows of one state. Calls of `next()` may overlap: they are served in order. */
export interface NativeIterator extends Native {
  next(): Promise<Row | undefined>
  seek(key: Uint8Array): Promise<void>
}

/** A readable object: a database, a snapshot of one, or a reader. */
export interface Source extends Native {
  get_with_options(key: Uint8Array, options: ReadOptions): Promise<Uint8Array | undefined>
  scan_with_options(range: KeyRange, options: ScanOptions): Promise<NativeIterator>
}

/** Operations that take effect together. `write_with_options` consumes the batch. */
export interface NativeBatch extends Native {
  put(key: Uint8Array, value: Uint8Array): void
  delete(key: Uint8Array): void
}

/** A database opened for writing. */
export interface NativeDb extends Source {
  write_with_options(batch: NativeBatch, options: { readonly await_durable: boolean }): Promise<unknown>
  /** Writes the log's data in memory to the store. */
  flush_with_options(options: { readonly flush_type: 'Wal' | 'MemTable' }): Promise<void>
  snapshot(): Promise<Source>
  shutdown(): Promise<void>
}

/** A database opened for reading. It follows the writer at an interval. */
export interface NativeReader extends Source {
  status(): { readonly durable_seq: number | bigint }
  shutdown(): Promise<void>
}

export interface NativeSettings extends Native {
  set(key: string, json: string): void
}

interface Builder<Result> extends Native {
  build(): Promise<Result>
}

export interface DbBuilder extends Builder<NativeDb> {
  with_settings(settings: NativeSettings): void
}

export interface ReaderBuilder extends Builder<NativeReader> {
  with_options(options: {
    readonly manifest_poll_interval_ms: number
    readonly checkpoint_lifetime_ms: number
    readonly max_memtable_bytes: number
    readonly skip_wal_replay: boolean
  }): void
  with_checkpoint_id(id: string): void
}

/** A file of the log. */
export interface LogFile extends Native {
  id(): number | bigint
}

/** Lists the files of the log. Unlike other calls, it reports the store's first error instead of retrying. */
export interface WalReader extends Native {
  list(start: number | undefined, end: number | undefined): Promise<LogFile[]>
}

/** The module. */
export interface Binding {
  readonly ObjectStore: { resolve(url: string): Native }
  readonly Settings: { default(): NativeSettings }
  readonly WriteBatch: new () => NativeBatch
  readonly DbBuilder: new (path: string, store: Native) => DbBuilder
  readonly DbReaderBuilder: new (path: string, store: Native) => ReaderBuilder
  readonly WalReader: new (path: string, store: Native) => WalReader
}

let loaded: Promise<Binding> | undefined

/** Loads the engine, once per process. */
export function loadBinding(): Promise<Binding> {
  loaded ??= import('@slatedb/uniffi') as unknown as Promise<Binding>
  return loaded
}
