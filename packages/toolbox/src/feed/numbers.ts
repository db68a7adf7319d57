/** Numbers as eight bytes that sort as the numbers do. */

import { Buffer } from '../buffer.js'

/** Encodes an integer of at least 0. */
export function numberBytes(number: number): Buffer {
  const bytes = Buffer.allocUnsafe(8)
  writeNumber(bytes, 0, number)
  return bytes
}

/** Writes the eight bytes of an integer of at least 0. */
export function writeNumber(bytes: Buffer, at: number, number: number): void {
  bytes.writeUInt32BE(Math.floor(number / 2 ** 32), at)
  bytes.writeUInt32BE(number >>> 0, at + 4)
}

/** Decodes the integer that begins at `at`. */
export function numberAt(bytes: Buffer, at: number): number {
  return bytes.readUInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4)
}
