/** Where a browser keeps a database: the first of the requested places that it supports. */

import { type CodedError, codedError } from 'terrace-core'
import type { LevelErrorCode } from '../error-codes.js'
import type { RepairReport } from '../repair-report.js'
import type { BrowserBackend } from './browser-backend.js'
import { placeOf } from './indexeddb/place.js'
import type { PlacedOptions, PlaceOptions, Storage, StorageChoice } from './level-options.js'
import { loadMap, loadScript, loadStore } from './load-modules.js'
import { MemoryBackend } from './memory/memory-backend.js'
import { directoryName, hasSyncFiles, refusesFiles, removeDirectory } from './opfs/file-pool.js'
import { OpfsBackend } from './opfs/opfs-backend.js'
import { repairDatabase } from './opfs/repair-database.js'

/** IndexedDB if it has the database already. */
const EXISTING = 'existing-indexeddb'

const CHOICES: readonly StorageChoice[] = ['opfs', 'indexeddb', 'memory', EXISTING]

/** The places to try, in this order, unless the option `storage` names others. Memory is used only if it is named. */
export const DEFAULT_STORAGES: readonly Storage[] = ['opfs', 'indexeddb']

/** Options of {@link openFirst}: they can be sent to a worker. */
export interface StorageOptions extends PlacedOptions {
  storage?: readonly StorageChoice[]
  prefix?: string | undefined
}

/** Where a database may be, and under which name. */
export type Places = Pick<StorageOptions, 'storage' | 'prefix'>

/** An open back-end, and where it keeps its entries. */
export interface Stored {
  readonly backend: BrowserBackend
  readonly storage: Storage
}

/** Makes the back-end of a place whose script is a part of every page. */
export const backends: Record<Exclude<Storage, 'indexeddb'>, (location: string) => BrowserBackend> = {
  opfs: (location) => new OpfsBackend(location, loadStore),
  memory: () => new MemoryBackend(loadMap)
}

/** Loads the script that only databases in IndexedDB need. */
const loadIndexedDb = () => loadScript('terrace-indexeddb.js', () => import('./indexeddb/index.js'))

/** Makes the back-end of any place. */
async function backendOf(
  storage: Storage,
  location: string,
  prefix: string | undefined
): Promise<BrowserBackend> {
  if (storage !== 'indexeddb') return backends[storage](location)
  const { IndexedDbBackend } = await loadIndexedDb()
  return new IndexedDbBackend(placeOf(location, prefix))
}

/**
 * Opens a database in the first place that the browser supports. Only a missing place leads to the next one; any other failure is
 * final, because another place would have another database.
 *
 * @throws LEVEL_NOT_SUPPORTED if the browser has none of them.
 */
export async function openFirst(location: string, options: StorageOptions): Promise<Stored> {
  const storages = await storagesFor(location, options)
  const reasons: string[] = []
  for (const storage of storages) {
    const backend = await backendOf(storage, location, options.prefix)
    try {
      await backend.open(options)
      return { backend, storage }
    } catch (error) {
      if ((error as CodedError<LevelErrorCode>).code !== 'LEVEL_NOT_SUPPORTED') throw error
      reasons.push(`${storage}: ${(error as Error).message}`)
    }
  }
  throw noPlace(reasons)
}

/** The places to try for a database: IndexedDB alone if that place is wanted for what it has already, and has this database. */
export async function storagesFor(
  location: string,
  { storage = DEFAULT_STORAGES, prefix }: Places
): Promise<readonly Storage[]> {
  if (storage.includes(EXISTING) && (await isInIndexedDb(placeOf(location, prefix).name)))
    return ['indexeddb']
  return storage.filter((each) => each !== EXISTING)
}

/** Whether IndexedDB has a database. If that cannot be learned, it may: then opening it shows what is wrong. */
async function isInIndexedDb(name: string): Promise<boolean> {
  const { indexedDB } = globalThis
  if (indexedDB === undefined) return false
  const all = await indexedDB.databases?.().catch(() => undefined)
  if (all !== undefined) return all.some((each) => each.name === name)
  // Older browsers have no list.
  return opens(name).catch(() => false)
}

/** Opens a database of IndexedDB, to learn whether there is one. It is not made. */
function opens(name: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = indexedDB.open(name)
    let isNew = false
    request.onupgradeneeded = () => {
      isNew = true
      request.transaction?.abort()
    }
    request.onsuccess = () => {
      request.result.close()
      resolve(true)
    }
    request.onerror = () => resolve(!isNew)
  })
}

/** Whether entries have versions wherever the database turns out to be: only files have them. */
export function haveVersions({ storage = DEFAULT_STORAGES }: Places): boolean {
  return storage.every((each) => each === 'opfs')
}

/** The error for a page whose browser has none of the places. */
export function noPlace(reasons: readonly string[]): Error {
  return codedError(
    'LEVEL_NOT_SUPPORTED',
    `No storage for the database is available in this browser. ${reasons.join('. ')}. The option 'storage' can add 'memory'`
  )
}

/** Removes a database from the first place that the browser supports. Call it in a dedicated worker. */
export async function destroyFirst(location: string, { storage, prefix }: PlaceOptions): Promise<void> {
  const storages = (storage ?? DEFAULT_STORAGES) as readonly StorageChoice[]
  // Another program may have made one there after this one had made its own elsewhere.
  if (storages.includes(EXISTING)) await destroyInIndexedDb(location, prefix)
  const place = await firstPlace(storages.filter((each) => each !== EXISTING))
  if (place === 'opfs') await removeDirectory(directoryName(location))
  if (place === 'indexeddb') {
    await destroyInIndexedDb(location, prefix)
  }
}

async function destroyInIndexedDb(location: string, prefix: string | undefined): Promise<void> {
  const { destroyPlace } = await loadIndexedDb()
  await destroyPlace(placeOf(location, prefix))
}

/**
 * Repairs a database in the first place that the browser supports. Call it in a dedicated worker.
 *
 * @throws LEVEL_NOT_SUPPORTED if that place has no files.
 */
export async function repairFirst(location: string, options: PlaceOptions): Promise<RepairReport> {
  const storages = await storagesFor(location, options as Places)
  const place = (await firstPlace(storages)) ?? storages[0]
  if (place === 'opfs') return repairDatabase(location, loadStore)
  throw codedError(
    'LEVEL_NOT_SUPPORTED',
    `A database in '${place}' has no files to repair: the browser maintains its storage. ` +
      'What can still be read can be copied to another one; Level.destroy() removes it'
  )
}

/** The first place that {@link openFirst} would find. */
async function firstPlace(storages: readonly Storage[]): Promise<Storage | undefined> {
  for (const storage of storages) {
    if (hasPlace(storage) && !(storage === 'opfs' && (await refusesFiles()))) return storage
  }
  return undefined
}

/**
 * The places that the option `storage` names; undefined if it is missing.
 *
 * @throws TypeError if it is not valid.
 */
export function storagesOf(
  option: StorageChoice | readonly StorageChoice[] | undefined
): readonly StorageChoice[] | undefined {
  if (option === undefined) return undefined
  const storages = typeof option === 'string' ? [option] : option
  const isValid =
    Array.isArray(storages) && storages.length > 0 && storages.every((each) => CHOICES.includes(each))
  if (isValid) return storages
  throw new TypeError(`The option 'storage' must be one or more of ${CHOICES.join(', ')}`)
}

/** Whether a place is likely to be available. Only opening a database shows that for certain. */
export function hasPlace(storage: StorageChoice): boolean {
  if (storage === 'opfs') return hasSyncFiles()
  return storage === 'memory' || globalThis.indexedDB !== undefined
}
