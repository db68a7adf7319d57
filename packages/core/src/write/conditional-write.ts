/** Writes with conditions: checks and encodes the conditions, runs the hook functions, and passes both to the back-end at once. */

import type { BackendCondition, Bytes, Range } from '../backend.js'
import { codedError } from '../errors.js'
import type { HookedWrites } from '../hooks/hooked-writes.js'
import { assertOwnSublevel, type Database, prefixed } from '../level/database.js'
import type { Store } from '../level/store.js'
import { backendSnapshot, type Snapshot } from '../read/snapshot.js'
import { prefixRange } from '../sublevel/range-keys.js'
import { copyOf } from './operation-list.js'
import type { SubmittedCall } from './submitted-call.js'
import type { Task } from './write-queue.js'

/** A condition as users pass it, unchecked. */
interface PublicCondition {
  readonly key?: unknown
  readonly keyEncoding?: unknown
  readonly valueEncoding?: unknown
  readonly sublevel?: Database | null
  readonly exists?: unknown
  readonly value?: unknown
  readonly version?: unknown
  readonly unchangedSince?: unknown
  readonly gt?: unknown
  readonly gte?: unknown
  readonly lt?: unknown
  readonly lte?: unknown
}

const bounds = ['gt', 'gte', 'lt', 'lte'] as const

/**
 * Checks and encodes conditions. The result is the caller's own: it shares no bytes with the conditions.
 *
 * @throws LEVEL_NOT_SUPPORTED, LEVEL_INVALID_ARGUMENT, or an error of an encoding.
 */
export function encodeConditions(owner: Database, store: Store, conditions: unknown): BackendCondition[] {
  assertConditional(store, "the option 'if'")
  if (!Array.isArray(conditions)) throw invalid("The option 'if' must be an array of conditions")
  return conditions.map((condition) => encode(owner, store, condition))
}

/** @throws LEVEL_NOT_SUPPORTED if the store has no conditional writes, which `what` needs. */
export function assertConditional({ backend }: Store, what: string): void {
  if (backend.manifest.conditionalWrites === true) return
  throw codedError(
    'LEVEL_NOT_SUPPORTED',
    `This database does not support ${what}: see supports.conditionalWrites`
  )
}

function encode(owner: Database, store: Store, condition: PublicCondition | null): BackendCondition {
  if (typeof condition !== 'object' || condition === null) throw invalid('A condition must be an object')

  const target = condition.sublevel ?? owner
  assertOwnSublevel(target, owner, store.root)
  const encoding = target.keyEncoding(condition.keyEncoding)
  const prefix = target.prefix ?? ''
  const { key, exists, value, version, unchangedSince } = condition

  if (unchangedSince !== undefined) {
    if (key !== undefined || exists !== undefined || value !== undefined || version !== undefined) {
      throw invalid(
        "A condition with 'unchangedSince' is on a range: it has bounds, and no 'key', 'exists', 'value' or 'version'"
      )
    }
    const range: Range = {}
    for (const bound of bounds) {
      if (condition[bound] !== undefined) range[bound] = copyOf(encoding.encode(condition[bound]))
    }
    if (prefix !== '') prefixRange(range, prefix, encoding.format)
    if (typeof unchangedSince === 'number') {
      return { kind: 'unchangedSinceVersion', range, version: checkedVersion(store, unchangedSince) }
    }
    const snapshot = backendSnapshot(unchangedSince)
    if (snapshot === undefined)
      throw invalid("The option 'unchangedSince' must be a snapshot of this database, or a version")
    return { kind: 'unchanged', range, snapshot }
  }

  target._assertValidKey(key)
  const rootKey = copyOf(prefixed(prefix, encoding.encode(key), encoding.format))
  const given = [exists, value, version].filter((property) => property !== undefined)
  if (given.length !== 1 || (exists !== undefined && typeof exists !== 'boolean')) {
    throw invalid("A condition on a key must have one of 'exists', a boolean, 'value' and 'version'")
  }
  if (version !== undefined) return { kind: 'version', key: rootKey, version: checkedVersion(store, version) }
  if (value !== undefined) {
    const encoded: Bytes = target.valueEncoding(condition.valueEncoding).encodeValue(value, key)
    return { kind: 'equals', key: rootKey, value: copyOf(encoded) }
  }
  return { kind: exists ? 'present' : 'absent', key: rootKey }
}

function checkedVersion({ backend }: Store, version: unknown): number {
  if (backend.manifest.versions !== true) throw noVersions()
  if (Number.isSafeInteger(version) && (version as number) >= 0) return version as number
  throw invalid('A version must be an integer that getEntry() has returned')
}

/** The error for versions of a store that has none. */
export function noVersions(): Error {
  return codedError(
    'LEVEL_NOT_SUPPORTED',
    'The entries of this database have no versions: see supports.versions'
  )
}

/** Keeps the snapshots of conditions open until the returned function is called. */
export function holdSnapshots(conditions: unknown): () => void {
  const list = conditions as Array<{ unchangedSince?: Snapshot | number }>
  const snapshots = list.flatMap(({ unchangedSince }) =>
    typeof unchangedSince === 'object' ? unchangedSince : []
  )
  for (const snapshot of snapshots) snapshot.ref()
  return () => {
    for (const snapshot of snapshots) snapshot.unref()
  }
}

function invalid(message: string): Error {
  return codedError('LEVEL_INVALID_ARGUMENT', message)
}

/** A call with conditions that hook functions or listeners see. It is written alone. */
export class ConditionalWrite implements Task {
  readonly #store: Store
  readonly #call: SubmittedCall
  readonly #conditions: readonly BackendCondition[]

  constructor(store: Store, call: SubmittedCall, conditions: readonly BackendCondition[]) {
    this.#store = store
    this.#call = call
    this.#conditions = conditions
  }

  /** Whether listeners hear of the write soon after it is done. */
  get isAnnounced(): boolean {
    return this.#call.watchers.length > 0
  }

  start(isBlocking: boolean): void | Promise<void> {
    const writes = this.#call.writes(null)
    if (!isBlocking) return this.#write(writes)

    const store = this.#store
    store.queue.run(writes, () => writes.take())
    store.writeIfSync(this.#conditions, writes.list.flat, this.#call.sync)
    writes.emit()
  }

  async #write(writes: HookedWrites): Promise<void> {
    const { hookReads, queue } = this.#store
    if (hookReads === null) {
      queue.run(writes, () => writes.take())
    } else {
      const run = (work: () => void): void => queue.run(writes, work)
      await hookReads.runAlone(this.#call.asks(), run, writes.takeInSteps(hookReads))
    }
    await this.#store.writeIf(this.#conditions, writes.list.flat, this.#call.sync)
    writes.emit()
  }

  /** Nothing remains: the queue has waited for the write that was begun. */
  finish(): void {}
}
