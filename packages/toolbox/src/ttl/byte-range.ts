import { bytesOf, type Encoded } from '../encoded.js'
import type { RecordRange } from './expiry-records.js'

/**
 * The same range, but with keys read as bytes instead of text. Keys that are not valid text could not be found again by the
 * text that they decode to.
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

/** Turns a key that was read as bytes into the form that was asked for. */
export type KeyFormatter = (key: Encoded) => Encoded

/** Makes the function that turns keys of {@link byteRange} into the form that the options ask for. */
export function keyFormatter({ keyEncoding }: RecordRange): KeyFormatter {
  return keyEncoding === 'utf8' ? toText : (key) => key
}

function toText(key: Encoded): string {
  return typeof key === 'string' ? key : bytesOf(key).toString()
}
