/** The class for databases on disk, in place of leveldown. */

import { Level } from 'terrace'
import { Buffer } from './buffer.js'
import { assertCallback } from './checks.js'
import { Database, initialize } from './database.js'
import { notOpen, notSupported, translated } from './errors.js'
import { fromLevel } from './from-level.js'
import { hybrid } from './hybrid.js'
import type { AnyLevel } from './lifecycle.js'
import { manifest } from './manifest.js'
import { nextTick, settle } from './next-tick.js'
import type { Flat } from './operations.js'
import type { LevelDownConstructor } from './types.js'

class DatabaseOnDisk extends Database {
  declare readonly location: string

  /** A `_batch()` that a program has replaced does not see chained batches, as in leveldown. */
  override _writeChained(operations: Flat, options: object, callback: (error?: Error | null) => void): void {
    this._write(operations, options, callback)
  }

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
    if (this.status !== 'open') throw notOpen()
    const level = this.level as unknown as Level
    if (typeof level.getProperty !== 'function') return ''
    try {
      return level.getProperty(property)
    } catch (error) {
      throw this._translated(error)
    }
  }
}

function onRange(
  db: Database,
  method: 'approximateSize' | 'compactRange',
  [start, end, callback]: [start: unknown, end: unknown, callback: unknown],
  call: (level: Level<unknown, unknown>, start: Buffer, end: Buffer) => Promise<unknown>
): void {
  if (!isBoundary(start) || !isBoundary(end)) {
    throw new Error(`${method}() requires valid \`start\` and \`end\` arguments`)
  }
  assertCallback(callback, `${method}()`)
  if (db.status !== 'open') {
    nextTick(callback, notOpen())
    return
  }
  const level = db.level as unknown as Level<unknown, unknown>
  if (typeof level[method] !== 'function') {
    nextTick(callback, notSupported(`${method}() is not available for this database`))
    return
  }
  const [first, last] = [start, end].map((key) => Buffer.from(db._serializeKey(key) as string))
  settle(
    call(level, first as Buffer, last as Buffer),
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

/** How leveldown differs from memdown. */
const kind = {
  notFoundMessage: 'NotFound: ',
  ignoresEmptyBounds: true,
  fillsAbsent: true,
  openOptions
}

const LevelDOWN = hybrid('LevelDOWN', DatabaseOnDisk, (db, location: string) => {
  if (typeof location !== 'string') throw new Error('constructor requires a location string argument')
  Object.assign(db, { location })
  const create = () => new Level(location, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
  initialize(db, { ...kind, location, create: create as unknown as () => AnyLevel }, supports())
}) as unknown as LevelDownConstructor

function openOptions(options: Record<string, unknown>): object {
  if (options.shared === true) {
    throw new TypeError("the option 'shared' belongs to the constructor of Level: pass that Level to from()")
  }
  const { shared, ...others } = options
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
  from(level: AnyLevel): Database {
    return fromLevel(LevelDOWN.prototype as unknown as Database, kind, level)
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
