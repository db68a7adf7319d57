/** A change in the form that readers get. */

import { decodedBy, type Encoding } from '../encoded.js'
import type { StoredChange } from './record.js'

/** A put or a del that was recorded by a feed. */
export interface Change<K = string, V = string> {
  /**
   * The number of the change. It is higher than those of all earlier changes; some numbers may be missing.
   */
  sequence: number
  /** The type of the change: a value was stored, or a key was deleted. */
  type: 'put' | 'del'
  /** The key. */
  key: K
  /** The value of a put, if the feed keeps values. */
  value?: V
  /** The value before the change, if the feed keeps old values; undefined if there was none. */
  oldValue?: V
  /** When the change was written, in milliseconds since 1970, by the machine's clock. */
  time: number
  /** The number of the first change of the batch. It is the same for all changes of one batch. */
  batch: number
  /** Whether this is the first change of its batch that this reader receives. */
  first: boolean
  /** Whether this is the last change of its batch that this reader receives. Resume from such a change. */
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
  position: { first: boolean; last: boolean }
): Change<K, V> {
  const { sequence, type, key, value, oldValue, time, batch } = stored
  const change = { sequence, type, key: decodedBy(encodings.key, key), time, batch, ...position } as Change<
    K,
    V
  >
  if (value !== undefined) change.value = decodedBy(encodings.value, value) as V
  if (oldValue != null) change.oldValue = decodedBy(encodings.value, oldValue) as V
  return change
}
