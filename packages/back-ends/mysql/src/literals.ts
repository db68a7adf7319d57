/**
 * Users' bytes within statements. A statement is a string whose characters are bytes (latin1), sent as they are, and the session
 * takes strings for binary. Within quotes, only the quote and the backslash mean something to the server then.
 */

import type { Bytes } from 'terrace-core'

/** Bytes as a string with a character for each. It compares as the bytes do. */
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

/** Bytes as a string of SQL. */
export function literal(binary: Binary): string {
  return `'${binary.replace(SPECIAL, '\\$&')}'`
}
