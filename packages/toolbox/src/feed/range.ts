/** Ranges of keys, compared as bytes. */

import { Buffer } from '../buffer.js'
import { bytesOf } from '../encoded.js'
import type { EncodedRange, KeySpace } from '../key-space.js'
import { invalidOption } from './errors.js'

/** A range of keys, as in abstract-level, or all keys that begin with `prefix`. A range without bounds contains all keys. */
export interface KeyRange<K = string> {
  /** The lower bound, exclusive. */
  gt?: K
  /** The lower bound, inclusive. */
  gte?: K
  /** The upper bound, exclusive. */
  lt?: K
  /** The upper bound, inclusive. */
  lte?: K
  /** The prefix that the encoded keys begin with. It cannot be combined with the other bounds. */
  prefix?: K
}

const bounds = ['gt', 'gte', 'lt', 'lte'] as const

/** The range of a database's keys, as bytes. */
export function encodeRange(
  space: KeySpace,
  range: KeyRange<unknown> | undefined,
  encoding?: unknown
): EncodedRange {
  const keyEncoding = space.keyEncoding(encoding)
  const encode = (key: unknown): Buffer => bytesOf(keyEncoding.encode(key))
  const encoded: EncodedRange = {}
  if (range === undefined) return encoded
  if (typeof range !== 'object' || range === null) throw invalidOption('A range must be an object')

  for (const bound of bounds) {
    if (range[bound] !== undefined) encoded[bound] = encode(range[bound])
  }

  if (range.prefix === undefined) return encoded
  if (Object.keys(encoded).length > 0) throw invalidOption("A range has either a 'prefix' or bounds")
  return rangeOfPrefix(encode(range.prefix))
}

/** The range of all keys that begin with some bytes. */
export function rangeOfPrefix(prefix: Buffer): EncodedRange {
  const end = prefix.findLastIndex((byte) => byte < 0xff)
  if (end < 0) return { gte: prefix }

  const after = Buffer.from(prefix.subarray(0, end + 1))
  after[end] = (after[end] as number) + 1
  return { gte: prefix, lt: after }
}

/** Whether a key is within a range. */
export function isWithin({ gt, gte, lt, lte }: EncodedRange, key: Buffer): boolean {
  if (gt !== undefined && key.compare(gt) <= 0) return false
  if (gte !== undefined && key.compare(gte) < 0) return false
  if (lt !== undefined && key.compare(lt) >= 0) return false
  return lte === undefined || key.compare(lte) <= 0
}

/** Whether a range has no bound. */
export function isUnlimited(range: EncodedRange): boolean {
  return bounds.every((bound) => range[bound] === undefined)
}
