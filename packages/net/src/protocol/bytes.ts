/** Memory: buffers in Node, views in a browser. */

/** Whether bytes are Node's buffers here. A bundler may bring a `Buffer` to a browser, which is slower than a view. */
export const hasBuffers = typeof process === 'object' && typeof process.versions?.node === 'string'

/** The bytes of an ArrayBuffer, without a copy. */
export function bytesOf(memory: ArrayBuffer): Uint8Array {
  return hasBuffers ? Buffer.from(memory) : new Uint8Array(memory)
}

/** Joins pieces of memory. One alone is returned as it is. */
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

/** A copy of bytes, or the bytes of a text. It does not keep the memory that it was in. */
export function copyOf(part: string | Uint8Array): Uint8Array {
  return hasBuffers ? Buffer.from(part as Uint8Array) : Uint8Array.from(part as Uint8Array)
}

/** The bytes of a text, or bytes as they are. Only in Node is there text. */
export function toBytes(part: string | Uint8Array): Uint8Array {
  if (typeof part === 'string') return Buffer.from(part)
  // A page may have buffers of the package `buffer`, which would be packed as what their `toJSON()` returns.
  return hasBuffers || part.constructor === Uint8Array ? part : Uint8Array.from(part)
}

/** Bytes that have arrived in the format that their receiver wants: a text, or a copy. */
export function inFormat(bytes: Uint8Array, format: string): string | Uint8Array {
  return format === 'utf8' ? (bytes as Buffer).toString() : copyOf(bytes)
}
