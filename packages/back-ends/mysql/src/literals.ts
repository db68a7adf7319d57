/**
 * Users' bytes within statements. A statement is a string with one character per byte (latin1), sent without conversion, and the
 * session treats strings as binary. Within quotes, only the quote and the backslash are then special to the server.
 */

import type { Bytes } from 'terrace-core'

/** Bytes as a string with one character per byte. It sorts like the bytes. */
export type Binary = string

// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII begins with them
const BEYOND_ASCII = /[^\x00-\x7f]/
const SPECIAL = /['\\]/g

/** The bytes of a key or value, as a copy. */
export function binaryOf(bytes: Bytes): Binary {
  if (typeof bytes === 'string') {
    return BEYOND_ASCII.test(bytes) ? Buffer.from(bytes).toString('latin1') : bytes
  }
  return Buffer.prototype.latin1Slice.call(bytes, 0, bytes.length)
}

export function bufferOf(binary: Binary): Buffer {
  return Buffer.from(binary, 'latin1')
}

/** Quotes bytes as an SQL string. */
export function literal(binary: Binary): string {
  return `'${binary.replace(SPECIAL, '\\$&')}'`
}
