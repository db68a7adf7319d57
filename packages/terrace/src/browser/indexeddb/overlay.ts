/** Pages of the store as a view has them. */

import type { Bounds } from './bounds.js'
import { bytesFrom, identityOf } from './bytes.js'
import type { View } from './history.js'
import type { Rows } from './rows.js'

/** Entries in order. Values are missing where only keys were read. */
export interface Entries {
  readonly keys: Uint8Array[]
  readonly values: Uint8Array[]
}

/** The rows as bytes. */
export function entriesOf({ keys, values }: Rows): Entries {
  return { keys: keys.map(bytesFrom), values: values.map(bytesFrom) }
}

/**
 * The entries of these bounds in a view, given those of the store now. The bounds hold no other rows of the store than these.
 *
 * @param hasValues - Whether the entries have values.
 */
export function inView(
  view: View,
  now: Entries,
  bounds: Bounds,
  hasValues: boolean,
  reverse: boolean
): Entries {
  const changed = changedWithin(view, bounds)
  if (changed.length === 0) return now
  if (reverse) changed.reverse()

  const then: Entries = { keys: [], values: [] }
  const isBefore = (a: string, b: string) => (reverse ? a > b : a < b)
  let next = 0
  const takeBefore = (identity: string | undefined): void => {
    for (; next < changed.length; next++) {
      const each = changed[next] as string
      if (identity !== undefined && !isBefore(each, identity)) return
      const value = view.find(each)?.value
      if (value === undefined) continue
      then.keys.push(keyOf(each))
      if (hasValues) then.values.push(value.slice())
    }
  }

  now.keys.forEach((key, index) => {
    const identity = identityOf(key)
    takeBefore(identity)
    // It has another value there, or none, and is taken by the next turn.
    if (changed[next] === identity) return
    then.keys.push(key)
    if (hasValues) then.values.push(now.values[index] as Uint8Array)
  })
  takeBefore(undefined)
  return then
}

/** The keys within the bounds that were written since the view was made. */
export function changedWithin(view: View, { lower, isLowerOpen, upper, isUpperOpen }: Bounds): string[] {
  const first = lower === undefined ? undefined : identityOf(bytesFrom(lower))
  const last = upper === undefined ? undefined : identityOf(bytesFrom(upper))
  const changed = view.changedBetween(first, last)
  if (isLowerOpen && changed[0] !== undefined && changed[0] === first) changed.shift()
  if (isUpperOpen && changed.length > 0 && changed.at(-1) === last) changed.pop()
  return changed
}

/** The key with this identity. */
export function keyOf(identity: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(identity, (character) => character.charCodeAt(0))
}
