/** The operations of writes, as requests of a transaction. */

import type { Operations } from 'terrace-core'
import { bytesFrom, bytesOf, identityOf } from './bytes.js'
import type { Layer } from './layer.js'

/** Keys and values alternate, with null for the value of a key to delete. */
export type Copies = ReadonlyArray<Uint8Array<ArrayBuffer> | null>

/** Copies operations, which belong to the caller. */
export function copiesOf(operations: Operations): Copies {
  return operations.map((bytes) => (bytes === null ? null : bytesOf(bytes)))
}

/** Requests operations. None of the requests waits for another one. */
export function request(store: IDBObjectStore, operations: Copies): void {
  for (let index = 0; index < operations.length; index += 2) {
    const key = operations[index] as Uint8Array<ArrayBuffer>
    const value = operations[index + 1]
    if (value === null) store.delete(key)
    else store.put(value, key)
  }
}

/** Reads what the operations are about to replace, before they do. */
export function keepReplaced(store: IDBObjectStore, operations: Copies, layer: Layer): void {
  for (let index = 0; index < operations.length; index += 2) {
    const key = operations[index] as Uint8Array<ArrayBuffer>
    const identity = identityOf(key)
    if (layer.has(identity)) continue
    const reading = store.get(key)
    reading.onsuccess = () => {
      const { result } = reading
      layer.keep(identity, result === undefined ? undefined : bytesFrom(result))
    }
  }
}
