import { Buffer } from '../buffer.js'
import { checksumOf } from './checksum.js'
import type { Summary } from './options.js'
import { lengthsOf, type RawEntry, sizeOf } from './tally.js'

/*
 * A dump, version 1. All numbers are little endian, all checksums CRC-32.
 *
 * header    8 "TERRDUMP", 4 version, 4 checksum of these 12 bytes
 * block     1 tag 1, 4 size of the payload, 4 number of its entries, 4 checksum of these 9 bytes,
 *           payload: of each entry 4 length of the key, 4 length of the value, key, value;
 *           4 checksum of the payload
 * trailer   1 tag 2, 8 number of all entries, 8 bytes of all keys and values, 4 checksum of all payloads together,
 *           4 checksum of these 21 bytes
 */

export const MAGIC = Buffer.from('TERRDUMP')
export const VERSION = 1
export const HEADER_BYTES = 16
export const BLOCK_TAG = 1
export const BLOCK_HEAD_BYTES = 13
export const TRAILER_TAG = 2
export const TRAILER_BYTES = 25
export const CHECKSUM_BYTES = 4

/** The header. */
export function encodeHeader(): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  MAGIC.copy(header)
  header.writeUInt32LE(VERSION, MAGIC.length)
  return seal(header)
}

/** The pieces of a block. */
export function encodeBlock(entries: RawEntry[]): Uint8Array[] {
  const payload = entries.flatMap((entry) => [lengthsOf(entry), ...entry])
  const head = Buffer.alloc(BLOCK_HEAD_BYTES)
  head.writeUInt8(BLOCK_TAG, 0)
  head.writeUInt32LE(
    entries.reduce((size, entry) => size + sizeOf(entry), 0),
    1
  )
  head.writeUInt32LE(entries.length, 5)

  const checksum = Buffer.alloc(CHECKSUM_BYTES)
  checksum.writeUInt32LE(payload.reduce((sum, piece) => checksumOf(piece, sum), 0))
  return [seal(head), ...payload, checksum]
}

/** The trailer. */
export function encodeTrailer({ entries, bytes, checksum }: Summary): Buffer {
  const trailer = Buffer.alloc(TRAILER_BYTES)
  trailer.writeUInt8(TRAILER_TAG, 0)
  trailer.writeBigUInt64LE(BigInt(entries), 1)
  trailer.writeBigUInt64LE(BigInt(bytes), 9)
  trailer.writeUInt32LE(checksum, 17)
  return seal(trailer)
}

/** Whether bytes end with the checksum of the bytes before it. */
export function isSealed(bytes: Buffer): boolean {
  const end = bytes.length - CHECKSUM_BYTES
  return checksumOf(bytes.subarray(0, end)) === bytes.readUInt32LE(end)
}

/** Puts the checksum of the other bytes at their end. */
function seal(bytes: Buffer): Buffer {
  const end = bytes.length - CHECKSUM_BYTES
  bytes.writeUInt32LE(checksumOf(bytes.subarray(0, end)), end)
  return bytes
}
