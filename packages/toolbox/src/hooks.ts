/** Prewrite hooks, and where the keys of a database are in its root: what abstract-level has and its types lack. */

import type { Encoded, Encoding, Format } from './encoded.js'
import { codedError } from './errors.js'
import type { AnyLevel } from './level-like.js'
import { beneath } from './view.js'

/** An operation as a prewrite hook gets it. */
export interface Operation {
  type: 'put' | 'del'
  key: unknown
  value?: unknown
  keyEncoding: Encoding
  valueEncoding?: Encoding
  sublevel?: AnyLevel | null
}

/** What a prewrite hook adds operations to. */
export interface PrewriteBatch {
  add(operation: object): unknown
}

/** A prewrite hook of abstract-level. */
export type PrewriteHook<T = Operation> = (operation: T, batch: PrewriteBatch) => void

/** What is used of databases and is not in abstract-level's types, or not as it is used here. */
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

/** Has `hook` see every write of `db`; on databases other than Terrace those that are made with this very object. */
export function addHook(db: AnyLevel, hook: PrewriteHook<never>): void {
  hooked(db).hooks.prewrite.add(hook, { everyWrite: true })
}

export function deleteHook(db: AnyLevel, hook: PrewriteHook<never>): void {
  hooked(db).hooks.prewrite.delete(hook)
}

/** What databases over terrace-core declare beyond abstract-level's manifest. */
interface HookSupport {
  readonly everyWrite?: boolean
  readonly getSync?: boolean
}

/**
 * Whether writes take effect in the order in which their hooks ran, hooks see every write, and `getSync` within them all
 * that was written before: what the manifest's `everyWrite` and `getSync` mean together. Terrace does so.
 */
export function isExact(root: AnyLevel): boolean {
  const { everyWrite, getSync } = root.supports as HookSupport
  return everyWrite === true && getSync === true
}

/**
 * The database that a sublevel is in, at whatever depth; a database itself. Of a view, that of what is beneath.
 *
 * @throws TOOLBOX_VIEW for a sublevel of a view.
 */
export function rootOf(db: AnyLevel): AnyLevel {
  let root = beneath(db)
  for (let next = parentOf(root); next != null; next = parentOf(next)) root = next
  if (beneath(root) !== root) {
    throw codedError(
      'TOOLBOX_VIEW',
      'A sublevel of a view hides what others write: make it of the database, and a view of that sublevel'
    )
  }
  return root
}

/** What a sublevel was made of; none for a database. */
export function parentOf(db: AnyLevel): AnyLevel | null | undefined {
  return hooked(db).parent
}

/** What the keys of a sublevel, or of a view of it, begin with in the root; nothing for a root. */
export function prefixOf(db: AnyLevel): string {
  return hooked(beneath(db)).prefix ?? ''
}

/** An encoded key of `db` as the root has it. */
export function keyInRoot(db: AnyLevel, key: Encoded, format: Format): Encoded {
  return hooked(db).prefixKey(key, format, false)
}

/** The encoding of keys that is meant by an option, or the database's own. */
export function keyEncodingOf(db: AnyLevel, encoding?: unknown): Encoding {
  return hooked(db).keyEncoding(encoding)
}

/** The encoding of values that is meant by an option, or the database's own. */
export function valueEncodingOf(db: AnyLevel, encoding?: unknown): Encoding {
  return hooked(db).valueEncoding(encoding)
}

function hooked(db: AnyLevel): HookedDatabase {
  return db as unknown as HookedDatabase
}
