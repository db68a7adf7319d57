/** Keys and values as encodings make them, and their bytes. */

/** The names that abstract-level has for what encodings make. */
export type Format = 'utf8' | 'buffer' | 'view'

/** A key or a value as an encoding makes it. */
export type Encoded = string | Uint8Array

/** An encoding of abstract-level: its format is the form of what it encodes to. */
export interface Encoding {
  readonly format: Format
  readonly name: string
  /** The name without that of the format that it is transcoded to. */
  readonly commonName: string
  encode(data: unknown): Encoded
  decode(encoded: Encoded): unknown
}

/**
 * Bytes as strings of the characters 0 to 255, one a byte: such strings compare as the bytes do, and can be keys of maps,
 * whichever format an encoding makes.
 */
export type ByteString = string

const NOT_ASCII = /[\u0080-\uffff]/

/** The bytes of what was encoded. Bytes are not copied. */
export function bytesOf(encoded: Encoded): Buffer {
  if (typeof encoded === 'string') return Buffer.from(encoded)
  if (Buffer.isBuffer(encoded)) return encoded
  return Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength)
}

/** The bytes of what was encoded, as a string. */
export function byteString(encoded: Encoded): ByteString {
  if (typeof encoded === 'string' && !NOT_ASCII.test(encoded)) return encoded
  return bytesOf(encoded).toString('latin1')
}

/** The bytes that a string is of. */
export function fromByteString(bytes: ByteString): Buffer {
  return Buffer.from(bytes, 'latin1')
}

/** What an encoding, perhaps one of another format, made, as `encoding` reads it once it is stored. */
export function decodedBy(encoding: Encoding, encoded: Encoded): unknown {
  if (encoding.format === 'utf8') return encoding.decode(textOf(encoded))
  const bytes = bytesOf(encoded)
  if (encoding.format === 'buffer') return encoding.decode(bytes)
  return encoding.decode(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength))
}

/** The text of what was encoded. Half a surrogate pair is not stored as such. */
function textOf(encoded: Encoded): string {
  return typeof encoded === 'string' ? encoded.toWellFormed() : bytesOf(encoded).toString()
}
