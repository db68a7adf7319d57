/**
 * BigInts, an extension of this package. The encoding has the number of bytes in the magnitude, then those bytes, highest
 * first. For negative numbers all of it is inverted.
 */

import { damaged } from './errors.js'
import { MAX_KEY_SIZE_BYTES } from './limits.js'
import { type Output, tooLong } from './output.js'
import { NEGATIVE_BIGINT, POSITIVE_BIGINT } from './type-bytes.js'

/** Stands in for a length that follows in four bytes. */
const LONG = 0xff

/** The hexadecimal digits of each byte. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

const ascii = new TextDecoder('latin1')

/** Writes a BigInt with its type byte. */
export function writeBigInt(output: Output, value: bigint): void {
  const negative = value < 0n
  const invert = negative ? 0xff : 0
  const magnitude = negative ? -value : value
  const hex = magnitude === 0n ? '' : magnitude.toString(16)
  const size = (hex.length + 1) >> 1
  if (size > MAX_KEY_SIZE_BYTES) throw tooLong()

  output.reserve(size + 6)
  const { bytes } = output
  let { position } = output
  bytes[position++] = negative ? NEGATIVE_BIGINT : POSITIVE_BIGINT
  if (size < LONG) {
    bytes[position++] = size ^ invert
  } else {
    bytes[position++] = LONG ^ invert
    for (let shift = 24; shift >= 0; shift -= 8) bytes[position++] = ((size >> shift) & 0xff) ^ invert
  }

  // With an odd number of digits, the first byte has only one.
  let digit = -(hex.length & 1)
  for (let i = 0; i < size; i++, digit += 2) {
    const byte = (digit < 0 ? 0 : digitAt(hex, digit) << 4) | digitAt(hex, digit + 1)
    bytes[position++] = byte ^ invert
  }
  output.position = position
}

function digitAt(hex: string, index: number): number {
  const unit = hex.charCodeAt(index)
  return unit < 0x3a ? unit - 0x30 : unit - 0x57
}

/** A BigInt that was read, and the position of the byte after it. */
export interface ReadBigInt {
  value: bigint
  end: number
}

/** Reads what follows the type byte, from `start` to at most `limit`. */
export function readBigInt(bytes: Uint8Array, start: number, limit: number, negative: boolean): ReadBigInt {
  const invert = negative ? 0xff : 0
  let position = start
  const byteAt = (index: number) => {
    if (index >= limit) throw damaged('A BigInt is cut off', limit)
    return (bytes[index] as number) ^ invert
  }

  let size = byteAt(position++)
  if (size === LONG) {
    size = 0
    for (let i = 0; i < 4; i++) size = size * 256 + byteAt(position++)
    if (size < LONG) throw damaged('The length of a BigInt takes more bytes than it needs', start)
  }
  if (size > limit - position) throw damaged('A BigInt is cut off', limit)
  if (size === 0) {
    if (negative) throw damaged('A BigInt is minus zero', start)
    return { value: 0n, end: position }
  }
  if (byteAt(position) === 0) throw damaged('A BigInt begins with a zero', position)

  const end = position + size
  let value: bigint
  try {
    value = BigInt(`0x${hexOf(bytes, position, end, invert)}`)
  } catch {
    throw damaged('A BigInt is larger than this engine can hold', start)
  }
  return { value: negative ? -value : value, end }
}

/** The hexadecimal digits of bytes. */
function hexOf(bytes: Uint8Array, start: number, end: number, invert: number): string {
  if (end - start < LONG) {
    let hex = ''
    for (let i = start; i < end; i++) hex += HEX[(bytes[i] as number) ^ invert]
    return hex
  }

  // With millions of digits, a string that grows by two characters at a time is slow to build.
  const units = new Uint8Array(2 * (end - start))
  for (let i = start, unit = 0; i < end; i++) {
    const byte = (bytes[i] as number) ^ invert
    units[unit++] = unitOf(byte >> 4)
    units[unit++] = unitOf(byte & 15)
  }
  return ascii.decode(units)
}

function unitOf(digit: number): number {
  return digit < 10 ? digit + 0x30 : digit + 0x57
}
