/**
 * A write under conditions. One transaction reads what the conditions name, and then writes. So no other write comes in between, not
 * even one of another connection.
 */

import { type BackendCondition, codedError, type Operations } from 'terrace-core'
import { boundsOf } from './bounds.js'
import { bytesFrom, bytesOf, isSame } from './bytes.js'
import { lossError } from './errors.js'
import type { History, View } from './history.js'
import { type Copies, copiesOf, keepReplaced, request } from './operations.js'
import { changedWithin, keyOf } from './overlay.js'
import { resultOf, stored } from './requests.js'

/** Checks in a transaction whether a condition holds. */
type Check = (store: IDBObjectStore) => Promise<boolean>

/** Keys that were written since a snapshot are compared so many at a time. */
const COMPARED_KEYS = 100

export class ConditionalWrite {
  readonly #history: History
  readonly #checks: readonly Check[]
  readonly #operations: Copies
  readonly #isOnlyWriter: boolean
  /** Whether the conditions held in a former transaction, which may be stored. */
  #mayBeStored = false

  /**
   * @param isOnlyWriter - Whether no other connection writes.
   * @throws LEVEL_INVALID_ARGUMENT if a snapshot belongs to another database.
   */
  constructor(
    history: History,
    conditions: ReadonlyArray<BackendCondition<View>>,
    operations: Operations,
    isOnlyWriter: boolean
  ) {
    this.#history = history
    this.#checks = conditions.map((condition) => checkOf(condition, history))
    this.#operations = copiesOf(operations)
    this.#isOnlyWriter = isOnlyWriter
  }

  /** The mode of the transaction. */
  get mode(): IDBTransactionMode {
    return this.#writes ? 'readwrite' : 'readonly'
  }

  get #writes(): boolean {
    return this.#operations.length > 0
  }

  /**
   * Checks the conditions, and writes if all hold. Resolves with the indices of those that do not. It may be called again if the
   * transaction was lost.
   */
  async run(store: IDBObjectStore): Promise<number[]> {
    const { transaction } = store
    const ended = stored(transaction)
    // The states that are kept from now on are those after this write.
    const layer = this.#writes ? this.#history.current() : undefined
    try {
      const held = await Promise.all(this.#checks.map((check) => check(store)))
      const failed = held.flatMap((holds, index) => (holds ? [] : [index]))
      if (failed.length === 0 && this.#writes) {
        if (layer !== undefined) keepReplaced(store, this.#operations, layer)
        request(store, this.#operations)
        this.#mayBeStored = true
      }
      transaction.commit()
      await ended
      return failed.length > 0 && this.#mayBeStored ? this.#foundChanged() : failed
    } catch (error) {
      ended.catch(() => {})
      undo(transaction)
      throw error
    }
  }

  /**
   * The conditions held, then the transaction was lost, and now they do not hold. If there is no other writer, that transaction itself has
   * changed what they name: it is stored.
   */
  #foundChanged(): number[] {
    if (this.#isOnlyWriter) return []
    throw lossError()
  }
}

function checkOf(condition: BackendCondition<View>, history: History): Check {
  if (condition.kind === 'unchanged') {
    const { snapshot } = condition
    if (!snapshot.isOf(history)) {
      throw codedError('LEVEL_INVALID_ARGUMENT', 'The snapshot of a condition is not one of this database')
    }
    const bounds = boundsOf(condition.range)
    return (store) => isUnchanged(store, snapshot, changedWithin(snapshot, bounds))
  }
  // The manifest declares no versions.
  if ('version' in condition) throw codedError('LEVEL_INTERNAL_ERROR' as string, 'IndexedDB has no versions')
  const key = bytesOf(condition.key)
  if (condition.kind === 'equals') {
    const value = bytesOf(condition.value)
    return async (store) => isSame(await valueIn(store, key), value)
  }
  const isPresent = condition.kind === 'present'
  return async (store) => ((await resultOf(store.getKey(key))) !== undefined) === isPresent
}

async function valueIn(store: IDBObjectStore, key: Uint8Array<ArrayBuffer>): Promise<Uint8Array | undefined> {
  const found: unknown = await resultOf(store.get(key))
  return found === undefined ? undefined : bytesFrom(found)
}

/**
 * Whether these keys, which were written since the snapshot, have the same values as there. A write that has failed, or was lost, may be among
 * those writes.
 */
async function isUnchanged(
  store: IDBObjectStore,
  snapshot: View,
  written: readonly string[]
): Promise<boolean> {
  for (let start = 0; start < written.length; start += COMPARED_KEYS) {
    const same = written
      .slice(start, start + COMPARED_KEYS)
      .map(async (identity) => isSame(await valueIn(store, keyOf(identity)), snapshot.find(identity)?.value))
    if ((await Promise.all(same)).includes(false)) return false
  }
  return true
}

function undo(transaction: IDBTransaction): void {
  try {
    transaction.abort()
  } catch {
    // It has ended already.
  }
}
