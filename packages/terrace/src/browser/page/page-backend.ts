/** A database that the tabs of a site share, each through a channel to the worker of the tab that leads. */

import { type BackendManifest, codedError } from 'terrace-core'
import type { LevelErrorCode } from '../../error-codes.js'
import type { StorageOptions } from '../storage.js'
import { type OpenOptions, sizesOf, type Storage } from '../store-options.js'
import { RemoteBackend } from './remote-backend.js'
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
    let isOpen = false
    let isFirst = false
    await new Promise<void>((resolve, reject) => {
      const tabs = new Tabs({
        location: this.#location,
        startWorker,
        onChannel: (channel, isOwn) => {
          isFirst ||= isOwn && !isOpen
          this.requests.attach(channel, () => {
            isOpen = true
            resolve()
          })
        },
        onFailure: (error, isOwn) => {
          // Another tab's attempt with its own options; this one's is still to come.
          if (!isOpen && !isOwn) return
          this.requests.fail(error)
          reject(error)
        }
      })
      this.#tabs = tabs
      tabs.join({ ...sent, errorIfExists }, sent)
    })
    if (errorIfExists !== true || isFirst) return
    await this.close()
    throw codedError<LevelErrorCode>(
      'LEVEL_DATABASE_EXISTS',
      'The database exists, in use by another tab, and errorIfExists is true'
    )
  }

  async close(): Promise<void> {
    const tabs = this.#tabs
    await this.requests.idle()
    this.requests.detach()
    this.#tabs = undefined
    await tabs?.leave()
  }
}
