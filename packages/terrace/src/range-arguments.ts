/** Arguments of methods on a range of keys: `approximateSize()`, `compactRange()`. */

import type { Bytes } from 'terrace-core'
import type { StartEndOptions } from './options.js'

export type RangeArguments = [start: unknown, end: unknown, options?: StartEndOptions<unknown>]

/** What this needs of a database. The types of abstract-level do not follow an encoding from the options to the keys. */
interface KeyEncoder {
  keyEncoding(encoding: 'utf8' | undefined): { encode(key: string): Bytes }
}

/** @throws TypeError if one of both is missing. */
export function assertRange(args: readonly unknown[]): void {
  if (args.length < 2) throw new TypeError("The arguments 'start' and 'end' are required")
}

/** The encoded bounds. */
export function encodeRange(db: unknown, [start, end, options]: RangeArguments): [start: Bytes, end: Bytes] {
  const encoding = (db as KeyEncoder).keyEncoding(options?.keyEncoding as 'utf8')
  return [encoding.encode(start as string), encoding.encode(end as string)]
}
