/** The errors of this package. */

/** Codes of the errors of encoding and decoding. */
export type BytewiseErrorCode =
  /** A value of a type that has no encoding: a function, a symbol, a plain object, a boxed value. */
  | 'BYTEWISE_UNSUPPORTED_TYPE'
  /** A value that has no place in the order: `NaN`, an invalid date, a map with the same key twice. */
  | 'BYTEWISE_INVALID_VALUE'
  /** A string that is no Unicode text: half of a surrogate pair. Two of them would become the same bytes. */
  | 'BYTEWISE_INVALID_STRING'
  /** A bound where none can be: before the end of an array, in a set or a map, as the prefix of another bound. */
  | 'BYTEWISE_INVALID_BOUND'
  /** Arrays, sets and maps nested beyond `MAX_DEPTH`, as in an array that contains itself. */
  | 'BYTEWISE_TOO_DEEP'
  /** A key of more than `MAX_KEY_SIZE_BYTES`. */
  | 'BYTEWISE_TOO_LONG'
  /** Bytes that no key encodes to; `offset` says where. */
  | 'BYTEWISE_DAMAGED'
  /** Something other than a `Uint8Array` where encoded bytes were expected. */
  | 'BYTEWISE_INVALID_ARGUMENT'

/** An error of encoding or decoding a key. */
export interface BytewiseError extends Error {
  code: BytewiseErrorCode
  /** The byte at which the damage was noticed, counted from the first of the key. */
  offset?: number
}

/** An error with a code. @internal */
export function codedError(code: BytewiseErrorCode, message: string): BytewiseError {
  return Object.assign(new TypeError(message), { code })
}

/** An error about bytes that no key encodes to. @internal */
export function damaged(message: string, offset: number): BytewiseError {
  return Object.assign(codedError('BYTEWISE_DAMAGED', `${message} at byte ${offset}`), { offset })
}
