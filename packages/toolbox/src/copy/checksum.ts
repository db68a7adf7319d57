import { crc32 } from '../platform.js'

/** Continues the CRC-32 `previous` with more bytes. */
export function checksumOf(bytes: Uint8Array, previous = 0): number {
  // Of no bytes that lie nowhere in memory, as some databases return them, zlib makes 0 whatever came before.
  return bytes.byteLength === 0 ? previous : crc32(bytes, previous)
}
