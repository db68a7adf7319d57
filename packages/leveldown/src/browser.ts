/**
 * level-js's API over Terrace's database in a browser. Bundlers take this in place of the class for databases on disk.
 *
 * @packageDocumentation
 */

import { Level } from 'terrace'
import { Database, initialize } from './database.js'
import { translated } from './errors.js'
import { fromLevel } from './from-level.js'
import { hybrid } from './hybrid.js'
import type { AnyLevel } from './lifecycle.js'
import { manifest } from './manifest.js'
import { settle } from './next-tick.js'
import type * as types from './types.js'

const DEFAULT_PREFIX = 'level-js-'

/** What level-js has stored stays where it is, so that level-js can read it. New databases are faster in files. */
const DEFAULT_STORAGE = ['existing-indexeddb', 'opfs', 'indexeddb']

/** Options of the constructor. Those of Terrace's `Level` in a browser can be given as well. */
interface LevelJsOptions {
  /** The beginning of the name of the IndexedDB database. @defaultValue `'level-js-'` */
  prefix?: string | undefined
  /** Taken for compatibility: a database is opened with the version that it has. @defaultValue `1` */
  version?: number | string | undefined
  /**
   * Where entries are kept: where level-js has the database already, or in files if the browser has them.
   *
   * @defaultValue `['existing-indexeddb', 'opfs', 'indexeddb']`
   */
  storage?: string | readonly string[] | undefined
  readonly [option: string]: unknown
}

interface LevelJs extends types.AbstractLevelDown {
  readonly location: string
  readonly prefix: string
  readonly version: number
  readonly type: string
}

interface LevelJsConstructor {
  new (location: string, options?: LevelJsOptions): LevelJs
  (location: string, options?: LevelJsOptions): LevelJs
  readonly prototype: LevelJs
  /** Removes a database. */
  destroy(location: string, callback: types.ErrorCallback): void
  destroy(location: string, prefix: string, callback: types.ErrorCallback): void
  /** Returns the instance over a database of Terrace, or over a sublevel of one. */
  from(level: object): LevelJs
}

/** How level-js differs from leveldown. */
const kind = {
  notFoundMessage: 'NotFound',
  ignoresEmptyBounds: false,
  fillsAbsent: false
}

const leveljs = hybrid('Level', Database, (db, location: string, options?: LevelJsOptions) => {
  if (typeof location !== 'string') throw new Error('constructor requires a location string argument')
  const { prefix, version, storage = DEFAULT_STORAGE, ...others } = options ?? {}
  const place = { ...others, prefix: prefix ?? DEFAULT_PREFIX, storage }
  Object.assign(db, { location, prefix: place.prefix, version: Number.parseInt(String(version || 1), 10) })
  const create = () =>
    new Level(location, { ...place, keyEncoding: 'buffer', valueEncoding: 'buffer' } as object)
  initialize(
    db,
    { ...kind, location, create: create as unknown as () => AnyLevel },
    manifest({ permanence: true, createIfMissing: true, errorIfExists: true })
  )
}) as unknown as LevelJsConstructor

Object.assign(leveljs.prototype, { type: 'level-js' })

Object.assign(leveljs, {
  destroy(location: string, ...args: unknown[]): void {
    const callback = args.at(-1) as (error: Error | null) => void
    const prefix = typeof args[0] === 'string' ? args[0] : DEFAULT_PREFIX
    const options = { prefix, storage: DEFAULT_STORAGE }
    settle(
      (Level.destroy as (location: string, options: object) => Promise<void>)(location, options),
      () => callback(null),
      (error) => callback(translated(error, location))
    )
  },
  from(level: AnyLevel): Database {
    return fromLevel(leveljs.prototype as unknown as Database, kind, level)
  }
})

declare namespace leveljs {
  export type { LevelJs, LevelJsConstructor, LevelJsOptions }
}

export = leveljs
