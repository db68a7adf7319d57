/**
 * Chromium's Local Storage: `VERSION`, `META:origin`, `METAACCESS:origin`, and `_origin\0key` for each entry. Strings are 01 and Latin-1, or
 * 00 and UTF-16.
 */

import { startsWith, textOf, utf8 } from '../bytes.js'
import { plain, prefixGroup } from './plain.js'
import { decoded, NotDecoded, Reader } from './reader.js'

const UNDERSCORE = 0x5f
const META = utf8('META:')
const ACCESS = utf8('METAACCESS:')

/** A string of JavaScript as Chromium stores it. */
export function storedString(bytes) {
  return decoded(() => {
    const reader = new Reader(bytes)
    const encoding = reader.byte()
    if (encoding === 0) return reader.utf16(reader.left, 'little')
    if (encoding === 1) return reader.latin1(reader.left)
    throw new NotDecoded()
  })
}

/** The kind of a key, its origin, and its name in the page's Local Storage. */
export function parse(key) {
  if (textOf(key) === 'VERSION') return { kind: 'version' }
  for (const [prefix, kind] of [
    [META, 'written'],
    [ACCESS, 'used']
  ]) {
    if (startsWith(key, prefix)) return { kind, origin: textOf(key.subarray(prefix.length)) }
  }
  const end = key.indexOf(0)
  if (key[0] !== UNDERSCORE || end < 0) return undefined
  const name = storedString(key.subarray(end + 1))
  return name === undefined ? undefined : { kind: 'entry', origin: textOf(key.subarray(1, end)), name }
}

/** Milliseconds since 1970 of microseconds since 1601. */
const fromWindowsTime = (micros) => Number(micros / 1000n) - 11_644_473_600_000

/** The numbers of a protocol buffer that holds nothing else, by field. */
function numbersOf(bytes) {
  const reader = new Reader(bytes)
  const numbers = {}
  while (reader.left > 0) {
    const tag = reader.varint()
    if ((tag & 7) !== 0) throw new NotDecoded()
    numbers[tag >>> 3] = reader.bigVarint()
  }
  if (numbers[1] === undefined) throw new NotDecoded()
  return numbers
}

const isoDate = (ms) => (Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : String(ms))

export const localStorageLayout = {
  id: 'local-storage',
  title: 'Local Storage of Chromium',

  recognises: ({ order, keys }) =>
    order !== 'idb_cmp1' && keys.length > 0 && keys.every((key) => parse(key) !== undefined),

  grouping(node, first, last) {
    if (node.prefix !== undefined) return plain.grouping(node, first, last)
    return {
      groupOf(key) {
        const end = key.indexOf(0)
        const prefix = [META, ACCESS].find((prefix) => startsWith(key, prefix))
        if (prefix === META)
          return { ...prefixGroup(key, META.length, 0), label: 'when written, size', kind: 'facts' }
        if (prefix === ACCESS)
          return { ...prefixGroup(key, ACCESS.length, 0), label: 'when used', kind: 'facts' }
        if (key[0] !== UNDERSCORE || end < 0) return undefined
        return {
          ...prefixGroup(key, end + 1, 0),
          label: textOf(key.subarray(1, end)) ?? 'unknown origin',
          kind: 'origin'
        }
      }
    }
  },

  /** A key within the group of its origin is not called by it again. */
  describe(key, node) {
    const parsed = parse(key)
    if (parsed === undefined) return undefined
    const { kind, origin, name } = parsed
    if (kind === 'version') return 'version of the schema'
    if (kind !== 'entry') return `${kind} · ${origin}`
    const shown = name === '' ? '(empty)' : name
    return node?.prefix === undefined ? `${shown} · ${origin}` : shown
  },

  /** The value under a key, as text or as what JSON can say. */
  decode(key, value) {
    const parsed = parse(key)
    if (parsed?.kind === 'entry') return text('Text', storedString(value))
    if (parsed?.kind === 'version') return text('Version', textOf(value))
    if (parsed === undefined) return undefined
    const numbers = decoded(() => numbersOf(value))
    if (numbers === undefined) return undefined
    const date = isoDate(fromWindowsTime(numbers[1]))
    const json =
      parsed.kind === 'written' ? { written: date, sizeBytes: Number(numbers[2] ?? 0) } : { used: date }
    return { title: 'Facts', json }
  }
}

const text = (title, text) => (text === undefined ? undefined : { title, text })
