/** Operations of a batch: objects, as programs give them, and the flat list in which Terrace takes them. */

import type { DirectData } from 'terrace-core'
import { Buffer } from './buffer.js'

/** Keys and values alternate, with null for the value of a key to delete. */
export type Flat = Array<DirectData | null>

/** An operation whose key and value are serialized. */
export interface Operation {
  readonly type: 'put' | 'del'
  readonly key: DirectData
  readonly value?: DirectData
}

/** The database of a batch, as far as its operations need it. */
export interface OperationsHost {
  _checkKey(key: unknown): Error | undefined
  _checkValue(value: unknown): Error | undefined
  _serializeKey(key: unknown): DirectData
  _serializeValue(value: unknown): DirectData
}

/** The operations of an array in a flat list, or what is wrong with them. */
export function flatOf(db: OperationsHost, operations: unknown): Flat | Error {
  if (!Array.isArray(operations)) return new Error('batch(array) requires an array argument')
  const flat: Flat = []
  for (const operation of operations) {
    if (typeof operation !== 'object' || operation === null) {
      return new Error('batch(array) element must be an object and not `null`')
    }
    const { type, key, value } = operation as { type?: unknown; key?: unknown; value?: unknown }
    if (type !== 'put' && type !== 'del') return new Error("`type` must be 'put' or 'del'")
    const error = db._checkKey(key) ?? (type === 'put' ? db._checkValue(value) : undefined)
    if (error !== undefined) return error
    flat.push(db._serializeKey(key), type === 'put' ? db._serializeValue(value) : null)
  }
  return flat
}

/** Objects for a `_batch()` that a program has replaced. They have the other properties of those that were given. */
export function operationsOf(flat: Flat, given: readonly object[] = []): Operation[] {
  const operations: Operation[] = []
  for (let i = 0; i < flat.length; i += 2) {
    const key = flat[i] as DirectData
    const value = flat[i + 1] as DirectData | null
    const others = given[i / 2]
    operations.push(value === null ? { ...others, type: 'del', key } : { ...others, type: 'put', key, value })
  }
  return operations
}

/** A copy of data that the program may change before it is used. */
export function kept(data: DirectData): DirectData {
  if (typeof data === 'string') return data
  // A third faster than `Buffer.from`.
  const copy = Buffer.allocUnsafe(data.length)
  copy.set(data)
  return copy
}
