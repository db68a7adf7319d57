/** Writes strings as UTF-8, and bytes unchanged, for {@link writeValue}. Within arrays both are escaped. */

import { codedError } from './errors.js'
import { MAX_KEY_SIZE_BYTES } from './limits.js'
import { type Output, tooLong } from './output.js'
import { END, ESCAPE_HIGH, ESCAPE_LOW, STRING } from './type-bytes.js'

/** Strings up to this length are written by a loop, because calling an encoder costs more. */
const LOOP_LENGTH = 64

const encoder = new TextEncoder()

// biome-ignore lint/suspicious/noControlCharactersInRegex: these two are escaped
const NEEDS_ESCAPE = /[\0\x01]/

/**
 * Writes a string with its type byte, and with its end if `ended`. If `nested`, it is within an array, where `0x00` and `0x01`
 * are escaped.
 */
export function writeText(output: Output, text: string, nested: boolean, ended: boolean): void {
  const { length } = text
  if (length > LOOP_LENGTH && writeLongText(output, text, nested, ended)) return

  output.reserve(3 * length + 2)
  const { bytes } = output
  let { position } = output
  bytes[position++] = STRING
  let i = 0
  // Four plain characters at a time, while there are four.
  for (; i + 4 <= length; i += 4) {
    const a = text.charCodeAt(i)
    const b = text.charCodeAt(i + 1)
    const c = text.charCodeAt(i + 2)
    const d = text.charCodeAt(i + 3)
    if ((a | b | c | d) >= 0x80 || a < 2 || b < 2 || c < 2 || d < 2) break
    bytes[position] = a
    bytes[position + 1] = b
    bytes[position + 2] = c
    bytes[position + 3] = d
    position += 4
  }
  for (; i < length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) {
      if (unit < 2 && nested) {
        bytes[position++] = ESCAPE_LOW
        bytes[position++] = unit + 1
      } else {
        bytes[position++] = unit
      }
    } else if (unit < 0x800) {
      bytes[position++] = 0xc0 | (unit >> 6)
      bytes[position++] = 0x80 | (unit & 0x3f)
    } else if (unit < 0xd800 || unit > 0xdfff) {
      bytes[position++] = 0xe0 | (unit >> 12)
      bytes[position++] = 0x80 | ((unit >> 6) & 0x3f)
      bytes[position++] = 0x80 | (unit & 0x3f)
    } else {
      const next = text.charCodeAt(++i)
      // At the end of the text `next` is NaN, which is in no range.
      if (unit > 0xdbff || !(next >= 0xdc00 && next <= 0xdfff)) throw loneSurrogate(i - 1)
      const point = 0x10000 + ((unit - 0xd800) << 10) + (next - 0xdc00)
      bytes[position++] = 0xf0 | (point >> 18)
      bytes[position++] = 0x80 | ((point >> 12) & 0x3f)
      bytes[position++] = 0x80 | ((point >> 6) & 0x3f)
      bytes[position++] = 0x80 | (point & 0x3f)
    }
  }
  if (ended) bytes[position++] = END
  output.position = position
}

/** Writes a long string in one call. Returns false for a string that only the loop can write, or must refuse. */
function writeLongText(output: Output, text: string, nested: boolean, ended: boolean): boolean {
  if (text.length > MAX_KEY_SIZE_BYTES) throw tooLong()
  // Engines from before 2023 have no such method. There the loop finds strings that are not text.
  if (typeof text.isWellFormed !== 'function' || !text.isWellFormed()) return false
  if (nested && NEEDS_ESCAPE.test(text)) return false
  output.reserve(3 * text.length + 2)
  output.push(STRING)
  output.position += encoder.encodeInto(text, output.bytes.subarray(output.position)).written
  if (ended) output.push(END)
  return true
}

function loneSurrogate(index: number): Error {
  return codedError('BYTEWISE_INVALID_STRING', `A string has a lone surrogate at index ${index}`)
}

/** Writes bytes without type byte and end. */
export function writeBytes(output: Output, source: Uint8Array, nested: boolean): void {
  const { length } = source
  if (length > MAX_KEY_SIZE_BYTES) throw tooLong()
  output.reserve(nested ? 2 * length : length)
  const { bytes } = output
  let { position } = output
  if (!nested) {
    bytes.set(source, position)
    output.position = position + length
    return
  }
  for (let i = 0; i < length; i++) {
    const byte = source[i] as number
    if (byte < 2) {
      bytes[position++] = ESCAPE_LOW
      bytes[position++] = byte + 1
    } else if (byte > 0xfd) {
      bytes[position++] = ESCAPE_HIGH
      bytes[position++] = byte - 1
    } else {
      bytes[position++] = byte
    }
  }
  output.position = position
}
