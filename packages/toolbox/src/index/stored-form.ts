/**
 * Values as they will be read. An index must compute the same for a value when it is written and when it is replaced. What is
 * read may differ from what was put: a `Date` in JSON becomes a string.
 */

import { decodedBy, type Encoded, type Encoding } from '../encoded.js'

/** The most parts of a value to check. Beyond this, encoding and decoding the value is cheaper. */
const MAX_PARTS = 200

/** Computes what the database's own encoding will read of a value that was given with another encoding. */
export type StoredForm = (value: unknown, given: Encoding) => unknown

export function storedFormOf(own: Encoding): StoredForm {
  const isReadAsGiven = checkOf(own)
  return (value, given) =>
    given === own && isReadAsGiven(value) ? value : decodedBy(own, given.encode(value) as Encoded)
}

/** Makes a check that tells, without encoding a value, that it is read as it was given. It may say no for such values, too. */
function checkOf({ name, encode, decode }: Encoding): (value: unknown) => boolean {
  // A string that is not Unicode text is changed.
  if (name === 'utf8') return (value) => typeof value === 'string' && value.isWellFormed()
  // Encodings have bound functions.
  const isJson = name === 'json' && encode.name === 'bound stringify' && decode.name === 'bound parse'
  return isJson ? (value) => partsOf(value, 0) <= MAX_PARTS : () => false
}

/**
 * The number of parts of plain JSON. Infinity for anything else, if it contains anything else, or if there are too many parts.
 */
function partsOf(value: unknown, before: number): number {
  let parts = before + 1
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return parts
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0) ? parts : Infinity
    case 'object':
      break
    default:
      return Infinity
  }
  if (value === null) return parts
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && !Array.isArray(value)) return Infinity
  if ((value as { toJSON?: unknown }).toJSON !== undefined) return Infinity
  for (const part of Array.isArray(value) ? value : Object.values(value)) {
    parts = partsOf(part, parts)
    if (parts > MAX_PARTS) return Infinity
  }
  return parts
}
