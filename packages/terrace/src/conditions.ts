/** The conditions of writes, as the addon takes them. */

import type { BackendCondition, BackendSnapshot } from 'terrace-core'
import { MAX_SPREAD } from './many.js'
import type { NativeConditions } from './native.js'

/** The same constants are in `crates/node/src/conditions.rs`. */
const KINDS = { absent: 0, present: 1, equals: 2, unchanged: 3 } as const

/** Calls `add` with as many conditions as one call of the addon can pass, and then with the next. */
export function addConditions<Snapshot extends BackendSnapshot & { readonly native: unknown }>(
  conditions: ReadonlyArray<BackendCondition<Snapshot>>,
  add: (conditions: NativeConditions<Snapshot['native']>) => void
): void {
  const most = Math.floor(MAX_SPREAD / 3)
  for (let i = 0; i < conditions.length; i += most) add(conditions.slice(i, i + most).flatMap(argumentsOf))
}

function argumentsOf<Snapshot extends BackendSnapshot & { readonly native: unknown }>(
  condition: BackendCondition<Snapshot>
): NativeConditions<Snapshot['native']> {
  const kind = KINDS[condition.kind]
  if (condition.kind === 'unchanged') return [kind, condition.range, condition.snapshot.native]
  return [kind, condition.key, condition.kind === 'equals' ? condition.value : undefined]
}
