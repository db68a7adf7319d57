/** The conditions of writes, as the addon takes them. */

import type { BackendCondition, BackendSnapshot } from 'terrace-core'
import { MAX_SPREAD } from './many.js'
import type { NativeConditions } from './native.js'

/** The same constants are in `crates/node/src/conditions.rs`. */
const KINDS = {
  absent: 0,
  present: 1,
  equals: 2,
  unchanged: 3,
  version: 4,
  unchangedSinceVersion: 5
} as const

/** The number of arguments of a condition. */
const ARGUMENTS = 3

interface Snapshot extends BackendSnapshot {
  readonly native: unknown
}

/** Whether one call of the addon can pass these conditions and operations. */
export function fitInCall(conditions: readonly unknown[], operations: readonly unknown[]): boolean {
  return conditions.length * ARGUMENTS + operations.length <= MAX_SPREAD
}

/** Calls `add` with as many conditions as one call of the addon can pass, and then with the next. */
export function addConditions<S extends Snapshot>(
  conditions: ReadonlyArray<BackendCondition<S>>,
  add: (conditions: NativeConditions<S['native']>) => void
): void {
  const most = Math.floor(MAX_SPREAD / ARGUMENTS)
  for (let i = 0; i < conditions.length; i += most) add(argumentsOf(conditions.slice(i, i + most)))
}

/** Conditions as the addon takes them. */
export function argumentsOf<S extends Snapshot>(
  conditions: ReadonlyArray<BackendCondition<S>>
): NativeConditions<S['native']> {
  const flat: NativeConditions<S['native']> = []
  for (const condition of conditions) {
    const kind = KINDS[condition.kind]
    if (condition.kind === 'unchanged') flat.push(kind, condition.range, condition.snapshot.native)
    else if (condition.kind === 'unchangedSinceVersion') flat.push(kind, condition.range, condition.version)
    else if (condition.kind === 'version') flat.push(kind, condition.key, condition.version)
    else flat.push(kind, condition.key, condition.kind === 'equals' ? condition.value : undefined)
  }
  return flat
}
