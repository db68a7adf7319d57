import type { AbstractLevel } from 'abstract-level'

/** Any database with abstract-level's API, whatever its keys and values are. */
// biome-ignore lint/suspicious/noExplicitAny: the types of keys and values do not matter here
export type AnyLevel = AbstractLevel<any, any, any>

/** What a sublevel has beyond a database. */
interface SublevelLike {
  readonly parent: AnyLevel
  path(local?: boolean): string[]
}

/**
 * Where a part keeps what it stores for `db`: beside a sublevel, so that what it stores is not among the sublevel's own
 * keys; within a database that is none, where there is no beside.
 *
 * `users` has `users.index` beside it. Names of sublevels are ASCII; `suffix` must be, too.
 */
export function asideOf(db: AnyLevel, suffix: string): AnyLevel {
  const { parent } = db as unknown as Partial<SublevelLike>
  if (parent == null) return db.sublevel(suffix) as unknown as AnyLevel

  const path = (db as unknown as SublevelLike).path(true)
  const name = path[path.length - 1] as string
  return parent.sublevel([...path.slice(0, -1), `${name}.${suffix}`]) as unknown as AnyLevel
}
