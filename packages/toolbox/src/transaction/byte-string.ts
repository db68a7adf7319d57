/**
 * Bytes as strings of the characters 0 to 255, one a byte: such strings compare as the bytes do, and can be keys of maps,
 * whichever format an encoding makes.
 */
export type ByteString = string

/** What encodings make of keys and values. */
export type Encoded = string | Uint8Array

/** The names that abstract-level has for what encodings make. */
export type Format = 'utf8' | 'buffer' | 'view'

const NOT_ASCII = /[\u0080-\uffff]/

/** The bytes of what an encoding made. */
export function byteString(encoded: Encoded): ByteString {
  if (typeof encoded === 'string') {
    return NOT_ASCII.test(encoded) ? Buffer.from(encoded, 'utf8').toString('latin1') : encoded
  }

  return bufferOf(encoded).toString('latin1')
}

/** The bytes as a decoder of the format wants them. */
export function inFormat(bytes: ByteString, format: Format): Encoded {
  if (format !== 'utf8') return Buffer.from(bytes, 'latin1')
  return NOT_ASCII.test(bytes) ? Buffer.from(bytes, 'latin1').toString('utf8') : bytes
}

/** What an encoding made, in another format. */
export function reformatted(encoded: Encoded, format: Format): Encoded {
  if (typeof encoded === 'string') return format === 'utf8' ? encoded : Buffer.from(encoded, 'utf8')
  const bytes = bufferOf(encoded)
  return format === 'utf8' ? bytes.toString('utf8') : bytes
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
