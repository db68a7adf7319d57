import { byteString, type Encoded, encodedValue } from '../encoded.js'
import { valueEncodingOf } from '../hooks.js'
import type { AnyLevel } from '../level-like.js'
import { openViewOf } from '../open-views.js'
import type { Attempt } from './transaction.js'
import type { AnyOptions } from './types.js'

/**
 * Options of a conditional write to `db`, or to the sublevel that they name. If a view of its entries is open, they are read
 * and written through the view: an expired entry does not exist.
 */
export function seenThroughView(db: AnyLevel, options: AnyOptions): AnyOptions {
  const target = (options.sublevel as AnyLevel | undefined) ?? db
  const view = openViewOf(target)
  if (view === undefined || view === target) return options
  const { keyEncoding = target.keyEncoding(), valueEncoding = target.valueEncoding() } = options
  return { ...options, sublevel: view, keyEncoding, valueEncoding } as AnyOptions
}

/** Writes an entry if there is none. Returns whether it did. */
export async function putIfAbsent(
  attempt: Attempt,
  key: unknown,
  value: unknown,
  options: AnyOptions
): Promise<boolean> {
  if (await attempt.has(key, readOptions(options))) return false
  attempt.put(key, value, options)
  return true
}

/** Writes or deletes an entry if its value encodes to the same bytes as the expected one. Returns whether it did. */
export async function putIfEquals(
  attempt: Attempt,
  db: AnyLevel,
  key: unknown,
  [expected, value]: [unknown, unknown],
  options: AnyOptions
): Promise<boolean> {
  const found = await attempt.get(key, {
    ...readOptions(options),
    valueEncoding: 'buffer'
  })
  const encoding = valueEncodingOf((options.sublevel as AnyLevel) ?? db, options.valueEncoding)
  const wanted = expected === undefined ? undefined : byteString(encodedValue(encoding, expected, key))
  if ((found === undefined ? undefined : byteString(found as Encoded)) !== wanted) return false

  putOrDelete(attempt, key, value, options)
  return true
}

/** Replaces a value by what the function makes of it, and returns that. */
export async function change(
  attempt: Attempt,
  key: unknown,
  make: (value: unknown) => unknown,
  options: AnyOptions
): Promise<unknown> {
  const value = await make(await attempt.get(key, readOptions(options)))
  putOrDelete(attempt, key, value, options)
  return value
}

function putOrDelete(attempt: Attempt, key: unknown, value: unknown, options: AnyOptions): void {
  if (value === undefined) attempt.del(key, options)
  else attempt.put(key, value, options)
}

function readOptions({ sublevel, keyEncoding, valueEncoding }: AnyOptions): AnyOptions {
  return { sublevel, keyEncoding, valueEncoding }
}
