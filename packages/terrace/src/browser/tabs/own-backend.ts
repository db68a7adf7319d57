/** A database that only one page has open, through a separate worker. */

import type { BackendManifest } from 'terrace-core'
import type { Storage } from '../level-options.js'
import { refusesFiles } from '../opfs/file-pool.js'
import { openFirst, type Places, type StorageOptions, type Stored, storagesFor } from '../storage.js'
import { OwnWorker } from './own-worker.js'
import { type Attend, manifestOf, WorkerBackend, withResolvers } from './worker-backend.js'

export class OwnBackend extends WorkerBackend<OwnWorker> {
  readonly manifest: BackendManifest

  constructor(location: string, places: Places) {
    super(location, places, start)
    this.manifest = manifestOf(places)
  }
}

/**
 * Opens a database for one page only, like {@link openFirst}. Only files need a worker: if the browser refuses them to the page, as
 * Firefox does in private windows, calls need not go to one.
 */
export async function openInPage(location: string, options: StorageOptions): Promise<Stored> {
  if (await refusesFiles()) return openFirst(location, options)
  const { prefix } = options
  const storage = await storagesFor(location, options)
  if (storage[0] === 'indexeddb') return openFirst(location, { ...options, storage })
  const backend = new OwnBackend(location, { storage, prefix })
  await backend.open(options)
  return { backend, storage: backend.storage as Storage }
}

/** Starts the worker. */
const start: Attend<OwnWorker> = (location, connection, first, later) => {
  const { promise: opened, resolve, reject } = withResolvers<void>()
  const attendance = new OwnWorker(location, first, later, {
    onChannel: (channel) =>
      connection.attach(channel, (failure) => (failure === undefined ? resolve() : reject(failure))),
    onFailure(error) {
      connection.fail(error)
      reject(error)
    }
  })
  return { attendance, opened }
}
