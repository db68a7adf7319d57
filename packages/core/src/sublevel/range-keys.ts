/** Ranges and keys of a sublevel, as they are in the root. */

import { AbstractIterator } from 'abstract-level'
import type { Bytes, Range } from '../backend.js'
import { Buffer } from '../buffer.js'
import { type Encoder, prefixed } from '../level/database.js'
import type { PrivateIteratorOptions } from '../read/cursor.js'

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

/** The symbol under which abstract-level keeps the encoding of an iterator's keys. */
const { keyEncoding: keyEncodingOf } = AbstractIterator as unknown as { keyEncoding: symbol }

/** Options of an iterator that abstract-level has just made, changed for the root. */
export function iteratorOptionsInRoot(
  options: PrivateIteratorOptions,
  prefix: string
): PrivateIteratorOptions {
  if (prefix === '') return options
  prefixRange(options, prefix, options.keyEncoding)
  const encodings = options as unknown as Record<symbol, Encoder>
  encodings[keyEncodingOf] = withoutPrefix(encodings[keyEncodingOf] as Encoder, prefix.length)
  return options
}

/** An encoding that strips the prefix from keys of the root before it decodes them. */
function withoutPrefix(encoding: Encoder, lengthBytes: number): Encoder {
  return {
    format: encoding.format,
    encode: (key) => encoding.encode(key),
    decode: (key) =>
      encoding.decode(typeof key === 'string' ? key.slice(lengthBytes) : key.subarray(lengthBytes))
  }
}
