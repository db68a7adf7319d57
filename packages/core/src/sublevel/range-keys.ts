/** Ranges and keys of a sublevel, as they are in the root. */

import type { Bytes, Range } from '../backend.js'
import { Buffer } from '../buffer.js'
import { type Encoder, prefixed } from '../level/database.js'

/** Changes a range within a prefix to the same range in the root. */
export function prefixRange(range: Range, prefix: string, format: string): void {
  if (range.gte !== undefined) range.gte = prefixed(prefix, range.gte, format)
  else if (range.gt !== undefined) range.gt = prefixed(prefix, range.gt, format)
  else range.gte = prefixed(prefix, emptyKey(format), format)

  if (range.lte !== undefined) range.lte = prefixed(prefix, range.lte, format)
  else if (range.lt !== undefined) range.lt = prefixed(prefix, range.lt, format)
  else range.lt = prefixed(endOf(prefix), emptyKey(format), format)
}

/** The first key after all keys with this prefix. */
function endOf(prefix: string): string {
  const last = prefix.length - 1
  return prefix.slice(0, last) + String.fromCharCode(prefix.charCodeAt(last) + 1)
}

function emptyKey(format: string): Bytes {
  return format === 'utf8' ? '' : noBytes
}

const noBytes = Buffer.alloc(0)

/** An encoding that strips the prefix from keys of the root before it decodes them. */
export function withoutPrefix(encoding: Encoder, lengthBytes: number): Encoder {
  return {
    format: encoding.format,
    encode: (key) => encoding.encode(key),
    decode: (key) =>
      encoding.decode(typeof key === 'string' ? key.slice(lengthBytes) : key.subarray(lengthBytes))
  }
}
