import { bytesOf, type Encoded } from '../encoded.js'
import type { RecordRange } from './expiry-records.js'

/**
 * Returns the same range with keys read as bytes instead of text. A key that is not valid text could not be found by its
 * decoded text.
 */
export function byteRange<T extends RecordRange>(options: T): T {
  if (options.keyEncoding !== 'utf8') return options
  const range = { ...options, keyEncoding: 'view' }

  for (const name of ['gt', 'gte', 'lt', 'lte'] as const) {
    const bound = range[name]
    if (bound !== undefined) range[name] = bytesOf(bound)
  }
  return range
}

/** Converts a key that was read as bytes to the requested form. */
export type KeyFormatter = (key: Encoded) => Encoded

/** Returns the function that converts keys of {@link byteRange} to the form in the options. */
export function keyFormatter({ keyEncoding }: RecordRange): KeyFormatter {
  return keyEncoding === 'utf8' ? toText : (key) => key
}

function toText(key: Encoded): string {
  return typeof key === 'string' ? key : bytesOf(key).toString()
}
