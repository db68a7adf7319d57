/** Pages of the store: the keys, or the keys and values, of a range. */

import { type Bounds, keyRangeOf } from './bounds.js'
import { lossError } from './errors.js'
import { resultsOf } from './requests.js'

/** Keys as stored, and the value of each, if values were requested. */
export interface Rows {
  readonly keys: readonly IDBValidKey[]
  readonly values: readonly unknown[]
}

/** Options of `getAll()` and `getAllKeys()` in browsers that have `getAllRecords()`. */
interface DirectedOptions {
  query: IDBKeyRange | undefined
  count: number
  direction: IDBCursorDirection
}

type Query = IDBKeyRange | null | undefined

/** More values are requested in parts: the browser reads one part while it decodes the values of the last. */
const MAX_AT_ONCE = 500

/** Reads up to `count` rows of a range that is not empty. */
export function readRows(
  store: IDBObjectStore,
  bounds: Bounds,
  count: number,
  hasValues: boolean,
  reverse: boolean
): Promise<Rows> {
  const range = keyRangeOf(bounds)
  if (!reverse && hasValues && count > MAX_AT_ONCE) return readInParts(store, range, count)
  if (!reverse) return readAll(store, hasValues, range, count)
  if (!('getAllRecords' in store)) return walkBack(store, range, count, hasValues)
  const options: DirectedOptions = { query: range, count, direction: 'prev' }
  // TypeScript's types lack them.
  return readAll(store, hasValues, options as unknown as IDBKeyRange)
}

async function readAll(
  store: IDBObjectStore,
  hasValues: boolean,
  query: Query,
  count?: number
): Promise<Rows> {
  const requests: IDBRequest[] = [store.getAllKeys(query, count)]
  if (hasValues) requests.push(store.getAll(query, count))
  const [keys, values = []] = (await resultsOf(store.transaction, requests)) as [IDBValidKey[], unknown[]?]
  return { keys, values }
}

function readInParts(store: IDBObjectStore, query: Query, count: number): Promise<Rows> {
  return new Promise((resolve, reject) => {
    const { transaction } = store
    transaction.onabort = () => reject(transaction.error ?? lossError())
    const request = store.getAllKeys(query, count)
    request.onsuccess = () => {
      const keys = request.result
      const parts = partsOf(keys).map((part) => store.getAll(part))
      resolve(resultsOf(transaction, parts).then((values) => ({ keys, values: values.flat() })))
    }
  })
}

/** Ranges with up to {@link MAX_AT_ONCE} of the keys each, which together cover all keys. */
function partsOf(keys: readonly IDBValidKey[]): IDBKeyRange[] {
  const parts: IDBKeyRange[] = []
  for (let start = 0; start < keys.length; start += MAX_AT_ONCE) {
    const end = Math.min(start + MAX_AT_ONCE, keys.length)
    parts.push(IDBKeyRange.bound(keys[start], keys[end - 1]))
  }
  return parts
}

/** Reads row by row, as all browsers can. */
function walkBack(
  store: IDBObjectStore,
  range: IDBKeyRange | undefined,
  count: number,
  hasValues: boolean
): Promise<Rows> {
  return new Promise((resolve, reject) => {
    const { transaction } = store
    const keys: IDBValidKey[] = []
    const values: unknown[] = []
    transaction.onabort = () => reject(transaction.error ?? lossError())
    const request: IDBRequest<IDBCursorWithValue | null> | IDBRequest<IDBCursor | null> = hasValues
      ? store.openCursor(range, 'prev')
      : store.openKeyCursor(range, 'prev')
    request.onsuccess = () => {
      const cursor = request.result
      if (cursor === null) return resolve({ keys, values })
      keys.push(cursor.key)
      if (hasValues) values.push((cursor as IDBCursorWithValue).value)
      if (keys.length < count) cursor.continue()
      else resolve({ keys, values })
    }
  })
}
