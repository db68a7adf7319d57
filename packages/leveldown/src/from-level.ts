/** leveldown's API over a database that the program has made itself. */

import { type Database, initialize, makeLevel, type Origin } from './database.js'
import { type AnyLevel, instanceOver } from './lifecycle.js'
import { manifest } from './manifest.js'

/** What a database of Terrace declares about itself, as far as it shows here. */
interface Declared {
  readonly location?: string
  readonly supports: {
    readonly permanence?: boolean
    readonly createIfMissing?: boolean
    readonly errorIfExists?: boolean
    readonly additionalMethods: Readonly<Record<string, boolean>>
  }
}

const METHODS = ['approximateSize', 'compactRange']

/**
 * Returns the instance over a database: the one that there is, or a new one.
 *
 * @param prototype - The prototype of the class.
 * @throws TypeError if it is no database of Terrace.
 */
export function fromLevel(
  prototype: Database,
  kind: Omit<Origin, 'location' | 'create'>,
  level: AnyLevel
): Database {
  const known = instanceOver(level)
  if (known !== undefined) return known as Database

  const db = Object.create(prototype) as Database
  const { location, supports } = level as unknown as Declared
  const { permanence, createIfMissing, errorIfExists, additionalMethods } = supports ?? {}
  const methods = METHODS.filter((name) => additionalMethods?.[name] === true)
  Object.assign(db, { location })
  initialize(
    db,
    { ...kind, location, create: () => level },
    manifest({
      permanence: permanence === true,
      createIfMissing: createIfMissing === true,
      errorIfExists: errorIfExists === true,
      additionalMethods: Object.fromEntries(methods.map((name) => [name, true]))
    })
  )
  makeLevel(db)
  return db
}
