/** A database that the tabs of a site share, each through a channel to the worker of the tab that leads. */

import { type BackendManifest, codedError } from 'terrace-core'
import type { LevelErrorCode } from '../../error-codes.js'
import type { Places } from '../storage.js'
import { startWorker } from './start-worker.js'
import { Tabs } from './tabs.js'
import { type Attend, WorkerBackend, withResolvers } from './worker-backend.js'

export class PageBackend extends WorkerBackend<Tabs> {
  readonly manifest: BackendManifest = {
    encodings: { utf8: true, view: true },
    shared: true,
    createIfMissing: true,
    errorIfExists: true
  }

  constructor(location: string, places: Places) {
    super(location, places, join)
  }

  /** Whether the worker of this tab has the database open. */
  get isOwner(): boolean {
    return this.attendance?.isLeader === true
  }
}

function exists(): Error {
  return codedError<LevelErrorCode>(
    'LEVEL_DATABASE_EXISTS',
    'The database exists, in use by another tab, and errorIfExists is true'
  )
}

/** Takes part in sharing a database. */
const join: Attend<Tabs> = (location, requests, first, later) => {
  const { promise: opened, resolve, reject } = withResolvers<void>()
  let isOpen = false
  const attendance = new Tabs({
    location,
    startWorker,
    onChannel(channel, isOwn) {
      requests.attach(channel, (failure) => {
        if (failure !== undefined) {
          reject(failure)
          return
        }
        isOpen = true
        if (first.errorIfExists === true && !isOwn) reject(exists())
        else resolve()
      })
    },
    onFailure(error, isOwn) {
      // If another tab has failed with its options, it is this one's turn.
      if (!isOpen && !isOwn) return
      requests.fail(error)
      reject(error)
    }
  })
  attendance.join(first, later)
  return { attendance, opened }
}
