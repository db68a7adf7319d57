/** Prewrite hooks, and the position of a database's keys in its root: members that abstract-level has and its types lack. */

import type { Encoded, Encoding, Format } from './encoded.js'
import { codedError } from './errors.js'
import type { AnyLevel } from './level-like.js'
import { sourceOf } from './view.js'

/** An operation in the form that a prewrite hook gets. */
export interface Operation {
  type: 'put' | 'del'
  key: unknown
  value?: unknown
  keyEncoding: Encoding
  valueEncoding?: Encoding
  sublevel?: AnyLevel | null
}

/** The batch that a prewrite hook adds operations to. */
export interface PrewriteBatch {
  add(operation: object): unknown
}

/** A prewrite hook of abstract-level. */
export type PrewriteHook<T = Operation> = (operation: T, batch: PrewriteBatch) => void

/** Members of databases that abstract-level's types lack, or type differently. */
interface HookedDatabase {
  readonly hooks: {
    readonly prewrite: {
      add(hook: PrewriteHook<never>, options: object): void
      delete(hook: PrewriteHook<never>): void
    }
  }
  readonly parent?: AnyLevel | null
  readonly prefix?: string
  keyEncoding(encoding?: unknown): Encoding
  valueEncoding(encoding?: unknown): Encoding
  prefixKey(key: Encoded, format: string, local: boolean): Encoded
}

/** Makes `hook` see every write to `db`. On databases other than Terrace, it sees the writes made through this very object. */
export function addHook(db: AnyLevel, hook: PrewriteHook<never>): void {
  hooked(db).hooks.prewrite.add(hook, { everyWrite: true })
}

export function deleteHook(db: AnyLevel, hook: PrewriteHook<never>): void {
  hooked(db).hooks.prewrite.delete(hook)
}

/** What databases over terrace-core declare in addition to abstract-level's manifest. */
interface HookSupport {
  readonly everyWrite?: boolean
  readonly getSync?: boolean
}

/**
 * Whether writes take effect in the order in which their hooks ran, hooks see every write, and `getSync` within them sees
 * everything written before. The manifest's `everyWrite` and `getSync` together mean that. It is so in Terrace.
 */
export function isExact(root: AnyLevel): boolean {
  const { everyWrite, getSync } = root.supports as HookSupport
  return everyWrite === true && getSync === true
}

/**
 * The root database that a sublevel is in, at whatever depth; for a root database, itself; for a view, the root of the database
 * whose entries it shows.
 *
 * @throws TOOLBOX_VIEW for a sublevel of a view.
 */
export function rootOf(db: AnyLevel): AnyLevel {
  let root = sourceOf(db)
  for (let next = parentOf(root); next != null; next = parentOf(next)) root = next
  if (sourceOf(root) !== root) {
    throw codedError(
      'TOOLBOX_VIEW',
      'A sublevel of a view would hide what others write: make a sublevel of the database, and a view of that sublevel'
    )
  }
  return root
}

/** The object that a sublevel was made from; nothing for a root database. */
export function parentOf(db: AnyLevel): AnyLevel | null | undefined {
  return hooked(db).parent
}

/** What the keys of a sublevel, or of a view of it, begin with in the root; empty for a root. */
export function prefixOf(db: AnyLevel): string {
  return hooked(sourceOf(db)).prefix ?? ''
}

/** An encoded key of `db`, as it is in the root. */
export function keyInRoot(db: AnyLevel, key: Encoded, format: Format): Encoded {
  return hooked(db).prefixKey(key, format, false)
}

/** The key encoding that an option names, or the database's own. */
export function keyEncodingOf(db: AnyLevel, encoding?: unknown): Encoding {
  return hooked(db).keyEncoding(encoding)
}

/** The value encoding that an option names, or the database's own. */
export function valueEncodingOf(db: AnyLevel, encoding?: unknown): Encoding {
  return hooked(db).valueEncoding(encoding)
}

function hooked(db: AnyLevel): HookedDatabase {
  return db as unknown as HookedDatabase
}
