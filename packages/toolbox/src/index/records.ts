/** Reads the records of a database page by page, without those of its sublevels. */

import type { AbstractSnapshot } from 'abstract-level'
import { Buffer } from '../buffer.js'
import type { IndexHook } from './index-hook.js'
import { endOfSublevel } from './sublevel-keys.js'

export interface KeyPage {
  /** Primary keys. */
  readonly keys: Uint8Array[]
  /** The key at which the next page begins; undefined if there is none. */
  readonly next: Uint8Array | undefined
}

export interface KeyPageOptions {
  limit: number
  snapshot?: AbstractSnapshot | undefined
}

/** Reads primary keys from `start` on. A page without keys is the last one. */
export async function readKeys(
  { space: { db } }: IndexHook,
  start: Uint8Array,
  { limit, snapshot }: KeyPageOptions
): Promise<KeyPage> {
  let from = start
  while (true) {
    const range = from.length > 0 ? { gte: from } : {}
    const keys = (await db.keys({ ...range, limit, keyEncoding: 'buffer', snapshot }).all()) as Uint8Array[]
    const last = keys.at(-1)
    if (last === undefined) return { keys, next: undefined }

    const end = keys.findIndex((key) => endOfSublevel(key) !== undefined)
    if (end < 0) return { keys, next: keys.length < limit ? undefined : keyAfter(last) }
    const next = endOfSublevel(keys[end] as Uint8Array) as Uint8Array
    if (end > 0) return { keys: keys.slice(0, end), next }
    from = next
  }
}

/** The key immediately after `key`. */
export function keyAfter(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1)
  next.set(key)
  return Buffer.from(next.buffer)
}
