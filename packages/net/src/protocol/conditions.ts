/** Conditions of writes on the wire: of each its kind, the key or range that it is about, and what that is compared with. */

import type { Bytes, RemoteCondition } from 'terrace-core'
import { bytes, handle, nothing, number, type PartType, range, type WireRange, wireRange } from './parts.js'

/** Conditions as they are packed: three parts for each. */
export type WireConditions = ReadonlyArray<number | Uint8Array | WireRange | null>

/** A condition as it is received. `snapshot` is the handle of a snapshot. */
export type ReceivedCondition =
  | { readonly kind: 'absent' | 'present'; readonly key: Uint8Array }
  | { readonly kind: 'equals'; readonly key: Uint8Array; readonly value: Uint8Array }
  | { readonly kind: 'unchanged'; readonly range: WireRange; readonly snapshot: number }
  | { readonly kind: 'version'; readonly key: Uint8Array; readonly version: number }
  | { readonly kind: 'unchangedSinceVersion'; readonly range: WireRange; readonly version: number }

type Kind = ReceivedCondition['kind']

interface Form {
  readonly kind: Kind
  /** The key, or the range. */
  readonly subject: PartType<unknown>
  /** What it is compared with. */
  readonly expected: PartType<unknown>
}

/** The kinds of conditions, by their codes. */
const forms: Readonly<Record<number, Form>> = {
  1: { kind: 'absent', subject: bytes, expected: nothing },
  2: { kind: 'present', subject: bytes, expected: nothing },
  3: { kind: 'equals', subject: bytes, expected: bytes },
  4: { kind: 'unchanged', subject: range, expected: handle },
  5: { kind: 'version', subject: bytes, expected: number },
  6: { kind: 'unchangedSinceVersion', subject: range, expected: number }
}

const codes = Object.fromEntries(
  Object.entries(forms).map(([code, { kind }]) => [kind, Number(code)])
) as Record<Kind, number>

const PARTS = 3

/** How many operations a condition counts as. An operation is two values of a message; these conditions are three and eight. */
const KEY_WEIGHT = 2
const RANGE_WEIGHT = 4

export interface ConditionsType extends PartType<WireConditions, ReceivedCondition[]> {}

export const conditions: ConditionsType = {
  name: 'conditions',
  isValid: (part) => {
    if (!Array.isArray(part) || part.length % PARTS !== 0) return false
    for (let i = 0; i < part.length; i += PARTS) {
      const form = formOf(part[i])
      if (form === undefined || !form.subject.isValid(part[i + 1]) || !form.expected.isValid(part[i + 2])) {
        return false
      }
    }
    return true
  },
  read: (part) => {
    const given = part as WireConditions
    return Array.from({ length: given.length / PARTS }, (_, i) => {
      const { kind } = formOf(given[PARTS * i]) as Form
      return received(kind, given[PARTS * i + 1], given[PARTS * i + 2])
    })
  }
}

/** A peer may send any value for a code, such as the name of a property that all objects have. */
function formOf(code: unknown): Form | undefined {
  return typeof code === 'number' && Object.hasOwn(forms, code) ? forms[code] : undefined
}

function received(kind: Kind, subject: unknown, expected: unknown): ReceivedCondition {
  const key = subject as Uint8Array
  const range = subject as WireRange
  switch (kind) {
    case 'unchanged':
      return { kind, range, snapshot: expected as number }
    case 'unchangedSinceVersion':
      return { kind, range, version: expected as number }
    case 'version':
      return { kind, key, version: expected as number }
    case 'equals':
      return { kind, key, value: expected as Uint8Array }
    default:
      return { kind, key }
  }
}

/** Converts conditions to their form on the wire, in which text may take the place of bytes. */
export function wireConditions(given: readonly RemoteCondition[]): Array<number | Bytes | WireRange | null> {
  return given.flatMap((condition) => [
    codes[condition.kind],
    'range' in condition ? wireRange(condition.range) : condition.key,
    expectedOf(condition)
  ])
}

/** What a condition compares its key or range with. */
function expectedOf(condition: RemoteCondition): number | Bytes | null {
  switch (condition.kind) {
    case 'unchanged':
      return condition.snapshot
    case 'equals':
      return condition.value
    case 'version':
    case 'unchangedSinceVersion':
      return condition.version
    default:
      return null
  }
}

/** How much conditions add to the number of operations in a write, which a server limits. */
export function weightOf(given: ReadonlyArray<RemoteCondition | ReceivedCondition>): number {
  return given.reduce((sum, condition) => sum + ('range' in condition ? RANGE_WEIGHT : KEY_WEIGHT), 0)
}
