/**
 * A database in the first of several places that the browser turns out to support. Only opening it shows which
 * that is.
 */

import {
  type BackendCondition,
  type BackendManifest,
  type BackendReadOptions,
  type BackendSnapshot,
  type Bytes,
  ForwardingBackend,
  type Operations,
  type RangeDeletion,
  type VersionedValue
} from 'terrace-core'
import { type BrowserBackend, maintained, versioned } from './browser-backend.js'
import { clear } from './clear-range.js'
import type { OpenOptions, Storage } from './level-options.js'
import { haveVersions, openFirst, type Places, type Stored } from './storage.js'
import type { ExportOptions } from './transfer-options.js'

export class FallbackBackend extends ForwardingBackend implements BrowserBackend {
  /**
   * The manifest is read before the database is open, so it declares what every place supports: nothing within
   * the call.
   */
  readonly manifest: BackendManifest = {
    encodings: { utf8: true, view: true },
    conditionalWrites: true,
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
   * @param open - Opens the first available place.
   * @param manifest - What differs because of how it is opened.
   */
  constructor(location: string, places: Places, open = openFirst, manifest: Partial<BackendManifest> = {}) {
    super()
    this.manifest = { ...this.manifest, versions: haveVersions(places), ...manifest }
    this.#location = location
    this.#places = places
    this.#openFirst = open
  }

  get storage(): Storage | undefined {
    return this.#stored?.backend.storage
  }

  /** For a database that tabs share, whether this tab owns it. */
  get isOwner(): boolean {
    return this.#stored?.backend.isOwner !== false
  }

  /** When reopened, it stays where it was: another place would have another database. */
  async open(options: OpenOptions): Promise<void> {
    if (this.#stored !== undefined) {
      await this.target().open(options)
      return
    }
    this.#stored = await this.#openFirst(this.#location, { ...options, ...this.#places })
    this.target().onLost = (error) => this.onLost(error)
  }

  close(): void | Promise<void> {
    return this.target().close()
  }

  protected target(): BrowserBackend {
    return (this.#stored as Stored).backend
  }

  async getEntry(
    key: Bytes,
    options: BackendReadOptions,
    snapshot?: BackendSnapshot
  ): Promise<VersionedValue | undefined> {
    return versioned(this.target()).getEntry(key, options, snapshot)
  }

  writeIf(
    conditions: readonly BackendCondition[],
    operations: Operations,
    sync: boolean
  ): void | Promise<void> {
    return this.target().writeIf(conditions, operations, sync)
  }

  clear(range: RangeDeletion, snapshot?: BackendSnapshot): void | Promise<void> {
    return clear(this.target(), range, snapshot)
  }

  async approximateSize(start: Bytes, end: Bytes): Promise<number> {
    return maintained(this.target(), 'approximateSize').approximateSize(start, end)
  }

  async compactRange(start: Bytes, end: Bytes): Promise<void> {
    return maintained(this.target(), 'compactRange').compactRange(start, end)
  }

  export(options: ExportOptions): AsyncGenerator<File, void, void> {
    return maintained(this.target(), 'export').export(options)
  }
}
