/** The class for databases on disk, in place of leveldown. */

import { Level } from 'terrace'
import { assertCallback } from './checks.js'
import { type AnyLevel, adopt, Database, initialize, instanceOver, type Origin } from './database.js'
import { notOpen, translated } from './errors.js'
import { hybrid } from './hybrid.js'
import { manifest } from './manifest.js'
import { nextTick, settle } from './next-tick.js'
import type { Bytes, ErrorCallback, LevelDown, LevelDownOnDisk } from './types.js'

/** `leveldown` itself: a class that can be called without `new`. */
export interface LevelDownConstructor {
  /** Makes an instance for the database in a directory. Open it with {@link LevelDown.open}. */
  new (location: string): LevelDownOnDisk
  (location: string): LevelDownOnDisk
  readonly prototype: LevelDownOnDisk
  /** Removes a database. */
  destroy(location: string, callback: ErrorCallback): void
  /** Restores what can be read of a damaged database. */
  repair(location: string, callback: ErrorCallback): void
  /**
   * Returns an instance over a database of Terrace, or over one of its sublevels: the same entries, hooks and events under
   * leveldown's API. It is open while that database is.
   */
  from(level: object): LevelDown
}

class DatabaseOnDisk extends Database {
  declare readonly location: string

  approximateSize(start: unknown, end: unknown, callback: unknown): void {
    onRange(this, 'approximateSize', [start, end, callback], (level, ...range) =>
      level.approximateSize(...range, { keyEncoding: 'buffer' })
    )
  }

  compactRange(start: unknown, end: unknown, callback: unknown): void {
    onRange(this, 'compactRange', [start, end, callback], async (level, ...range) => {
      await level.compactRange(...range, { keyEncoding: 'buffer' })
    })
  }

  getProperty(property: unknown): string {
    if (typeof property !== 'string') throw new Error('getProperty() requires a valid `property` argument')
    try {
      return (this.level as unknown as Level).getProperty(property)
    } catch (error) {
      throw this._translated(error)
    }
  }
}

function onRange(
  db: Database,
  method: string,
  [start, end, callback]: [start: unknown, end: unknown, callback: unknown],
  call: (level: Level<unknown, unknown>, start: Buffer, end: Buffer) => Promise<number | void>
): void {
  if (!isBoundary(start) || !isBoundary(end)) {
    throw new Error(`${method}() requires valid \`start\` and \`end\` arguments`)
  }
  assertCallback(callback, `${method}()`)
  if (db.status !== 'open') {
    nextTick(callback, notOpen())
    return
  }
  const [first, last] = [start, end].map((key) => Buffer.from(db._serializeKey(key) as string))
  settle(
    call(db.level as unknown as Level<unknown, unknown>, first as Buffer, last as Buffer),
    (result) => (callback as (...args: unknown[]) => void)(null, ...(result === undefined ? [] : [result])),
    (error) => (callback as (error: Error) => void)(db._translated(error))
  )
}

function isBoundary(key: unknown): boolean {
  return key !== null && key !== undefined && typeof key !== 'function'
}

const supports = () =>
  manifest({
    permanence: true,
    createIfMissing: true,
    errorIfExists: true,
    additionalMethods: { approximateSize: true, compactRange: true }
  })

/** What is alike for a database at a location and for one that was made elsewhere. */
const asLeveldown = {
  notFoundMessage: 'NotFound: ',
  ignoresEmptyBounds: true,
  fillsAbsent: true,
  openOptions
}

const LevelDOWN = hybrid('LevelDOWN', DatabaseOnDisk, (db, location: string) => {
  if (typeof location !== 'string') throw new Error('constructor requires a location string argument')
  Object.assign(db, { location })
  initialize(db, originAt(location), supports())
}) as unknown as LevelDownConstructor

function originAt(location: string): Origin {
  return {
    ...asLeveldown,
    location,
    create: () => new Level(location, { keyEncoding: 'buffer', valueEncoding: 'buffer' }) as unknown as AnyLevel
  }
}

function openOptions(options: Record<string, unknown>): object {
  if (options.shared === true) {
    throw new TypeError("the option 'shared' belongs to the constructor of Level: pass that Level to from()")
  }
  // These belong to the layers above, or would only wait for an open database.
  const { keyEncoding, valueEncoding, passive, shared, ...others } = options
  return others
}

Object.assign(LevelDOWN, {
  destroy(location: unknown, callback: unknown, ...rest: unknown[]): void {
    maintain('destroy', [location, callback, ...rest], (at) => Level.destroy(at))
  },
  repair(location: unknown, callback: unknown, ...rest: unknown[]): void {
    maintain('repair', [location, callback, ...rest], async (at) => {
      await Level.repair(at)
    })
  },
  from(level: AnyLevel): LevelDown {
    const known = instanceOver(level)
    if (known !== undefined) return known as unknown as LevelDown
    const db = Object.create(LevelDOWN.prototype) as Database
    const { location } = level as { location?: string }
    const origin = { ...asLeveldown, location, create: () => level }
    Object.assign(db, { location })
    initialize(db, origin, supports())
    adopt(db, level)
    return db as unknown as LevelDown
  }
})

function maintain(method: string, args: unknown[], work: (location: string) => Promise<void>): void {
  const [location, callback] = args
  if (callback === undefined) throw new Error(`${method}() requires \`location\` and \`callback\` arguments`)
  if (typeof location !== 'string') throw new Error(`${method}() requires a location string argument`)
  if (typeof callback !== 'function') throw new Error(`${method}() requires a callback function argument`)
  settle(
    work(location),
    () => callback(null),
    (error) => callback(translated(error, location))
  )
}

export { LevelDOWN }

export type { Bytes }
