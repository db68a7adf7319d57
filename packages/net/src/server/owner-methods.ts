/** What only the process that has a database open can do. A server offers it to the programs of its user that share the database. */

import type { Method } from './options.js'
import { isRoot } from './place.js'
import type { AnyLevel } from './served-database.js'

const names = ['approximateSize', 'compactRange', 'checkpoint'] as const

/** What databases in a directory have beyond abstract-level. */
type Maintained = AnyLevel & Partial<Record<(typeof names)[number], (...args: unknown[]) => unknown>>

/** The methods of a whole database in a directory, as they are called: with bytes for keys. A part of one has none. */
export function ownerMethods(db: AnyLevel): Readonly<Record<string, Method>> {
  if (!isRoot(db)) return {}
  const has = names.filter((name) => typeof (db as Maintained)[name] === 'function')
  const call = (name: (typeof names)[number], args: unknown[]): unknown => (db as Maintained)[name]?.(...args)
  return Object.fromEntries(
    has.map((name) => [
      name,
      name === 'checkpoint'
        ? (path: string) => call(name, [path])
        : (start: Uint8Array, end: Uint8Array) => call(name, [start, end, { keyEncoding: 'view' }])
    ])
  )
}
