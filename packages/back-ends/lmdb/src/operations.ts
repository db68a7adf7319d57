/** The operations of a write as lmdb takes them. */

import type { Bytes, Operations } from 'terrace-core'
import type { LmdbStore } from './binding.js'
import { checkKey, StoredKey } from './keys.js'

/** An operation. Its bytes are its own. */
export interface Operation {
  readonly key: StoredKey
  readonly value: Buffer | null
}

/** @throws LEVEL_KEY_TOO_LARGE. lmdb cannot undo part of a transaction, so nothing may fail once it has begun. */
export function checkKeys(operations: Operations): void {
  for (let i = 0; i < operations.length; i += 2) checkKey(operations[i] as Bytes)
}

/** Copies bytes: lmdb reads them on another thread, possibly after their owner has reused them. */
export function copyOf(bytes: Bytes): Buffer {
  return Buffer.from(bytes as Uint8Array)
}

/** Sorts operations by key, the order in which LMDB writes fastest. Those of the same key keep their order. */
export function inOrder(operations: Operations): Operation[] {
  const sorted: Operation[] = []
  for (let i = 0; i < operations.length; i += 2) {
    const value = operations[i + 1] as Bytes | null
    sorted.push({
      key: StoredKey.of(operations[i] as Bytes),
      value: value === null ? null : copyOf(value)
    })
  }
  return sorted.sort((a, b) => a.key.bytes.compare(b.key.bytes))
}

/** Writes operations within a batch or a transaction of lmdb. */
export function apply(store: LmdbStore, operations: readonly Operation[]): void {
  for (const { key, value } of operations) {
    if (value === null) store.remove(key)
    else store.put(key, value)
  }
}
