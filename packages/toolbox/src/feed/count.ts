/** Counts the entries of groups, in step with writes. */

import type { Buffer } from '../buffer.js'
import { nowhere, type Operation, type PrewriteBatch } from '../hooks.js'
import { type KeySpace, keySpaceOf } from '../key-space.js'
import type { AnyLevel, LevelLike } from '../level-like.js'
import { assertOnlyInstance } from '../only-instance.js'
import { nextTurn } from '../platform.js'
import { AuxiliaryStore } from './auxiliary-store.js'
import { CountBuilder } from './count-builder.js'
import type { CountDifference, CountOptions } from './count-options.js'
import { Counters, type CountState, countBytes, countOf } from './counters.js'
import { assertName, feedError, invalidOption } from './errors.js'
import { type Grouping, groupingOf } from './grouping.js'
import { OldValues } from './old-values.js'
import { listen } from './root-events.js'
import { orderWrites, type WriteOrder } from './write-order.js'

/** Maintains the number of entries in each group. It is created by {@link count}. */
export class Count {
  readonly #space: KeySpace
  /** Whether hooks never wait for what they read. */
  readonly #readsAtOnce: boolean
  readonly #store: AuxiliaryStore
  readonly #order: WriteOrder
  readonly #counters: Counters
  readonly #grouping: Grouping
  readonly #builder: CountBuilder
  readonly #values: OldValues
  readonly #numbers: OldValues
  readonly #onProgress: ((entries: number) => void) | undefined
  readonly #hook = (operation: Operation, batch: PrewriteBatch) => this.#onOperation(operation, batch)
  readonly #storeHook = (operation: Operation, batch: PrewriteBatch) =>
    this.#onStoreOperation(operation, batch)
  readonly #unlisten: Array<() => void>
  #state: CountState | undefined
  #building: Promise<void> | undefined
  #isStopped = false
  #isClosed = false

