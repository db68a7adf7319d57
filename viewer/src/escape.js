/** Bytes as one line of text, in the form that the program `terrace` prints and reads: `\xNN` for bytes that are not printable UTF-8. */

import { hex, textOf, utf8 } from './bytes.js'

/** Characters that would be invisible, or reorder others: those that `terrace` escapes too. */
const HARMFUL =
  /[\p{Cc}\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/u

const EVERY_HARMFUL = new RegExp(HARMFUL, 'gu')

const SHORT = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

/** The bytes as text. */
export function escaped(bytes) {
  const text = textOf(bytes)
  if (text !== undefined) return escapedText(text)
  let out = ''
  for (let at = 0; at < bytes.length; ) {
    const length = characterLength(bytes, at)
    const character = textOf(bytes.subarray(at, at + length))
    out += character === undefined ? escapedBytes(bytes.subarray(at, at + 1)) : escapedText(character)
    at += character === undefined ? 1 : length
  }
  return out
}

function escapedText(text) {
  return text
    .replaceAll('\\', SHORT['\\'])
    .replace(EVERY_HARMFUL, (character) => SHORT[character] ?? escapedBytes(utf8(character)))
}

const escapedBytes = (bytes) => Array.from(bytes, (byte) => `\\x${hex([byte])}`).join('')

/** How many bytes the character at `at` has by its first byte. */
export function characterLength(bytes, at) {
  const first = bytes[at]
  if (first < 0xc0) return 1
  if (first < 0xe0) return 2
  return first < 0xf0 ? 3 : 4
}

/**
 * The bytes that escaped text stands for.
 *
 * @throws Error, with a sentence for the user, if an escape is none.
 */
export function fromEscaped(text) {
  const pieces = []
  const pattern = /\\(?:x([0-9a-fA-F]{2})|([\\tnr0]))|\\(.{0,3})|([^\\]+)/gsu
  for (const [, byte, short, wrong, plain] of text.matchAll(pattern)) {
    if (plain !== undefined) pieces.push(...utf8(plain))
    else if (byte !== undefined) pieces.push(Number.parseInt(byte, 16))
    else if (short !== undefined) pieces.push({ '\\': 92, t: 9, n: 10, r: 13, 0: 0 }[short])
    else
      throw new Error(
        `\\${wrong} is not an escape. Use \\\\ for a backslash, \\n, \\r, \\t, \\0 or \\xNN for a byte.`
      )
  }
  return Uint8Array.from(pieces)
}

/** JSON in which everything that is not visible is escaped. */
export function harmlessJson(json) {
  return json.replace(EVERY_HARMFUL, (character) =>
    Array.from({ length: character.length }, (_, index) => {
      return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`
    }).join('')
  )
}

/** Bytes as `terrace export` writes them, and `terrace import` reads them: a string of JSON if they are UTF-8, otherwise `{"hex":"…"}`. */
export function jsonOfBytes(bytes) {
  const text = textOf(bytes)
  return text === undefined ? `{"hex":"${hex(bytes)}"}` : harmlessJson(JSON.stringify(text))
}
