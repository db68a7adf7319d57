import { bytesOf, type Encoded } from '../encoded.js'
import type { RecordRange } from './expiry-records.js'

/**
 * A range in which keys are read as bytes where they would be read as text: keys of other bytes would not be found again
 * by the text that they are read as.
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

/** Makes of a key that was read as bytes what was asked for. */
export type KeyFormatter = (key: Encoded) => Encoded

/** How to make keys of {@link byteRange} what the options of the range ask for. */
export function keyFormatter({ keyEncoding }: RecordRange): KeyFormatter {
  return keyEncoding === 'utf8' ? toText : (key) => key
}

function toText(key: Encoded): string {
  return typeof key === 'string' ? key : bytesOf(key).toString()
}
