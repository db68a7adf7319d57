/** Writes under conditions, as `crates/wasm-abi/src/conditions.rs` has them. */

import {
  type BackendCondition,
  type Bytes,
  type CodedError,
  codedError,
  conflict,
  type Operations
} from 'terrace-core'
import { mostBatchBytes, mostBytes, store, storeBatchAt } from './arguments.js'
import { type Engine, NO_BOUND } from './engine.js'
import { flagsOf } from './range-flags.js'
import type { WasmSnapshot } from './snapshot.js'

export type WasmCondition = BackendCondition<WasmSnapshot>

const KINDS = {
  absent: 0,
  present: 1,
  equals: 2,
  unchanged: 3,
  version: 4,
  unchangedSinceVersion: 5
} as const

const LENGTH_BYTES = 4
const VERSION_BYTES = 8
/** The kind of a condition, its version or the number of its snapshot, and its flags. */
const MOST_HEADER_BYTES = 1 + VERSION_BYTES + 1

/**
 * Stores conditions, then operations as a write batch.
 *
 * @throws LEVEL_INVALID_ARGUMENT if a snapshot belongs to another database.
 */
export function storeConditional(
  engine: Engine,
  conditions: readonly WasmCondition[],
  operations: Operations
): [conditionsLength: number, batchLength: number] {
  let most = mostBatchBytes(operations)
  for (const condition of conditions) {
    most += MOST_HEADER_BYTES
    for (const part of partsOf(condition)) most += LENGTH_BYTES + (part === undefined ? 0 : mostBytes(part))
  }

  const start = engine.room(most)
  const { memory } = engine
  const view = new DataView(memory.buffer)
  let at = start
  for (const condition of conditions) {
    memory[at++] = KINDS[condition.kind]
    if (condition.kind === 'unchanged') {
      const { snapshot } = condition
      if (!snapshot.isOf(engine)) throw otherSnapshot()
      view.setUint32(at, snapshot.number, true)
      at += LENGTH_BYTES
    }
    if (condition.kind === 'unchangedSinceVersion') at = storeVersion(condition.version, view, at)
    if ('range' in condition) memory[at++] = flagsOf(condition.range, false)
    for (const part of partsOf(condition)) {
      const length = part === undefined ? 0 : store(part, memory, at + LENGTH_BYTES)
      view.setUint32(at, part === undefined ? NO_BOUND : length, true)
      at += LENGTH_BYTES + length
    }
    if (condition.kind === 'version') at = storeVersion(condition.version, view, at)
  }
  return [at - start, storeBatchAt(operations, memory, at) - at]
}

/**
 * Takes the result of a conditional write.
 *
 * @param failed - How many conditions do not hold. Their indices are the output of the engine.
 * @param count - The number of all conditions.
 * @throws LEVEL_CONFLICT if a condition does not hold.
 */
export function assertHeld(engine: Engine, failed: number, count: number): void {
  if (failed === 0) return
  const { buffer, byteOffset } = engine.output()
  const output = new DataView(buffer, byteOffset)
  const indices = Array.from({ length: failed }, (_, i) => output.getUint32(LENGTH_BYTES * i, true))
  throw conflict(indices, count)
}

function storeVersion(version: number, view: DataView, at: number): number {
  view.setBigUint64(at, BigInt(version), true)
  return at + VERSION_BYTES
}

function partsOf(condition: WasmCondition): ReadonlyArray<Bytes | undefined> {
  if ('range' in condition) {
    const { gte, gt, lte, lt } = condition.range
    return [gte ?? gt, lte ?? lt]
  }
  return condition.kind === 'equals' ? [condition.key, condition.value] : [condition.key]
}

/** The error of a condition whose snapshot belongs to another database. */
function otherSnapshot(): CodedError {
  return codedError('LEVEL_INVALID_ARGUMENT', 'The snapshot of a condition is not one of this database')
}
