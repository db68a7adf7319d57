/** Reads strings and bytes for {@link decode}: the counterpart of `write-text.ts`. Nothing that is read is trusted. */

import { damaged } from './errors.js'
import { copyOf } from './output.js'
import { END, ESCAPE_HIGH, ESCAPE_LOW } from './type-bytes.js'

/** Strings of up to so many UTF-16 units are made by a loop: a call for it costs more. */
const LOOP_UNITS = 64

/** The same for strings of ASCII alone. */
const ASCII_LOOP_UNITS = 24

/** Methods of Node's buffers, which take any bytes and cost less than a decoder. Browsers have none. */
type Slice = (this: Uint8Array, start: number, end: number) => string
const { latin1Slice, utf8Slice } = (globalThis.Buffer?.prototype ?? {}) as { latin1Slice?: Slice; utf8Slice?: Slice }

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The units of a short string. The last character may have two, one of them beyond the limit. */
const units = new Uint16Array(LOOP_UNITS + 1)

/** The short string that was read last. */
let text = ''

/** What {@link readShortText} read. */
export function takeText(): string {
  const taken = text
  text = ''
  return taken
}

/**
 * Reads a short string, which {@link takeText} then returns: up to its end if it is nested, else up to `limit`. Returns
 * where the byte behind it is, or -1 for a long one.
 */
export function readShortText(bytes: Uint8Array, start: number, limit: number, nested: boolean): number {
  let i = start
  let count = 0
  // Four plain characters at a time, as long as there are.
  for (const last = Math.min(limit, start + LOOP_UNITS) - 4; i <= last; i += 4) {
    const a = bytes[i] as number
    const b = bytes[i + 1] as number
    const c = bytes[i + 2] as number
    const d = bytes[i + 3] as number
    if ((a | b | c | d) >= 0x80 || a < 2 || b < 2 || c < 2 || d < 2) break
    units[count] = a
    units[count + 1] = b
    units[count + 2] = c
    units[count + 3] = d
    count += 4
  }
  while (i < limit) {
    if (count >= LOOP_UNITS) return -1
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
  // As many bytes as units: all are ASCII, and none was escaped.
  const isPlain = i - start === count
  text =
    isPlain && count > ASCII_LOOP_UNITS && latin1Slice !== undefined
      ? latin1Slice.call(bytes, start, i)
      : textOfUnits(0, count)
  return nested ? i + 1 : i
}

const { fromCharCode } = String

/**
 * The text of the units from `from` on. A string is made faster of all its characters at once than of one after
 * another, or of a list of them.
 */
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

/** A string of any length, without escapes and without its end. */
export function readLongText(bytes: Uint8Array, start: number, end: number): string {
  if (utf8Slice !== undefined) {
    const isAscii = checkUtf8(bytes, start, end)
    return isAscii && latin1Slice !== undefined
      ? latin1Slice.call(bytes, start, end)
      : utf8Slice.call(bytes, start, end)
  }
  try {
    return decoder.decode(bytes.subarray(start, end))
  } catch {
    throw damaged('A string that is no UTF-8', start)
  }
}

/** Checks that bytes are UTF-8. Returns whether all are ASCII. */
function checkUtf8(bytes: Uint8Array, start: number, end: number): boolean {
  let isAscii = true
  let i = start
  while (i < end) {
    if ((bytes[i] as number) < 0x80) {
      i++
    } else {
      isAscii = false
      i += sizeOfCharacter(bytes, i, end)
    }
  }
  return isAscii
}

/** The bytes of the character at `i`, which is not ASCII. Strict: in its shortest form, and no half of a pair. */
function sizeOfCharacter(bytes: Uint8Array, i: number, end: number): number {
  const first = bytes[i] as number
  // What can follow the first byte: 0x80 to 0xbf, less where a shorter form, a surrogate or no character would begin.
  const size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
  const least = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  const most = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  const second = i + 1 < end ? (bytes[i + 1] as number) : 0
  let isSound = first >= 0xc2 && first <= 0xf4 && i + size <= end && second >= least && second <= most
  for (let j = i + 2; j < i + size && isSound; j++) isSound = ((bytes[j] as number) & 0xc0) === 0x80
  if (!isSound) throw damaged('A string that is no UTF-8', i)
  return size
}

/** The byte that the escape at `i` stands for. */
function unescapeLow(bytes: Uint8Array, i: number, end: number): number {
  const next = i + 1 < end ? (bytes[i + 1] as number) : 0
  if (bytes[i] !== ESCAPE_LOW || (next !== 1 && next !== 2)) throw damaged('An escape of no byte', i)
  return next - 1
}

/** The bytes that were escaped from `start` to `end`. In strings the high bytes are none that can occur. */
export function unescape(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const plain = copyOf(bytes, start, end)
  let size = 0
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number
    if (byte === ESCAPE_LOW) {
      plain[size++] = unescapeLow(bytes, i++, end)
    } else if (byte === ESCAPE_HIGH) {
      const next = i + 1 < end ? (bytes[i + 1] as number) : 0
      if (next !== 0xfd && next !== 0xfe) throw damaged('An escape of no byte', i)
      plain[size++] = next + 1
      i++
    } else if (byte === 0xff) {
      throw damaged('A byte that is escaped where it belongs', i)
    } else {
      plain[size++] = byte
    }
  }
  return plain.subarray(0, size)
}
