/** Keys and values in the form that encodings produce, and their bytes. */

import { Buffer } from './buffer.js'

/** The names that abstract-level has for the forms that encodings produce. */
export type Format = 'utf8' | 'buffer' | 'view'

/** A key or a value in encoded form. */
export type Encoded = string | Uint8Array

/** An encoding of abstract-level. Its format is the form that it encodes to. */
export interface Encoding {
  readonly format: Format
  readonly name: string
  /** The name without that of the format that it is transcoded to. */
  readonly commonName: string
  encode(data: unknown): Encoded
  /** Like `encode()`, for a value: its error names the key. Databases over terrace-core have it. */
  encodeValue?(value: unknown, key: unknown): Encoded
  decode(encoded: Encoded): unknown
}

/**
 * Bytes as a string of the characters 0 to 255, one for each byte. Such strings compare as the bytes do and can be keys of
 * maps, whichever format an encoding produces.
 */
export type ByteString = string

const NOT_ASCII = /[\u0080-\uffff]/

/** The bytes of an encoded key or value. They are not copied. */
export function bytesOf(encoded: Encoded): Buffer {
  if (typeof encoded === 'string') return Buffer.from(encoded)
  if (Buffer.isBuffer(encoded)) return encoded
  return Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength)
}

/** The bytes of an encoded key or value, as a string. */
export function byteString(encoded: Encoded): ByteString {
  if (typeof encoded === 'string' && !NOT_ASCII.test(encoded)) return encoded
  return bytesOf(encoded).toString('latin1')
}

/** The bytes that a string stands for. */
export function fromByteString(bytes: ByteString): Buffer {
  return Buffer.from(bytes, 'latin1')
}

/** The encoded value of a key. If it cannot be stored, the error names the key where the database can tell. */
export function encodedValue(encoding: Encoding, value: unknown, key: unknown): Encoded {
  return encoding.encodeValue === undefined ? encoding.encode(value) : encoding.encodeValue(value, key)
}

/** What `encoding` will read of an encoded key or value once it is stored, even if an encoding of another format produced it. */
export function decodedBy(encoding: Encoding, encoded: Encoded): unknown {
  if (encoding.format === 'utf8') return encoding.decode(textOf(encoded))
  const bytes = bytesOf(encoded)
  if (encoding.format === 'buffer') return encoding.decode(bytes)
  return encoding.decode(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength))
}

/** The text of an encoded key or value. Half a surrogate pair is not stored as such. */
function textOf(encoded: Encoded): string {
  return typeof encoded === 'string' ? encoded.toWellFormed() : bytesOf(encoded).toString()
}
