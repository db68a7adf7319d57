/** The conditions of writes: copies of them, and their check within a transaction of lmdb. */

import type { BackendCondition, StoredRange } from 'terrace-core'
import type { LmdbStore } from './binding.js'
import { fits, type KeyCodec, ranges, StoredKey } from './keys.js'
import { type Item, itemsIn } from './lmdb-cursor.js'
import type { LmdbSnapshot } from './lmdb-snapshot.js'
import { copyOf } from './operations.js'

/** A condition as a back-end without versions gets it. */
export type GivenCondition = Exclude<BackendCondition<LmdbSnapshot>, { readonly version: number }>

interface RangeCondition {
  readonly kind: 'unchanged'
  readonly range: StoredRange<StoredKey>
  readonly snapshot: LmdbSnapshot
}

/** A condition. Its bytes are its own. A key that is undefined is too long for any entry. */
export type Condition =
  | { readonly kind: 'absent' | 'present'; readonly key: StoredKey | undefined }
  | { readonly kind: 'equals'; readonly key: StoredKey | undefined; readonly value: Buffer }
  | RangeCondition

export function conditionOf(condition: GivenCondition): Condition {
  const { kind } = condition
  if (kind === 'unchanged') return { kind, range: ranges.of(condition.range), snapshot: condition.snapshot }

  const key = fits(condition.key) ? StoredKey.of(condition.key) : undefined
  return kind === 'equals' ? { kind, key, value: copyOf(condition.value) } : { kind, key }
}

/** Returns whether a condition holds. Must be called within a transaction of lmdb, whose state it is checked in. */
export function holds(store: LmdbStore, codec: KeyCodec, condition: Condition): boolean {
  if (condition.kind === 'unchanged') return isUnchanged(store, codec, condition)

  const { key } = condition
  const found = key === undefined ? undefined : store.getBinaryFast(key)
  if (condition.kind !== 'equals') return (found !== undefined) === (condition.kind === 'present')
  return found !== undefined && isSame(condition.value, found, store.lastSize)
}

/** Compares the entries of a range with those in the snapshot, up to the first difference. */
function isUnchanged(store: LmdbStore, codec: KeyCodec, { range, snapshot }: RangeCondition): boolean {
  if (ranges.isEmpty(range)) return true
  codec.asText = false
  const then = entriesIn(store, range, snapshot)
  const now = entriesIn(store, range)
  try {
    for (;;) {
      const [before, after] = [then.next(), now.next()]
      if (before.done || after.done) return before.done === after.done
      if (!isSameItem(before.value, after.value)) return false
    }
  } finally {
    then.return?.()
    now.return?.()
  }
}

function entriesIn(
  store: LmdbStore,
  range: StoredRange<StoredKey>,
  snapshot?: LmdbSnapshot
): Iterator<Item, undefined> {
  const options = { reverse: false, values: true, transaction: snapshot?.transaction }
  return itemsIn(store, range, options)[Symbol.iterator]() as Iterator<Item, undefined>
}

function isSameItem(a: Item, b: Item): boolean {
  return (
    isSame(a.key as Uint8Array, b.key as Uint8Array, b.key.length) && isSame(a.value, b.value, b.value.length)
  )
}

/** Returns whether these bytes are the first `size` of `found`; lmdb may have given that another length than it has. */
function isSame(bytes: Uint8Array, found: Uint8Array, size: number): boolean {
  return bytes.length === size && Buffer.prototype.compare.call(bytes, found, 0, size) === 0
}
