/** Reads strings and bytes for {@link decode}: the counterpart of `write-text.ts`. The input is not trusted. */

import { damaged } from './errors.js'
import { copyOf } from './output.js'
import { END, ESCAPE_HIGH, ESCAPE_LOW } from './type-bytes.js'

/** Strings of up to this many UTF-16 units are made by a loop, because calling a decoder costs more. */
const LOOP_UNITS = 64

/** The same limit for strings of ASCII alone, none of it escaped. */
const PLAIN_UNITS = 24

/** Methods of Node's buffers, which accept any bytes and cost less than a decoder. Browsers have none. */
type Slice = (this: Uint8Array, start: number, end: number) => string
const { latin1Slice, utf8Slice } = (globalThis.Buffer?.prototype ?? {}) as {
  latin1Slice?: Slice
  utf8Slice?: Slice
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const { fromCharCode } = String

/** The units of a short string. Its last character may have two units, of which the second is beyond the limit. */
const units = new Uint16Array(LOOP_UNITS + 1)

/** The position of the byte after the string that {@link readShortText} read last. */
export let textEnd = 0

/** Whether a byte is always a complete character: ASCII that is not escaped in arrays. */
function isPlain(byte: number): boolean {
  return byte > ESCAPE_LOW && byte < 0x80
}

/**
 * Reads a short string, up to its end if it is nested, otherwise up to `limit`, and sets {@link textEnd}. Returns undefined for
 * a long string.
 *
 * Engines build a string faster from all its characters at once than one by one, or from a list, which would have to be
 * allocated for each string. Hence the ladders below.
 */
export function readShortText(
  bytes: Uint8Array,
  start: number,
  limit: number,
  nested: boolean
): string | undefined {
  let made = ''
  let i = start
  for (const last = Math.min(limit, start + PLAIN_UNITS) - 8; i <= last; ) {
    const a = bytes[i] as number
    const b = bytes[i + 1] as number
    const c = bytes[i + 2] as number
    const d = bytes[i + 3] as number
    const e = bytes[i + 4] as number
    const f = bytes[i + 5] as number
    const g = bytes[i + 6] as number
    const h = bytes[i + 7] as number
    if (!isPlain(a)) break
    if (!isPlain(b)) {
      made += fromCharCode(a)
      i += 1
      break
    }
    if (!isPlain(c)) {
      made += fromCharCode(a, b)
      i += 2
      break
    }
    if (!isPlain(d)) {
      made += fromCharCode(a, b, c)
      i += 3
      break
    }
    if (!isPlain(e)) {
      made += fromCharCode(a, b, c, d)
      i += 4
      break
    }
    if (!isPlain(f)) {
      made += fromCharCode(a, b, c, d, e)
      i += 5
      break
    }
    if (!isPlain(g)) {
      made += fromCharCode(a, b, c, d, e, f)
      i += 6
      break
    }
    if (!isPlain(h)) {
      made += fromCharCode(a, b, c, d, e, f, g)
      i += 7
      break
    }
    made += fromCharCode(a, b, c, d, e, f, g, h)
    i += 8
  }
  // Fewer than eight bytes are left: this is the last key of an array, or a string alone.
  if (limit - i < 8 && limit - start <= PLAIN_UNITS) {
    if (i + 4 <= limit) {
      const a = bytes[i] as number
      const b = bytes[i + 1] as number
      const c = bytes[i + 2] as number
      const d = bytes[i + 3] as number
      if (isPlain(a) && isPlain(b) && isPlain(c) && isPlain(d)) {
        made += fromCharCode(a, b, c, d)
        i += 4
      }
    }
    if (i + 2 <= limit) {
      const a = bytes[i] as number
      const b = bytes[i + 1] as number
      if (isPlain(a) && isPlain(b)) {
        made += fromCharCode(a, b)
        i += 2
      }
    }
    if (i < limit && isPlain(bytes[i] as number)) made += fromCharCode(bytes[i++] as number)
  }
  if (i === limit ? !nested : nested && bytes[i] === END) {
    textEnd = nested ? i + 1 : i
    return made
  }
  return readRest(bytes, start, i, limit, nested, made)
}

/** Reads the rest of a short string from `from` on; `made` was read from `start` to there. */
function readRest(
  bytes: Uint8Array,
  start: number,
  from: number,
  limit: number,
  nested: boolean,
  made: string
): string | undefined {
  let i = from
  let count = 0
  while (i < limit) {
    if (count >= LOOP_UNITS) return undefined
    const byte = bytes[i] as number
    if (byte < 2 && nested) {
      if (byte === END) break
      units[count++] = unescapeLow(bytes, i, limit)
      i += 2
    } else if (byte < 0x80) {
      units[count++] = byte
      i++
    } else if (byte >= 0xc2 && byte < 0xe0 && i + 1 < limit && ((bytes[i + 1] as number) & 0xc0) === 0x80) {
      units[count++] = ((byte & 0x1f) << 6) | ((bytes[i + 1] as number) & 0x3f)
      i += 2
    } else {
      const size = sizeOfCharacter(bytes, i, limit)
      let point = byte & (0x7f >> size)
      for (let j = i + 1; j < i + size; j++) point = (point << 6) | ((bytes[j] as number) & 0x3f)
      i += size
      if (point > 0xffff) {
        units[count++] = 0xd800 + ((point - 0x10000) >> 10)
        point = 0xdc00 + (point & 0x3ff)
      }
      units[count++] = point
    }
  }
  if (nested && i >= limit) throw damaged('A string has no end', start)
  // If there are as many bytes as units, all are ASCII, and none was escaped.
  const isAscii = i - from === count
  textEnd = nested ? i + 1 : i
  return isAscii && i - start > PLAIN_UNITS && latin1Slice !== undefined
    ? latin1Slice.call(bytes, start, i)
    : made + textOfUnits(0, count)
}

/** The text of the units from `from` on. */
function textOfUnits(from: number, count: number): string {
  const a = units[from] as number
  const b = units[from + 1] as number
  const c = units[from + 2] as number
  const d = units[from + 3] as number
  const e = units[from + 4] as number
  const f = units[from + 5] as number
  const g = units[from + 6] as number
  const h = units[from + 7] as number
  switch (count) {
    case 0:
      return ''
    case 1:
      return fromCharCode(a)
    case 2:
      return fromCharCode(a, b)
    case 3:
      return fromCharCode(a, b, c)
    case 4:
      return fromCharCode(a, b, c, d)
    case 5:
      return fromCharCode(a, b, c, d, e)
    case 6:
      return fromCharCode(a, b, c, d, e, f)
    case 7:
      return fromCharCode(a, b, c, d, e, f, g)
    case 8:
      return fromCharCode(a, b, c, d, e, f, g, h)
  }
  const j = units[from + 8] as number
  const k = units[from + 9] as number
  const l = units[from + 10] as number
  const m = units[from + 11] as number
  const n = units[from + 12] as number
  const o = units[from + 13] as number
  const p = units[from + 14] as number
  const q = units[from + 15] as number
  switch (count) {
    case 9:
      return fromCharCode(a, b, c, d, e, f, g, h, j)
    case 10:
      return fromCharCode(a, b, c, d, e, f, g, h, j, k)
    case 11:
      return fromCharCode(a, b, c, d, e, f, g, h, j, k, l)
    case 12:
      return fromCharCode(a, b, c, d, e, f, g, h, j, k, l, m)
    case 13:
      return fromCharCode(a, b, c, d, e, f, g, h, j, k, l, m, n)
    case 14:
      return fromCharCode(a, b, c, d, e, f, g, h, j, k, l, m, n, o)
    case 15:
      return fromCharCode(a, b, c, d, e, f, g, h, j, k, l, m, n, o, p)
  }
  const sixteen = fromCharCode(a, b, c, d, e, f, g, h, j, k, l, m, n, o, p, q)
  return count === 16 ? sixteen : sixteen + textOfUnits(from + 16, count - 16)
}

/** Reads a string of any length, without escapes and without its end. */
export function readLongText(bytes: Uint8Array, start: number, end: number): string {
  if (utf8Slice !== undefined) {
    const read = utf8Slice.call(bytes, start, end)
    // Bytes that are not UTF-8 became this character, unless the string has it itself.
    if (read.includes('\ufffd')) checkUtf8(bytes, start, end)
    return read
  }
  try {
    return decoder.decode(bytes.subarray(start, end))
  } catch {
    throw damaged('A string is not UTF-8', start)
  }
}

/** Checks that bytes are UTF-8. */
function checkUtf8(bytes: Uint8Array, start: number, end: number): void {
  let i = start
  while (i < end) i += (bytes[i] as number) < 0x80 ? 1 : sizeOfCharacter(bytes, i, end)
}

/**
 * The number of bytes of the character at `i`, which is not ASCII. The check is strict: the form must be the shortest, and not
 * half of a pair.
 */
function sizeOfCharacter(bytes: Uint8Array, i: number, end: number): number {
  const first = bytes[i] as number
  // The byte after the first must be 0x80 to 0xbf, without those that would begin a longer form than needed, a surrogate or no
  // character.
  const size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
  const least = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  const most = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  const second = i + 1 < end ? (bytes[i + 1] as number) : 0
  let isSound = first >= 0xc2 && first <= 0xf4 && i + size <= end && second >= least && second <= most
  for (let j = i + 2; j < i + size && isSound; j++) isSound = ((bytes[j] as number) & 0xc0) === 0x80
  if (!isSound) throw damaged('A string is not UTF-8', i)
  return size
}

/** The byte that the escape at `i` stands for. */
function unescapeLow(bytes: Uint8Array, i: number, end: number): number {
  const next = i + 1 < end ? (bytes[i + 1] as number) : 0
  if (bytes[i] !== ESCAPE_LOW || (next !== 1 && next !== 2)) throw damaged('An escape stands for no byte', i)
  return next - 1
}

/** Removes the escapes from the bytes from `start` to `end`. The high bytes cannot occur in strings. */
export function unescaped(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const plain = copyOf(bytes, start, end)
  let size = 0
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number
    if (byte === ESCAPE_LOW) {
      plain[size++] = unescapeLow(bytes, i++, end)
    } else if (byte === ESCAPE_HIGH) {
      const next = i + 1 < end ? (bytes[i + 1] as number) : 0
      if (next !== 0xfd && next !== 0xfe) throw damaged('An escape stands for no byte', i)
      plain[size++] = next + 1
      i++
    } else if (byte === 0xff) {
      throw damaged('A byte is escaped that must not be', i)
    } else {
      plain[size++] = byte
    }
  }
  return plain.subarray(0, size)
}
