/** A database that the tabs of a site share, each through a channel to the worker of the tab that leads. */

import { type BackendManifest, codedError } from 'terrace-core'
import type { LevelErrorCode } from '../../error-codes.js'
import type { StorageOptions } from '../storage.js'
import { type OpenOptions, type Storage, sizesOf } from '../store-options.js'
import { RemoteBackend } from './remote-backend.js'
import type { Requests } from './requests.js'
import { startWorker } from './start-worker.js'
import { Tabs } from './tabs.js'

export class PageBackend extends RemoteBackend {
  readonly manifest: BackendManifest = {
    encodings: { utf8: true, view: true },
    shared: true,
    createIfMissing: true,
    errorIfExists: true
  }
  readonly #location: string
  readonly #places: Pick<StorageOptions, 'storage' | 'prefix'>
  #tabs: Tabs | undefined

  constructor(location: string, places: Pick<StorageOptions, 'storage' | 'prefix'>) {
    super()
    this.#location = location
    this.#places = places
  }

  /** Whether the worker of this tab has the database open. */
  get isOwner(): boolean {
    return this.#tabs?.isLeader === true
  }

  /** Where the worker keeps the entries. */
  get storage(): Storage | undefined {
    return this.requests.storage
  }

  async open(options: OpenOptions): Promise<void> {
    const [writeBufferSize, cacheSize] = sizesOf(options)
    const { createIfMissing, errorIfExists } = options
    const sent: StorageOptions = { ...this.#places, createIfMissing, writeBufferSize, cacheSize }
    const { tabs, opened } = join(this.#location, this.requests, { ...sent, errorIfExists }, sent)
    this.#tabs = tabs
    abandoned.register(this, tabs, this)
    try {
      const isFirst = await opened
      if (errorIfExists === true && !isFirst) throw exists()
    } catch (error) {
      // A tab whose database is not open must not lead.
      await this.close().catch(() => {})
      throw error
    }
  }

  async close(): Promise<void> {
    const tabs = this.#tabs
    await this.requests.idle()
    this.requests.detach()
    this.#tabs = undefined
    abandoned.unregister(this)
    await tabs?.leave()
  }
}

function exists(): Error {
  return codedError<LevelErrorCode>(
    'LEVEL_DATABASE_EXISTS',
    'The database exists, in use by another tab, and errorIfExists is true'
  )
}

/** Databases that a program has forgotten without closing them must not keep a worker. */
const abandoned = new FinalizationRegistry((tabs: Tabs) => {
  // Nobody is left who could be told.
  tabs.leave().catch(() => {})
})

/**
 * Takes part in sharing a database. Nothing here may refer to the back-end, so that it can be {@link abandoned}.
 *
 * @returns `opened` resolves with whether this tab was the one that opened the database.
 */
function join(
  location: string,
  requests: Requests,
  first: object,
  later: object
): { tabs: Tabs; opened: Promise<boolean> } {
  const { promise: opened, resolve, reject } = withResolvers<boolean>()
  let isOpen = false
  const tabs = new Tabs({
    location,
    startWorker,
    onChannel(channel, isOwn) {
      requests.attach(channel, (failure) => {
        if (failure !== undefined) {
          reject(failure)
          return
        }
        isOpen = true
        resolve(isOwn)
      })
    },
    onFailure(error, isOwn) {
      // If another tab has failed with its options, it is this one's turn.
      if (!isOpen && !isOwn) return
      requests.fail(error)
      reject(error)
    }
  })
  tabs.join(first, later)
  return { tabs, opened }
}

/** `Promise.withResolvers()`, which is younger than what else is needed here. */
function withResolvers<T>(): {
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
