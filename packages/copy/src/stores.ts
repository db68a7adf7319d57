/** Opens databases, each with a package that is loaded only then. */

import type { AbstractLevel } from 'abstract-level'
import type { BackEnd } from './back-ends.js'
import type { Endpoint } from './endpoint.js'
import { OpenError } from './failure.js'

/** Any database with abstract-level's API. */
// biome-ignore lint/suspicious/noExplicitAny: keys and values are bytes here, whatever the types say
export type Database = AbstractLevel<any, any, any>

/** A class of databases. */
type DatabaseClass = new (location: string, options: object) => Database

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
  const { backEnd } = endpoint
  const Class = await load(backEnd)
  const defaults = role === 'from' ? backEnd.reading : backEnd.writing
  const db = new Class(endpoint.location, { ...defaults, ...endpoint.options, ...options })
  try {
    await db.open()
    return db
  } catch (error) {
    throw new OpenError(endpoint.shown, error)
  }
}

async function load({ package: packageName, class: className }: BackEnd): Promise<DatabaseClass> {
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
