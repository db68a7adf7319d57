/**
 * Values as they will be read. An index must make the same of a value when it is written and when it is replaced, and what
 * is read may differ from what was put: a `Date` in JSON is a string later.
 */

import { decodedBy, type Encoded, type Encoding } from './bytes.js'

/** So many parts of a value are looked at, before encoding and decoding it is not dearer. */
const MAX_PARTS = 200

/** A value that was given with `given`, as `own` will read it. */
export function storedForm(value: unknown, given: Encoding, own: Encoding): unknown {
  if (given === own && isReadAsGiven(value, own)) return value
  return decodedBy(own, given.encode(value) as Encoded)
}

/** Whether it is known, without encoding it, that a value is read as it was given. */
function isReadAsGiven(value: unknown, encoding: Encoding): boolean {
  if ((encoding.encode as unknown) === JSON.stringify) return partsOf(value, 0) <= MAX_PARTS
  // A string that is no Unicode text is changed.
  return encoding.commonName === 'utf8' && typeof value === 'string' && value.isWellFormed()
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