  /** @internal */
  constructor(db: AnyLevel, options: CountOptions<never, never>) {
    const { name, of, values = true, version = '', onProgress } = options
    assertName(name)
    assertOnlyInstance(db, 'count()')
    if (typeof version !== 'string') throw invalidOption("The option 'version' must be a string")

    const space = keySpaceOf(db)
    this.#space = space
    this.#readsAtOnce = space.readsAtOnce
    this.#grouping = groupingOf(space, of, values)
    this.#store = new AuxiliaryStore(space, `count.${name}`)
    this.#counters = new Counters(this.#store, space.root, version)
    this.#order = orderWrites(space, () => undefined, this.#store.inRoot(this.#counters.markerKey))
    const { showsOwnBatch } = this.#order
    this.#values = new OldValues((key) => space.storedValue(key), showsOwnBatch)
    this.#numbers = new OldValues((key) => this.#store.get(key), showsOwnBatch)
    this.#onProgress = onProgress
    this.#builder = this.#makeBuilder()
    space.addHook(this.#hook, (operation) => this.#onOperation(operation, nowhere))
    this.#store.addHook(this.#storeHook)
    this.#unlisten = [
      listen(space.root, 'open', () => this.#start()),
      listen(space.root, 'closing', () => {
        this.#isStopped = true
      }),
      listen(space.root, 'closed', () => {
        this.#state = undefined
      })
    ]
    if (space.root.status === 'open') this.#start()
  }

  /**
   * Waits until the existing entries are counted, which happens automatically in the background.
   *
   * @throws COUNT_BUILD_FAILED if counting fails. Call this again to retry.
   * @throws FEED_CLOSED if the count or the database closes meanwhile.
   */
  async ready(): Promise<void> {
    this.#assertOpen()
    await this.#space.root.open({ passive: true })
    // While the count is being built, the last numbers may not be stored yet.
    if (this.#building === undefined) {
      const { phase } = this.#readsAtOnce ? this.#stateNow : await this.#readState()
      if (phase === 'done') return
    }

    this.#building ??= this.#build().finally(() => {
      this.#building = undefined
    })
    await this.#building
  }

  /** Returns the number of entries in a group: 0 if there are none. Waits until {@link ready}. */
  async get(group: string): Promise<number> {
    await this.ready()
    return this.#counters.read(group)
  }

  /**
   * Yields the groups that have entries, with their counts, in the byte order of the groups' names. Waits until {@link ready}.
   */
  async *entries(
    options: { prefix?: string } = {}
  ): AsyncGenerator<[group: string, count: number], void, void> {
    await this.ready()
    yield* this.#counters.entries(options.prefix)
  }

  /**
   * Counts all entries, and returns the groups whose stored counts are wrong; an empty array if all are right. It reads one
   * state of the database, and holds the count of every group in memory.
   *
   * @throws FEED_NOT_SUPPORTED if the database has no snapshots.
   */
  async verify(): Promise<CountDifference[]> {
    await this.ready()
    if (this.#space.root.supports.explicitSnapshots !== true) {
      throw feedError('FEED_NOT_SUPPORTED', 'Verifying needs a database with snapshots')
    }

    const snapshot = this.#space.root.snapshot()
    try {
      const counted = await this.#recount(snapshot)
      const differences: CountDifference[] = []
      for await (const [group, stored] of this.#counters.entries('', { snapshot })) {
        const number = counted.get(group) ?? 0
        counted.delete(group)
        if (number !== stored) differences.push({ group, stored, counted: number })
      }
      return differences.concat(Array.from(counted, ([group, counted]) => ({ group, stored: 0, counted })))
    } finally {
      await snapshot.close()
    }
  }

  /** Counts all entries again, while writes continue. */
  async rebuild(): Promise<void> {
    await this.ready()
    await this.#builder.restart()
    await this.ready()
  }

  /** Stops counting. The stored counts are kept, and become wrong with the next write. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = this.#isStopped = true
    this.#space.deleteHook(this.#hook)
    this.#store.deleteHook(this.#storeHook)
    for (const unlisten of this.#unlisten) unlisten()
    await this.#building?.catch(() => {})
    if (this.#space.root.status === 'open') await this.#order.settle()
    this.#order.release()
    this.#store.release()
  }

  /** Closes the count, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** How far the existing entries are counted. If hooks may have to wait, call {@link #readState} first. */
  get #stateNow(): CountState {
    this.#state ??= this.#counters.stateNow()
    return this.#state
  }

  async #readState(): Promise<CountState> {
    this.#state ??= await this.#counters.readState()
    return this.#state
  }

  #makeBuilder(): CountBuilder {
    const count = this
    return new CountBuilder({
      space: this.#space,
      store: this.#store,
      counters: this.#counters,
      grouping: this.#grouping,
      order: this.#order,
      get state() {
        return count.#stateNow
      },
      set state(state) {
        count.#state = state
      }
    })
  }

  #onOperation(operation: Operation, batch: PrewriteBatch): void {
    const key = this.#space.keyOf(operation)
    if (key === undefined || AuxiliaryStore.holds(this.#space, key)) return

    if (!this.#isCounted(key)) {
      this.#builder.touch(key)
      return
    }

    const value = operation.type === 'put' ? this.#space.valueOf(operation) : null
    const oldValue = this.#values.get(batch, key)
    const before = oldValue === null ? [] : this.#grouping.groupsOf(key, oldValue)
    const after = value === null ? [] : this.#grouping.groupsOf(key, value)
    this.#values.set(batch, key, value)

    for (const group of before) if (!after.includes(group)) this.#add(batch, group, -1)
    for (const group of after) if (!before.includes(group)) this.#add(batch, group, 1)
  }

  /** Whether the numbers include, or should include, what is stored under a key. */
  #isCounted(key: Buffer): boolean {
    // A hook that may have to wait can run again, and the write of the state may still fail. It therefore relies on the stored
    // state.
    const state = this.#readsAtOnce ? this.#stateNow : this.#counters.stateNow()
    if (state.phase !== 'counting') return state.phase === 'done'
    return state.through !== undefined && key.compare(state.through) <= 0
  }

  #add(batch: PrewriteBatch, group: string, difference: number): void {
    const key = this.#counters.keyOf(group)
    const bytes = countBytes(countOf(this.#numbers.get(batch, key)) + difference)
    this.#numbers.set(batch, key, bytes)
    if (bytes === null) this.#store.del(batch, key)
    else this.#store.put(batch, key, bytes)
  }

  #onStoreOperation(operation: Operation, batch: PrewriteBatch): void {
    if (this.#store.keyOf(operation)?.equals(this.#counters.markerKey)) this.#builder.onMarker(batch)
  }

  #start(): void {
    this.#isStopped = false
    // Callers that await `ready()` get the error.
    this.ready().catch(() => {})
  }

  async #build(): Promise<void> {
    const { root } = this.#space
    let finish = () => {}
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    const close = () => finished
    const resource = { close, [Symbol.asyncDispose]: close }
    root.attachResource(resource)

    try {
      await this.#store.open()
      if (!this.#readsAtOnce) await this.#readState()
      await this.#takeSteps()
    } catch (error) {
      // It is unknown whether the last state was stored.
      if (!this.#readsAtOnce) this.#state = undefined
      if (this.#isStopped) throw closedError(error)
      const { code, cause } = error as { code?: string; cause?: unknown }
      throw feedError('COUNT_BUILD_FAILED', 'Counting the existing entries failed', {
        cause: code === 'LEVEL_HOOK_ERROR' ? cause : error
      })
    } finally {
      finish()
      root.detachResource(resource)
    }
  }

  async #takeSteps(): Promise<void> {
    let entries = 0
    while (this.#stateNow.phase !== 'done') {
      if (this.#isStopped) throw closedError()
      entries += await this.#builder.step()
      this.#onProgress?.(entries)
      // Lets others have a turn, even if there is nothing to wait for.
      await nextTurn()
    }
  }

  async #recount(snapshot: object): Promise<Map<string, number>> {
    const counted = new Map<string, number>()
    for await (const [key, value] of this.#space.entriesWithin({}, { snapshot })) {
      if (AuxiliaryStore.holds(this.#space, key)) continue
      for (const group of this.#grouping.groupsOf(key, value))
        counted.set(group, (counted.get(group) ?? 0) + 1)
    }
    return counted
  }

  #assertOpen(): void {
    if (this.#isClosed) throw closedError()
  }
}

function closedError(cause?: unknown): Error {
  return feedError('FEED_CLOSED', 'The count is closed', cause === undefined ? {} : { cause })
}

/**
 * Counts the entries of a database or sublevel by group. The counts change in the same batch as the entries, so they are just
 * as durable. Existing entries are counted in the background.
 *
 * Call it each time the program starts, before anything is written: earlier writes are not counted.
 *
 * @throws FEED_INVALID_OPTION if an option is not valid.
 * @throws FEED_NOT_SUPPORTED if the database's hooks cannot read, or the database cannot store keys of arbitrary bytes in byte
 * order.
 * @throws FEED_IN_USE if a count of this name is open on the same keys.
 */
export function count<K, V>(db: LevelLike<K, V>, options: CountOptions<NoInfer<K>, NoInfer<V>>): Count {
  return new Count(db as AnyLevel, options as unknown as CountOptions<never, never>)
}
