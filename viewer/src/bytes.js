/** Bytes: comparisons and conversions that both sides of the page need. */

const encoder = new TextEncoder()
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The bytes of a text in UTF-8. */
export const utf8 = (text) => encoder.encode(text)

/** The text of bytes in UTF-8; undefined if they are not UTF-8. */
export function textOf(bytes) {
  try {
    return strictDecoder.decode(bytes)
  } catch {
    return undefined
  }
}

/** All pieces, end to end. */
export function concat(...pieces) {
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

export const startsWith = (bytes, prefix) =>
  bytes.length >= prefix.length && prefix.every((byte, index) => bytes[index] === byte)

export const isEqual = (a, b) => a.length === b.length && startsWith(a, b)

/** How many bytes two keys have in common at their beginning. */
export function commonLength(a, b) {
  const most = Math.min(a.length, b.length)
  let length = 0
  while (length < most && a[length] === b[length]) length++
  return length
}

/** The first key after all that begin with `prefix`, in bytewise order; undefined if there is none. */
export function afterPrefix(prefix) {
  const last = prefix.findLastIndex((byte) => byte !== 0xff)
  if (last < 0) return undefined
  const after = prefix.slice(0, last + 1)
  after[last]++
  return after
}

const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** The bytes as hexadecimal digits. */
export function hex(bytes, separator = '') {
  return Array.from(bytes, (byte) => DIGITS[byte]).join(separator)
}

/** The bytes that hexadecimal digits stand for, with blanks between them or not; undefined if they are none. */
export function unhex(text) {
  const digits = text.replace(/\s+/g, '')
  if (digits.length % 2 !== 0 || !/^[0-9a-f]*$/i.test(digits)) return undefined
  return Uint8Array.from({ length: digits.length / 2 }, (_, index) =>
    Number.parseInt(digits.slice(2 * index, 2 * index + 2), 16)
  )
}
