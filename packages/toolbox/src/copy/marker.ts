/**
 * The marker of an unfinished copy. It is an entry of the target, in a separate sublevel, written before the first entry and
 * removed after the last check. While it exists, the target counts as a partial copy: the next copy compares each of its
 * entries with the source, and keeps, replaces or deletes it.
 */

import { Buffer } from '../buffer.js'
import { bytesOf } from '../encoded.js'
import type { AnyLevel } from '../level-like.js'
import { rawBytes } from './write-entries.js'

/** The key as the sublevel `terrace-copy` would store it. */
const KEY = Buffer.from('!terrace-copy!unfinished')

/** For later versions, which might have to know which version wrote it. */
const VALUE = Buffer.from(JSON.stringify({ version: 1 }))

/** Whether a key is that of the marker. */
export function isMarker(key: Uint8Array): boolean {
  return key.byteLength === KEY.length && KEY.equals(bytesOf(key))
}

/** Whether a database has the marker. */
export async function isUnfinished(db: AnyLevel): Promise<boolean> {
  return (await db.get(KEY, rawBytes as object)) !== undefined
}

/** Whether a database has entries other than the marker. */
export async function hasEntries(db: AnyLevel): Promise<boolean> {
  const keys = (await db.keys({ limit: 2, keyEncoding: 'view' }).all()) as Uint8Array[]
  return keys.some((key) => !isMarker(key))
}

/** Writes the marker. The write is synced, so that a loss of power cannot drop it and leave entries of the copy. */
export async function addMarker(db: AnyLevel): Promise<void> {
  await db.put(KEY, VALUE, { ...rawBytes, sync: true } as object)
}

/** Removes the marker: the copy is finished. The write is synced, and with it all earlier ones. */
export async function removeMarker(db: AnyLevel): Promise<void> {
  await db.del(KEY, { keyEncoding: 'view', sync: true } as object)
}
