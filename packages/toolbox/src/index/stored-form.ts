/**
 * Values as they will be read. An index must make the same of a value when it is written and when it is replaced, and what
 * is read may differ from what was put: a `Date` in JSON is a string later.
 */

import { decodedBy, type Encoded, type Encoding } from '../encoded.js'

/** So many parts of a value are looked at, before encoding and decoding it is not dearer. */
const MAX_PARTS = 200

/** Makes, of a value and the encoding that it was given with, what the encoding `own` of a database will read. */
export type StoredForm = (value: unknown, given: Encoding) => unknown

export function storedFormOf(own: Encoding): StoredForm {
  const isReadAsGiven = checkOf(own)
  return (value, given) =>
    given === own && isReadAsGiven(value) ? value : decodedBy(own, given.encode(value) as Encoded)
}

/** What tells, without encoding a value, that it is read as it was given. It may say no of one that is. */
function checkOf({ name, encode, decode }: Encoding): (value: unknown) => boolean {
  // A string that is no Unicode text is changed.
  if (name === 'utf8') return (value) => typeof value === 'string' && value.isWellFormed()
  // Encodings have their functions bound.
  const isJson = name === 'json' && encode.name === 'bound stringify' && decode.name === 'bound parse'
  return isJson ? (value) => partsOf(value, 0) <= MAX_PARTS : () => false
}

/** How many parts plain JSON has, if it is just that; Infinity if it is, or has, anything else, or too many. */
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
