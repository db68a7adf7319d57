/** A database that a worker opens for a page: the page's worker, or that of the tab that leads. */

import { type BackendManifest, type Bytes, RemoteBackend } from 'terrace-core'
import { type OpenOptions, type Storage, sizesOf } from '../level-options.js'
import { haveVersions, type Places, type StorageOptions } from '../storage.js'
import type { ExportOptions } from '../transfer-options.js'
import { CallCodec } from './call-codec.js'
import { remoteExport } from './remote-export.js'
import { WorkerConnection } from './worker-connection.js'

/** What keeps the database open for the page. */
export interface Attendance {
  /** Releases the database, which is then closed unless others share it. */
  leave(): Promise<void>
}

/**
 * Begins to open a database, and attaches `connection` to the resulting channels. It must not refer to the back-end, so that a
 * back-end that the program has forgotten can be collected.
 *
 * @param first - For opening the database the first time.
 * @param later - For opening it from then on.
 * @returns `opened` rejects if the database cannot be opened.
 */
export type Attend<A extends Attendance> = (
  location: string,
  connection: WorkerConnection,
  first: StorageOptions & OpenOptions,
  later: () => StorageOptions
) => { readonly attendance: A; readonly opened: Promise<void> }

/** What a worker can do for a page, in each of these places. */
export function manifestOf(places: Places): BackendManifest {
  return {
    encodings: { utf8: true, view: true },
    conditionalWrites: true,
    versions: haveVersions(places),
    createIfMissing: true,
    errorIfExists: true
  }
}

export abstract class WorkerBackend<A extends Attendance> extends RemoteBackend {
  /** Its channels come and go with {@link open} and {@link close}. */
  protected readonly connection: WorkerConnection
  readonly #codec: CallCodec
  readonly #location: string
  readonly #places: Places
  readonly #attend: Attend<A>
  #attendance: A | undefined
  /** Called when the browser has removed the database. */
  onLost: (error: Error) => void = () => {}

  constructor(location: string, places: Places, attend: Attend<A>) {
    const connection = new WorkerConnection()
    const codec = new CallCodec(connection.bytes)
    super(connection, codec)
    this.connection = connection
    this.#codec = codec
    this.#location = location
    this.#places = places
    this.#attend = attend
    const backend = new WeakRef(this)
    connection.onLost = (error) => backend.deref()?.onLost(error)
  }

  protected get attendance(): A | undefined {
    return this.#attendance
  }

  /** Where the worker keeps the entries. */
  get storage(): Storage | undefined {
    return this.connection.storage
  }

  async open(options: OpenOptions): Promise<void> {
    const [writeBufferSize, cacheSize] = sizesOf(options)
    const { createIfMissing, errorIfExists } = options
    const { connection } = this
    connection.identity = undefined
    const each: StorageOptions = { ...this.#places, createIfMissing, writeBufferSize, cacheSize }
    const { attendance, opened } = this.#attend(
      this.#location,
      connection,
      { ...each, errorIfExists },
      () => ({
        ...each,
        identity: connection.identity
      })
    )
    this.#attendance = attendance
    abandoned.register(this, attendance, this)
    try {
      await opened
    } catch (error) {
      // A tab whose database is not open must not lead.
      await this.close().catch(() => {})
      throw error
    }
  }

  async close(): Promise<void> {
    const attendance = this.#attendance
    await this.connection.idle()
    this.connection.detach()
    this.#attendance = undefined
    abandoned.unregister(this)
    await attendance?.leave()
  }

  // These calls about a range change nothing that is stored, so they can be repeated.
  approximateSize(start: Bytes, end: Bytes): Promise<number> {
    return this.connection.ask('repeat', this.#codec.approximateSize(start, end))
  }

  compactRange(start: Bytes, end: Bytes): Promise<void> {
    return this.connection.ask('repeat', this.#codec.compactRange(start, end))
  }

  export(options: ExportOptions): AsyncGenerator<File, void, void> {
    return remoteExport(this.connection, this.#codec, options)
  }
}

/** Databases that a program has forgotten without closing them must not keep a worker. */
const abandoned = new FinalizationRegistry((attendance: Attendance) => {
  // No caller is left to report a failure to.
  attendance.leave().catch(() => {})
})

/** `Promise.withResolvers()`, which browsers got later than everything else that is needed here. */
export function withResolvers<T>(): {
  promise: Promise<T>
  resolve: (value: T) => void
  reject: (error: unknown) => void
} {
  let resolve: (value: T) => void = () => {}
  let reject: (error: unknown) => void = () => {}
  const promise = new Promise<T>((settle, fail) => {
    resolve = settle
    reject = fail
  })
  return { promise, resolve, reject }
}
