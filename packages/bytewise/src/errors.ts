/** The errors of this package. */

/** Codes of the errors of encoding and decoding. */
export type BytewiseErrorCode =
  /** The value is of a type that has no encoding: a function, a symbol, a plain object, a boxed value. */
  | 'BYTEWISE_UNSUPPORTED_TYPE'
  /** The value has no place in the order: `NaN`, an invalid date, a map with the same key twice. */
  | 'BYTEWISE_INVALID_VALUE'
  /** The string is not valid Unicode: it contains a lone surrogate. Two such strings would have the same encoding. */
  | 'BYTEWISE_INVALID_STRING'
  /**
   * A bound is not allowed in this place: before the end of an array, in a set or a map, or as the prefix of another bound.
   */
  | 'BYTEWISE_INVALID_BOUND'
  /** Arrays, sets and maps are nested deeper than `MAX_DEPTH`, as in an array that contains itself. */
  | 'BYTEWISE_TOO_DEEP'
  /** The encoded key is longer than `MAX_KEY_SIZE_BYTES`. */
  | 'BYTEWISE_TOO_LONG'
  /** No key encodes to these bytes. `offset` is where the damage was detected. */
  | 'BYTEWISE_DAMAGED'
  /** The argument is not a `Uint8Array`. */
  | 'BYTEWISE_INVALID_ARGUMENT'

/** An error of encoding or decoding a key. */
export interface BytewiseError extends Error {
  /** The machine-readable reason. */
  code: BytewiseErrorCode
  /** The offset at which the damage was detected, in bytes from the start of the key. */
  offset?: number
}

/**
 * Makes an error with a code.
 *
 * @internal
 */
export function codedError(code: BytewiseErrorCode, message: string): BytewiseError {
  return Object.assign(new TypeError(message), { code })
}

/**
 * Makes the error about bytes that no key encodes to.
 *
 * @internal
 */
export function damaged(message: string, offset: number): BytewiseError {
  return Object.assign(codedError('BYTEWISE_DAMAGED', `${message} at byte ${offset}`), { offset })
}
