/** A database that a page has for itself, through a worker of its own. */

import type { BackendManifest } from 'terrace-core'
import type { Places } from '../storage.js'
import { OwnWorker } from './own-worker.js'
import { type Attend, WorkerBackend, withResolvers } from './worker-backend.js'

export class OwnBackend extends WorkerBackend<OwnWorker> {
  readonly manifest: BackendManifest = {
    encodings: { utf8: true, view: true },
    createIfMissing: true,
    errorIfExists: true
  }

  constructor(location: string, places: Places) {
    super(location, places, start)
  }
}

/** Starts the worker. */
const start: Attend<OwnWorker> = (location, requests, first, later) => {
  const { promise: opened, resolve, reject } = withResolvers<void>()
  const attendance = new OwnWorker(location, first, later, {
    onChannel: (channel) =>
      requests.attach(channel, (failure) => (failure === undefined ? resolve() : reject(failure))),
    onFailure(error) {
      requests.fail(error)
      reject(error)
    }
  })
  return { attendance, opened }
}
