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
  /** Where hooks may have to wait: ends the hook, which is called again for the same operation when the promise has settled. */
  waitFor?(promise: Promise<unknown>): never
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

/**
 * Makes `hook` see every write to `db`. On databases other than Terrace, it sees the writes made through this very object.
 *
 * @param prepare - Called before the hook where that may have to wait for what it reads: reads the same for an operation, and
 * changes nothing. What many operations need is then read together.
 */
export function addHook(db: AnyLevel, hook: PrewriteHook<never>, prepare?: (operation: never) => void): void {
  hooked(db).hooks.prewrite.add(hook, { everyWrite: true, prepare })
}

export function deleteHook(db: AnyLevel, hook: PrewriteHook<never>): void {
  hooked(db).hooks.prewrite.delete(hook)
}

/** What databases over terrace-core declare in addition to abstract-level's manifest. */
interface HookSupport {
  readonly everyWrite?: boolean
  readonly getSync?: boolean
  readonly getSyncInHooks?: boolean
}

/**
 * Whether writes take effect in the order in which their hooks ran, hooks see every write, and `getSync` within them sees
 * everything written before. The manifest's `everyWrite` means that, if hooks can call `getSync`. It is so in Terrace.
 */
export function isExact(root: AnyLevel): boolean {
  return (root.supports as HookSupport).everyWrite === true && readsInHooks(root)
}

/** Whether hooks can call `getSync`. If {@link readsAtOnce} is false, they may have to wait there, and are called again. */
export function readsInHooks({ supports }: AnyLevel): boolean {
  const { getSync, getSyncInHooks } = supports as HookSupport
  return getSync === true || getSyncInHooks === true
}

/** Whether the database has `getSync`, which works everywhere and not in hooks alone. */
export function readsAtOnce({ supports }: AnyLevel): boolean {
  return (supports as HookSupport).getSync === true
}

/** A batch whose operations are dropped, for hooks that are called only for what they read. */
export const nowhere: PrewriteBatch = Object.freeze({ add() {} })

/** In a hook that may have to wait: asks for what is read for each item, so that all of it is read together. */
export function askFor<T>(items: Iterable<T>, read: (item: T) => void): void {
  for (const item of items) {
    try {
      read(item)
    } catch {
      // What is not known yet makes the hook wait. Whatever else is wrong shows when it is read again.
    }
  }
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
      'A sublevel of a view would hide writes that bypass the view: make a sublevel of the database, and a view of that sublevel'
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
