/** The type of keys. */

import type { TypedArray } from './typed-arrays.js'

/** A value that can be encoded. The types are listed in the order in which they sort. */
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
