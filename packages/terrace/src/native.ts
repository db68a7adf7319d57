/** Types that the addon's functions share. */

import type { Bytes, Range } from 'terrace-core'

/** An opaque native object. It is released by its `close` function, or when it is garbage-collected. */
export interface Native<Kind extends string> {
  readonly __kind: Kind
}

/** A string; or the length of the next piece of the accompanying buffer, in bytes; or undefined if there is nothing. */
export type Part = string | number | undefined

/** What was found for many keys: the buffer that the values are pieces of, if they are buffers, and then a value for each key. */
export type FoundMany = [buffer: Buffer | undefined, ...values: Part[]]

/** Conditions of a write: a kind and two arguments for each. */
export type NativeConditions<Snapshot> = Array<number | Bytes | Range | Snapshot | undefined>
