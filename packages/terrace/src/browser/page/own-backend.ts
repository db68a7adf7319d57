/** A database that a page has for itself, through a worker of its own. */

import type { BackendManifest } from 'terrace-core'
import type { StorageOptions } from '../storage.js'
import { type OpenOptions, type Storage, sizesOf } from '../store-options.js'
import { OwnWorker } from './own-worker.js'
import { RemoteBackend } from './remote-backend.js'
import type { Requests } from './requests.js'

export class OwnBackend extends RemoteBackend {
  readonly manifest: BackendManifest = {
    encodings: { utf8: true, view: true },
    createIfMissing: true,
    errorIfExists: true
  }
  readonly #location: string
  readonly #places: Pick<StorageOptions, 'storage' | 'prefix'>
  #worker: OwnWorker | undefined

  constructor(location: string, places: Pick<StorageOptions, 'storage' | 'prefix'>) {
    super()
    this.#location = location
    this.#places = places
  }

  /** Where the worker keeps the entries. */
  get storage(): Storage | undefined {
    return this.requests.storage
  }

  async open(options: OpenOptions): Promise<void> {
    const [writeBufferSize, cacheSize] = sizesOf(options)
    const { createIfMissing, errorIfExists } = options
    const later: StorageOptions = { ...this.#places, createIfMissing, writeBufferSize, cacheSize }
    const { worker, opened } = start(this.#location, this.requests, { ...later, errorIfExists }, later)
    this.#worker = worker
    abandoned.register(this, worker, this)
    try {
      await opened
    } catch (error) {
      await this.close().catch(() => {})
      throw error
    }
  }

  async close(): Promise<void> {
    const worker = this.#worker
    await this.requests.idle()
    this.#worker = undefined
    abandoned.unregister(this)
    try {
      await worker?.close()
    } finally {
      this.requests.detach()
    }
  }
}

/** Databases that a program has forgotten without closing them must not keep a worker. */
const abandoned = new FinalizationRegistry((worker: OwnWorker) => {
  // Nobody is left who could be told.
  worker.close().catch(() => {})
})

/** Starts the worker. Nothing here may refer to the back-end, so that it can be {@link abandoned}. */
function start(
  location: string,
  requests: Requests,
  first: object,
  later: object
): { worker: OwnWorker; opened: Promise<void> } {
  let resolve: () => void
  let reject: (error: Error) => void
  const opened = new Promise<void>((settle, fail) => {
    resolve = settle
    reject = fail
  })
  const worker = new OwnWorker(location, first, later, {
    onChannel: (channel) =>
      requests.attach(channel, (failure) => (failure === undefined ? resolve() : reject(failure))),
    onFailure(error) {
      requests.fail(error)
      reject(error)
    }
  })
  return { worker, opened }
}
