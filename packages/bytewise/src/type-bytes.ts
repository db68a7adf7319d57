/**
 * The first byte of each encoded value. It identifies the type that follows, and is compared first.
 *
 * Bytes without a remark are those of bytewise 1.1. `docs/format/bytewise.md` in the repository specifies what follows each.
 */

/** Ends a string or bytes in an array, and an array. It is below every type. */
export const END = 0x00
/** In an array, `0x00` and `0x01` become this byte, followed by the byte plus one. */
export const ESCAPE_LOW = 0x01
/** In bytes within an array, `0xfe` and `0xff` become this byte, followed by the byte less one. */
export const ESCAPE_HIGH = 0xfe

export const NULL = 0x10
export const FALSE = 0x20
export const TRUE = 0x21
export const NEGATIVE_INFINITY = 0x40
export const NEGATIVE_NUMBER = 0x41
export const POSITIVE_NUMBER = 0x42
export const POSITIVE_INFINITY = 0x43
/** An extension of this package. */
export const NEGATIVE_BIGINT = 0x48
/** An extension of this package. */
export const POSITIVE_BIGINT = 0x49
export const DATE_BEFORE_EPOCH = 0x51
export const DATE_SINCE_EPOCH = 0x52
export const BINARY = 0x60
/** The first extension for typed arrays; `typed-arrays.ts` has all of them. */
export const FIRST_TYPED_ARRAY = 0x62
/** The last extension for typed arrays. */
export const LAST_TYPED_ARRAY = 0x6b
export const STRING = 0x70
/** From bytewise before 1.0. */
export const SET = 0x90
export const ARRAY = 0xa0
/** From bytewise before 1.0, which kept a map's entries in the order of insertion. This package sorts them. */
export const MAP = 0xc0
export const UNDEFINED = 0xf0

/** The lowest bound: below every key. */
export const LOWEST = 0x00
/** The highest bound: above every key, and above everything that can follow in an array or a text. */
export const HIGHEST = 0xff
