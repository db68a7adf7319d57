/** Which entries a search finds. */

import { startsWith, unhex, utf8 } from './bytes.js'
import { fromEscaped } from './escape.js'

const SAME = Uint8Array.from({ length: 256 }, (_, byte) => byte)
const FOLDED = SAME.map((byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte))

/**
 * Makes the test of an entry.
 *
 * @param query - `text`; `where`: `prefix`, `keys`, `values` or `both`; `isHex` if the text is hexadecimal digits.
 * @returns `matches(key, value)`, `needsValues`, and `prefix` if it is one.
 * @throws Error, with a sentence for the user, if the text is none.
 */
export function matcher({ text, where, isHex }) {
  const bytes = isHex ? unhex(text) : fromEscaped(text)
  if (bytes === undefined)
    throw new Error(`“${text}” is not a sequence of hexadecimal bytes, such as 00ff7a.`)
  if (where === 'prefix') {
    return { prefix: bytes, needsValues: false, matches: (key) => startsWith(key, bytes) }
  }
  const patterns = isHex ? [bytes] : inEveryEncoding(bytes, text)
  const fold = isHex ? SAME : FOLDED
  const folded = patterns.map((pattern) => pattern.map((byte) => fold[byte]))
  const has = (bytes) => folded.some((pattern) => includes(bytes, pattern, fold))
  return {
    needsValues: where !== 'keys',
    matches: (key, value) => (where !== 'values' && has(key)) || (where !== 'keys' && has(value))
  }
}

/** Text is searched in UTF-8, and as browsers store it: in both orders of UTF-16, and in Latin-1. */
function inEveryEncoding(bytes, text) {
  const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index))
  const isPlain = !text.includes('\\')
  if (!isPlain) return [bytes]
  const little = Uint8Array.from(units.flatMap((unit) => [unit & 0xff, unit >> 8]))
  const big = Uint8Array.from(units.flatMap((unit) => [unit >> 8, unit & 0xff]))
  const isLatin1 = units.every((unit) => unit < 0x100) && units.some((unit) => unit > 0x7f)
  return [utf8(text), little, big, ...(isLatin1 ? [Uint8Array.from(units)] : [])]
}

/** Whether bytes include a pattern that is folded already. */
function includes(bytes, pattern, fold) {
  const last = bytes.length - pattern.length
  const first = pattern[0]
  for (let start = 0; start <= last; start++) {
    if (fold[bytes[start]] !== first && pattern.length > 0) continue
    let index = 1
    while (index < pattern.length && fold[bytes[start + index]] === pattern[index]) index++
    if (index >= pattern.length) return true
  }
  return false
}
