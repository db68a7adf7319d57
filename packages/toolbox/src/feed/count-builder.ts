/** Counts the entries that exist already, in the background, while others are written. */

import type { Buffer } from '../buffer.js'
import { type ByteString, byteString, fromByteString } from '../encoded.js'
import { askFor, type PrewriteBatch } from '../hooks.js'
import type { KeySpace } from '../key-space.js'
import { AuxiliaryStore } from './auxiliary-store.js'
import { type Counters, type CountState, countBytes, countOf } from './counters.js'
import type { Grouping } from './grouping.js'
import type { WriteOrder, WriteRaw } from './write-order.js'

/** The number of entries that are counted in one batch. */
const CHUNK_ENTRIES = 500

/** What a builder needs. */
export interface Building {
  readonly space: KeySpace
  readonly store: AuxiliaryStore
  readonly counters: Counters
  readonly grouping: Grouping
  readonly order: WriteOrder
  /** How far it has come. Hooks depend on it. */
  state: CountState
}

interface Chunk {
  /** The values of the keys to count, by key. */
  entries: Map<ByteString, Buffer>
  /** The last key of the chunk; undefined if it goes to the end. */
  through: Buffer | undefined
}

/** Counts existing entries in chunks. Hooks count the writes to keys up to the current position. */
export class CountBuilder {
  readonly #building: Building
  /** Keys that were written while a chunk is being read. */
  #touched: Set<ByteString> | undefined
  /** What to do when the marker is written. */
  #commit: ((batch: PrewriteBatch) => void) | undefined

  constructor(building: Building) {
    this.#building = building
  }

  /** Call it in a hook, for a write to a key that is not counted yet. */
  touch(key: Buffer): void {
    this.#touched?.add(byteString(key))
  }

  /** Call it in the hook of the store, when the marker is written. */
  onMarker(batch: PrewriteBatch): void {
    this.#commit?.(batch)
    // The hook may have had to wait, and is called again then.
    this.#commit = undefined
  }

  /** Takes the next step. Returns how many entries were counted. */
  async step(): Promise<number> {
    const { order } = this.#building
    // Earlier writes show in what is read; later writes are noted here.
    this.#touched = new Set()

    try {
      return await order.exclusively((write) =>
        this.#building.state.phase === 'unclean' ? this.#clean(write) : this.#count(write)
      )
    } finally {
      this.#touched = undefined
    }
  }

  /** Starts again from the first step. */
  async restart(): Promise<void> {
    const { order } = this.#building
    await order.exclusively((write) => this.#enter(write, { phase: 'unclean' }, () => []))
  }

  /** Removes numbers that are out of date. */
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
   * Enters a state, and stores numbers with it. If others write meanwhile, this happens within a hook, where every earlier
   * write shows and no other can come between.
   */
  async #enter(
    write: WriteRaw,
    state: CountState,
    numbers: () => Array<[key: Buffer, value: Buffer]>
  ): Promise<void> {
    const { order, counters, space, store } = this.#building

    if (!order.showsOwnBatch) {
      const operations = numbers().map(([key, value]) => ({ type: 'put', key: store.inRoot(key), value }))
      await write([...operations, counters.stateOperation(state)])
      this.#building.state = state
      return
    }

    this.#commit = (batch) => {
      for (const [key, value] of numbers()) store.put(batch, key, value)
      store.put(batch, counters.stateKey, counters.encodeState(state))
      if (space.readsAtOnce) this.#building.state = state
      this.#touched = undefined
    }

    try {
      await write([counters.markerOperation()])
      if (this.#commit !== undefined) throw new Error('The hook of the count did not run')
    } finally {
      this.#commit = undefined
    }
    if (!space.readsAtOnce) this.#building.state = state
  }

  /** Updates a chunk for keys that were written since it was read. */
  #update(chunk: Chunk): void {
    const { space } = this.#building
    const written = [...(this.#touched ?? [])].filter(
      (name) => chunk.through === undefined || fromByteString(name).compare(chunk.through) <= 0
    )
    if (!space.readsAtOnce) askFor(written, (name) => space.storedValue(fromByteString(name)))

    for (const name of written) {
      const key = fromByteString(name)
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

  /** The new numbers of the groups that a chunk changes. */
  #numbers({ entries }: Chunk): Array<[key: Buffer, value: Buffer]> {
    const { space, store, counters, grouping } = this.#building
    const added = new Map<string, number>()

    for (const [name, value] of entries) {
      for (const group of grouping.groupsOf(fromByteString(name), value)) {
        added.set(group, (added.get(group) ?? 0) + 1)
      }
    }
    if (!space.readsAtOnce) askFor(added.keys(), (group) => store.get(counters.keyOf(group)))
    return Array.from(added, ([group, number]) => {
      const key = counters.keyOf(group)
      return [key, countBytes(countOf(store.get(key)) + number) as Buffer]
    })
  }
}
