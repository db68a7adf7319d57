/** A change as readers get it. */

import { decodedBy, type Encoding } from '../encoded.js'
import type { StoredChange } from './record.js'

/** A put or a del, as it was written. */
export interface Change<K = string, V = string> {
  /** Its number: above that of every change before it. Numbers may be missing. */
  sequence: number
  type: 'put' | 'del'
  key: K
  /** The value of a put, if the feed keeps values. */
  value?: V
  /** What the value was before, if the feed keeps old values. Undefined if there was none. */
  oldValue?: V
  /** When it was written, in milliseconds since 1970, by the clock of the machine. */
  time: number
  /** The same for all changes of one batch: the number of the first of them. */
  batch: number
  /** Whether it is the first of its batch that this reader gets. */
  first: boolean
  /** Whether it is the last of its batch that this reader gets. Resume from such a change. */
  last: boolean
}

/** The encodings that a reader wants. */
export interface ChangeEncodings {
  key: Encoding
  value: Encoding
}

/** Decodes a change. */
export function decodedChange<K, V>(
  stored: StoredChange,
  encodings: ChangeEncodings,
  place: { first: boolean; last: boolean }
): Change<K, V> {
  const { sequence, type, key, value, oldValue, time, batch } = stored
  const change = { sequence, type, key: decodedBy(encodings.key, key), time, batch, ...place } as Change<K, V>
  if (value !== undefined) change.value = decodedBy(encodings.value, value) as V
  if (oldValue != null) change.oldValue = decodedBy(encodings.value, oldValue) as V
  return change
}
