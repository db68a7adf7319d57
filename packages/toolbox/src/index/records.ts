/** Reading the records of a database page by page, without those of its sublevels. */

import type { AbstractSnapshot } from 'abstract-level'
import { endOfSublevel } from './bytes.js'
import type { KeySpace } from './key-space.js'

export interface KeyPage {
  /** Primary keys. */
  readonly keys: Uint8Array[]
  /** Where the next page begins; undefined if there is none. */
  readonly next: Uint8Array | undefined
}

export interface KeyPageOptions {
  limit: number
  snapshot?: AbstractSnapshot | undefined
}

/** Reads primary keys from `start` on. */
export async function readKeys(
  { db }: KeySpace,
  start: Uint8Array,
  { limit, snapshot }: KeyPageOptions
): Promise<KeyPage> {
  const from = start.length > 0 ? { gte: start } : {}
  const keys = (await db.keys({ ...from, limit, keyEncoding: 'buffer', snapshot }).all()) as Uint8Array[]
  for (const [index, key] of keys.entries()) {
    const end = endOfSublevel(key)
    if (end !== undefined) return { keys: keys.slice(0, index), next: end }
  }
  const last = keys.at(-1)
  return { keys, next: last === undefined || keys.length < limit ? undefined : behind(last) }
}

/** The key right behind `key`. */
export function behind(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1)
  next.set(key)
  return Buffer.from(next.buffer)
}
