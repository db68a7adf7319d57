/** A database in the first of several places that the browser turns out to have, which only opening it tells. */

import type {
  BackendCursor,
  BackendManifest,
  BackendReadOptions,
  BackendSnapshot,
  Bytes,
  CursorOptions,
  CursorParts,
  Operations,
  RangeDeletion
} from 'terrace-core'
import { clear } from './clear.js'
import { type BrowserBackend, maintained } from './maintained.js'
import { openFirst, type Places, type Stored } from './storage.js'
import type { OpenOptions, Storage } from './store-options.js'
import type { ExportOptions } from './transfer-options.js'

export class LadderBackend implements BrowserBackend {
  /** What it can do is asked before it is open, so it has what every place has: nothing within the call. */
  readonly manifest: BackendManifest = {
    encodings: { utf8: true, view: true },
    createIfMissing: true,
    errorIfExists: true
  }
  readonly #location: string
  readonly #places: Places
  readonly #openFirst: typeof openFirst
  #stored: Stored | undefined
  /** Called when the browser has removed the database. */
  onLost: (error: Error) => void = () => {}

  /**
   * @param open - Opens the first place that there is.
   * @param manifest - What is different because of how it is opened.
   */
  constructor(location: string, places: Places, open = openFirst, manifest: Partial<BackendManifest> = {}) {
    this.manifest = { ...this.manifest, ...manifest }
    this.#location = location
    this.#places = places
    this.#openFirst = open
  }

  get storage(): Storage | undefined {
    return this.#stored?.backend.storage
  }

  /** Whether this tab has the database open, if tabs share it. */
  get isOwner(): boolean {
    return this.#stored?.backend.isOwner !== false
  }

  /** Opened again, it stays where it was: another place would have another database. */
  async open(options: OpenOptions): Promise<void> {
    if (this.#stored !== undefined) {
      await this.#backend.open(options)
      return
    }
    this.#stored = await this.#openFirst(this.#location, { ...options, ...this.#places })
    this.#backend.onLost = (error) => this.onLost(error)
  }

  close(): void | Promise<void> {
    return this.#backend.close()
  }

  get(
    key: Bytes,
    options: BackendReadOptions,
    snapshot?: BackendSnapshot
  ): Bytes | undefined | Promise<Bytes | undefined> {
    return this.#backend.get(key, options, snapshot)
  }

  getMany(
    keys: Bytes[],
    options: BackendReadOptions,
    snapshot?: BackendSnapshot
  ): Array<Bytes | undefined> | Promise<Array<Bytes | undefined>> {
    return this.#backend.getMany(keys, options, snapshot)
  }

  has(key: Bytes, options: BackendReadOptions, snapshot?: BackendSnapshot): boolean | Promise<boolean> {
    return this.#backend.has(key, options, snapshot)
  }

  hasMany(
    keys: Bytes[],
    options: BackendReadOptions,
    snapshot?: BackendSnapshot
  ): boolean[] | Promise<boolean[]> {
    return this.#backend.hasMany(keys, options, snapshot)
  }

  write(operations: Operations, sync: boolean): void | Promise<void> {
    return this.#backend.write(operations, sync)
  }

  clear(range: RangeDeletion, snapshot?: BackendSnapshot): void | Promise<void> {
    return clear(this.#backend, range, snapshot)
  }

  cursor(options: CursorOptions, parts: CursorParts, snapshot?: BackendSnapshot): BackendCursor {
    return this.#backend.cursor(options, parts, snapshot)
  }

  snapshot(): BackendSnapshot {
    return this.#backend.snapshot()
  }

  async approximateSize(start: Bytes, end: Bytes): Promise<number> {
    return maintained(this.#backend, 'approximateSize').approximateSize(start, end)
  }

  async compactRange(start: Bytes, end: Bytes): Promise<void> {
    return maintained(this.#backend, 'compactRange').compactRange(start, end)
  }

  export(options: ExportOptions): AsyncGenerator<File, void, void> {
    return maintained(this.#backend, 'export').export(options)
  }

  get #backend(): BrowserBackend {
    return (this.#stored as Stored).backend
  }
}
