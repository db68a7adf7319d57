/** Opens databases, each with a package that is loaded only then. */

import type { AbstractLevel } from 'abstract-level'
import type { Endpoint, Kind } from './endpoint.js'
import { OpenError } from './failure.js'

/** Any database with abstract-level's API. */
// biome-ignore lint/suspicious/noExplicitAny: keys and values are bytes here, whatever the types say
export type Database = AbstractLevel<any, any, any>

/** A class of databases. */
type DatabaseClass = new (location: string, options: object) => Database

/** How a package is loaded, and what its class is told. */
interface Store {
  readonly packageName: string
  readonly className: string
  /** Options to read from a database that others may be using. */
  readonly reading: object
  /** Options to write many batches, of which the last is synced. */
  readonly writing?: object
}

const DAY_MS = 86_400_000

const stores: Readonly<Record<Kind, Store>> = {
  level: { packageName: 'terrace', className: 'Level', reading: { readOnly: true } },
  lmdb: { packageName: 'terrace-lmdb', className: 'LmdbLevel', reading: { readOnly: true, shared: true } },
  mysql: { packageName: 'terrace-mysql', className: 'MysqlLevel', reading: { createIfMissing: false } },
  slatedb: {
    packageName: 'terrace-slatedb',
    className: 'SlateLevel',
    // Without `readOnly`, reading would take the database from its writer. A copy may take longer than an hour.
    reading: { readOnly: true, snapshotLifetimeMs: DAY_MS },
    // Otherwise each batch would wait for a flush. What is lost by a kill is always the newest, and the end of a copy is synced.
    writing: { acknowledge: 'memory' }
  },
  net: { packageName: 'terrace-net', className: 'NetLevel', reading: {} }
}

/**
 * Opens a database.
 *
 * @throws Error if its package is missing.
 * @throws OpenError if the database cannot be opened.
 */
export async function openDatabase(
  endpoint: Endpoint,
  role: 'from' | 'to',
  options: Readonly<Record<string, unknown>>
): Promise<Database> {
  const store = stores[endpoint.kind]
  const Class = await load(store)
  const defaults = role === 'from' ? store.reading : store.writing
  const db = new Class(endpoint.location, { ...defaults, ...endpoint.options, ...options })
  try {
    await db.open()
    return db
  } catch (error) {
    throw new OpenError(endpoint.shown, error)
  }
}

async function load({ packageName, className }: Store): Promise<DatabaseClass> {
  try {
    const loaded: Record<string, DatabaseClass> = await import(packageName)
    return loaded[className] as DatabaseClass
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const isMissing =
      (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') && message.includes(`'${packageName}'`)
    throw isMissing ? new Error(`the package ${packageName} is missing: npm install ${packageName}`) : error
  }
}
