/**
 * Encodes structured keys as bytes that sort like the keys. The encoding is that of the npm package bytewise, with
 * extensions.
 *
 * @packageDocumentation
 */

import { type Bound, between, lower, prefix, upper } from './bounds.js'
import { decode } from './decode.js'
import { encode } from './encode.js'
import type { Key } from './keys.js'

export { Bound, between, type KeyRange, lower, prefix, upper } from './bounds.js'
export { decode } from './decode.js'
export { encode } from './encode.js'
export type { BytewiseError, BytewiseErrorCode } from './errors.js'
export type { Key } from './keys.js'
export { MAX_DEPTH, MAX_KEY_SIZE_BYTES } from './limits.js'
export type { TypedArray } from './typed-arrays.js'

/** A `keyEncoding` for abstract-level databases, with helpers for ranges. */
export interface Bytewise {
  /** The name of the encoding. */
  readonly name: 'bytewise'
  /** The type of the encoded form: `Uint8Array`. */
  readonly format: 'view'
  /** Encodes a key or a bound; see {@link encode}. */
  encode(key: Key | Bound): Uint8Array
  /**
   * Decodes a key; see {@link decode}. The result has the type `any`, like that of `JSON.parse()`: the database
   * declares the type of its keys.
   */
  // biome-ignore lint/suspicious/noExplicitAny: see above
  decode(bytes: Uint8Array): any
  /** Returns the range of a prefix; see {@link prefix}. */
  prefix: typeof prefix
  /** Creates a bound before a prefix; see {@link lower}. */
  lower: typeof lower
  /** Creates a bound after a prefix; see {@link upper}. */
  upper: typeof upper
  /** Returns the range between two keys; see {@link between}. */
  between: typeof between
}

/** The encoding to pass to a database: `new Level(location, { keyEncoding: bytewise })`. */
export const bytewise: Bytewise = {
  name: 'bytewise',
  format: 'view',
  encode,
  decode,
  prefix,
  lower,
  upper,
  between
}

export default bytewise
