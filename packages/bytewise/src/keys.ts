/** What can be a key. */

import type { TypedArray } from './typed-arrays.js'

/** A value that can be encoded, in the order of its kind among the others. */
export type Key =
  | null
  | boolean
  | number
  | bigint
  | Date
  | Uint8Array
  | TypedArray
  | string
  | ReadonlySet<Key>
  | readonly Key[]
  | ReadonlyMap<Key, Key>
  | undefined
