/** Conditions of writes on their way to the worker. */

import type { BackendCondition, BackendSnapshot, Bytes, RemoteCondition } from 'terrace-core'
import { storeOne } from '../../wasm/arguments.js'
import type { ByteWriter } from './byte-writer.js'
import { rangeOf, storeRange } from './range-words.js'

/** The first word of a condition. */
const Kind = {
  /** `[key length]`. */
  absent: 1,
  /** `[key length]`. */
  present: 2,
  /** `[key length, value length]`. */
  equals: 3,
  /** `[snapshot, flags, lower length, upper length]`. */
  unchanged: 4,
  /** `[key length, version]`. */
  version: 5,
  /** `[version, flags, lower length, upper length]`. */
  unchangedSinceVersion: 6
} as const

/** Stores the keys, values and bounds of conditions. Returns the words of all conditions. */
export function storeConditions(bytes: ByteWriter, conditions: readonly RemoteCondition[]): number[] {
  const store = (part: Bytes): number => {
    const length = storeOne(bytes, part)
    bytes.end += length
    return length
  }
  return conditions.flatMap((condition) => {
    const kind = Kind[condition.kind]
    if (condition.kind === 'unchanged') {
      return [kind, condition.snapshot, ...storeRange(bytes, condition.range, false)]
    }
    if (condition.kind === 'unchangedSinceVersion') {
      return [kind, condition.version, ...storeRange(bytes, condition.range, false)]
    }
    const words = [kind, store(condition.key)]
    if (condition.kind === 'version') words.push(condition.version)
    if (condition.kind === 'equals') words.push(store(condition.value))
    return words
  })
}

/**
 * The conditions of these words.
 *
 * @param take - Takes the next bytes.
 * @param snapshotOf - Returns the snapshot of a number.
 */
export function conditionsOf(
  words: readonly number[],
  take: (lengthBytes: number) => Bytes,
  snapshotOf: (number: number) => BackendSnapshot
): BackendCondition[] {
  const conditions: BackendCondition[] = []
  for (let at = 0; at < words.length; ) {
    const [kind, first = 0, second = 0, third = 0, fourth = 0] = words.slice(at, at + 5)
    if (kind === Kind.unchanged || kind === Kind.unchangedSinceVersion) {
      const { reverse: _, ...range } = rangeOf(second, third, fourth, take)
      conditions.push(
        kind === Kind.unchanged
          ? { kind: 'unchanged', range, snapshot: snapshotOf(first) }
          : { kind: 'unchangedSinceVersion', range, version: first }
      )
      at += 5
    } else if (kind === Kind.version) {
      conditions.push({ kind: 'version', key: take(first), version: second })
      at += 3
    } else if (kind === Kind.equals) {
      conditions.push({ kind: 'equals', key: take(first), value: take(second) })
      at += 3
    } else {
      conditions.push({ kind: kind === Kind.absent ? 'absent' : 'present', key: take(first) })
      at += 2
    }
  }
  return conditions
}
