/** Counts the entries that are there already, in the background, while others are written. */

import { type ByteString, byteString, fromByteString } from '../encoded.js'
import type { PrewriteBatch } from '../hooks.js'
import type { KeySpace } from '../key-space.js'
import { AuxiliaryStore } from './auxiliary-store.js'
import { type Counters, type CountState, countBytes, countOf } from './counters.js'
import type { Grouping } from './grouping.js'
import type { WriteOrder, WriteRaw } from './write-order.js'

/** So many entries are counted in one batch. */
const CHUNK_ENTRIES = 500

/** What a builder builds. */
export interface Building {
  readonly space: KeySpace
  readonly auxiliary: AuxiliaryStore
  readonly counters: Counters
  readonly grouping: Grouping
  readonly order: WriteOrder
  /** How far it is. Hooks go by it. */
  state: CountState
}

interface Chunk {
  /** The values of the keys that are to be counted, by their keys. */
  entries: Map<ByteString, Buffer>
  /** Up to where it goes; undefined: to the end. */
  through: Buffer | undefined
}

/** Counts existing entries by chunks. Hooks count what is written to the keys up to where it is. */
export class CountBuilder {
  readonly #building: Building
  /** Keys written while a chunk is being read. */
  #touched: Set<ByteString> | undefined
  /** What is to be done when the marker is written. */
  #commit: ((batch: PrewriteBatch) => void) | undefined

  constructor(building: Building) {
    this.#building = building
  }

  /** To be called in a hook for a write to a key that is not counted yet. */
  touch(key: Buffer): void {
    this.#touched?.add(byteString(key))
  }

  /** To be called in a hook of the auxiliary when the marker is written. */
  onMarker(batch: PrewriteBatch): void {
    const commit = this.#commit
    this.#commit = undefined
    commit?.(batch)
  }

  /** Takes the next step. How many entries were counted. */
  async step(): Promise<number> {
    const { order } = this.#building
    // What was written before is read; what is written from now on is noted.
    this.#touched = new Set()

    try {
      return await order.exclusively((write) =>
        this.#building.state.phase === 'unclean' ? this.#clean(write) : this.#count(write)
      )
    } finally {
      this.#touched = undefined
    }
  }

  /** Has all steps taken again. */
  async restart(): Promise<void> {
    const { order } = this.#building
    await order.exclusively((write) => this.#enter(write, { phase: 'unclean' }, () => []))
  }

  /** Removes the numbers that do not count. */
  async #clean(write: WriteRaw): Promise<number> {
    const { counters } = this.#building
    const removals = await counters.removals(CHUNK_ENTRIES)
    const state: CountState = removals.length < CHUNK_ENTRIES ? { phase: 'counting' } : { phase: 'unclean' }
    await write([...removals, counters.stateOperation(state)])
    this.#building.state = state
    return 0
  }

  async #count(write: WriteRaw): Promise<number> {
    const chunk = await this.#read()
    const state: CountState =
      chunk.through === undefined ? { phase: 'done' } : { phase: 'counting', through: chunk.through }

    await this.#enter(write, state, () => {
      this.#update(chunk)
      return this.#numbers(chunk)
    })
    return chunk.entries.size
  }

  /**
   * Enters a state, together with numbers: within a hook where others write meanwhile, for there every
   * earlier write is seen and none can come between.
   */
  async #enter(
    write: WriteRaw,
    state: CountState,
    numbers: () => Array<[key: Buffer, value: Buffer]>
  ): Promise<void> {
    const { order, counters, auxiliary } = this.#building

    if (!order.showsOwnBatch) {
      const operations = numbers().map(([key, value]) => ({ type: 'put', key: auxiliary.inRoot(key), value }))
      await write([...operations, counters.stateOperation(state)])
      this.#building.state = state
      return
    }

    this.#commit = (batch) => {
      for (const [key, value] of numbers()) auxiliary.put(batch, key, value)
      auxiliary.put(batch, counters.stateKey, counters.encodeState(state))
      this.#building.state = state
      this.#touched = undefined
    }
    await write([counters.markerOperation()])
    if (this.#commit !== undefined) throw new Error('The hook of the count did not run')
  }

  /** Brings a chunk up to date where keys were written since it was read. */
  #update(chunk: Chunk): void {
    const { space } = this.#building
    for (const name of this.#touched ?? []) {
      const key = fromByteString(name)
      if (chunk.through !== undefined && key.compare(chunk.through) > 0) continue
      const value = space.storedValue(key)
      if (value === undefined) chunk.entries.delete(name)
      else chunk.entries.set(name, value)
    }
  }

  async #read(): Promise<Chunk> {
    const { space, state } = this.#building
    const after = state.phase === 'counting' ? state.through : undefined
    const entries = new Map<ByteString, Buffer>()
    let last: Buffer | undefined
    let size = 0

    for await (const [key, value] of space.entriesWithin({ gt: after }, { limit: CHUNK_ENTRIES })) {
      last = key
      size++
      if (!AuxiliaryStore.holds(space, key)) entries.set(byteString(key), value)
    }
    return { entries, through: size < CHUNK_ENTRIES ? undefined : last }
  }

  /** The numbers of groups that a chunk changes, with it. */
  #numbers({ entries }: Chunk): Array<[key: Buffer, value: Buffer]> {
    const { auxiliary, counters, grouping } = this.#building
    const added = new Map<string, number>()

    for (const [name, value] of entries) {
      for (const group of grouping.groupsOf(fromByteString(name), value)) {
        added.set(group, (added.get(group) ?? 0) + 1)
      }
    }
    return Array.from(added, ([group, number]) => {
      const key = counters.keyOf(group)
      return [key, countBytes(countOf(auxiliary.get(key)) + number) as Buffer]
    })
  }
}
