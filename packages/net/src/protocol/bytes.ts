/** Bytes: buffers in Node, `Uint8Array`s in a browser. */

/**
 * Whether bytes are Node's buffers. A bundler may bring a `Buffer` to a browser, but that is slower than a
 * `Uint8Array`.
 */
export const hasBuffers = typeof process === 'object' && typeof process.versions?.node === 'string'

/** The bytes of an ArrayBuffer, without a copy. */
export function bytesOf(memory: ArrayBuffer): Uint8Array {
  return hasBuffers ? Buffer.from(memory) : new Uint8Array(memory)
}

/** Joins pieces of memory. A single piece is returned without a copy. */
export function concat(pieces: readonly Uint8Array[]): Uint8Array {
  if (pieces.length === 1) return pieces[0] as Uint8Array
  let length = 0
  for (const piece of pieces) length += piece.length
  const all = hasBuffers ? Buffer.allocUnsafe(length) : new Uint8Array(length)
  let offset = 0
  for (const piece of pieces) {
    all.set(piece, offset)
    offset += piece.length
  }
  return all
}

/** Copies bytes, or encodes text. The result does not keep the source's memory alive. */
export function copyOf(part: string | Uint8Array): Uint8Array {
  return hasBuffers ? Buffer.from(part as Uint8Array) : Uint8Array.from(part as Uint8Array)
}

/** Encodes text, and returns bytes unchanged. Only Node passes text. */
export function toBytes(part: string | Uint8Array): Uint8Array {
  if (typeof part === 'string') return Buffer.from(part)
  // A page may use buffers of the package `buffer`, which would be packed as the result of their `toJSON()`.
  return hasBuffers || part.constructor === Uint8Array ? part : Uint8Array.from(part)
}

/** Converts received bytes to the format that the receiver wants: text, or a copy. */
export function inFormat(bytes: Uint8Array, format: string): string | Uint8Array {
  return format === 'utf8' ? (bytes as Buffer).toString() : copyOf(bytes)
}
