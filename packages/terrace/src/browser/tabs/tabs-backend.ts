/** A database that the tabs of a site share, each through a channel to the worker of the tab that leads. */

import { type BackendManifest, codedError } from 'terrace-core'
import type { LevelErrorCode } from '../../error-codes.js'
import { deniedError } from '../errors.js'
import type { Storage } from '../level-options.js'
import {
  DEFAULT_STORAGES,
  noPlace,
  openFirst,
  type Places,
  type StorageOptions,
  type Stored
} from '../storage.js'
import { Tabs } from './leader/tabs.js'
import { startWorker } from './start-worker.js'
import { type Attend, manifestOf, WorkerBackend, withResolvers } from './worker-backend.js'

export class TabsBackend extends WorkerBackend<Tabs> {
  readonly manifest: BackendManifest

  constructor(location: string, places: Places) {
    super(location, places, join)
    this.manifest = { ...manifestOf(places), shared: true }
  }

  /** Whether the worker of this tab owns the database. */
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

/**
 * Opens a database that the tabs of a site share. Where the browser denies a page its storage, or has no locks, tabs cannot share:
 * such a page gets a separate database in memory, if that is among the places.
 *
 * @throws LEVEL_NOT_SUPPORTED with the reason, if it is not.
 */
export async function openShared(location: string, options: StorageOptions): Promise<Stored> {
  const { storage = DEFAULT_STORAGES, prefix } = options
  const reason = await whyNotShared()
  if (reason !== undefined) {
    if (!storage.includes('memory')) throw noPlace([reason.message])
    return openFirst(location, { ...options, storage: ['memory'] })
  }
  const backend = new TabsBackend(location, { storage: options.storage, prefix })
  await backend.open(options)
  return { backend, storage: backend.storage as Storage }
}

async function whyNotShared(): Promise<Error | undefined> {
  const { locks } = navigator
  if (locks === undefined) {
    return deniedError('navigator.locks is missing: the page is not a secure context')
  }
  return locks.query().then(
    () => undefined,
    (error) => deniedError(String(error), error)
  )
}

/** Takes part in sharing a database. */
const join: Attend<Tabs> = (location, connection, first, later) => {
  const { promise: opened, resolve, reject } = withResolvers<void>()
  let isOpen = false
  const attendance = new Tabs({
    location,
    startWorker,
    onChannel(channel, isOwn) {
      connection.attach(channel, (failure) => {
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
      // Another tab has failed with its options; it is this tab's turn.
      if (!isOpen && !isOwn) return
      connection.fail(error)
      reject(error)
    }
  })
  attendance.join(first, later)
  return { attendance, opened }
}
