/** What databases in memory have in common, in Node and in a browser. */

import { assertOpen, type Backend, BackendLevel, type BackendSnapshot, type Bytes } from 'terrace-core'
import {
  limitOf,
  type MemoryDatabaseOptions,
  type MemoryOpenOptions,
  withoutStoreEncoding
} from './memory-options.js'
import type { StartEndOptions } from './options.js'
import { assertRange, encodeRange, type RangeArguments } from './range-arguments.js'

/** Statistics of a database in memory. */
export interface MemoryStats {
  /** The number of entries. */
  entries: number
  /** The size of the entries in bytes, as the option `maxSizeBytes` counts it. */
  sizeBytes: number
}

/** A map in memory as a back-end, with its statistics. */
export interface MemoryStore<Snapshot extends BackendSnapshot = BackendSnapshot> extends Backend<Snapshot> {
  /** Returns the size in bytes of the entries from `start` up to, but not including, `end`. */
  rangeSize(start: Bytes, end: Bytes): number
  stats(): MemoryStats
}

/** The base class of databases in memory. */
export class MemoryDatabase<KDefault, VDefault> extends BackendLevel<KDefault, VDefault> {
  readonly #store: MemoryStore

  /**
   * @param location - The first argument of the constructor of `MemoryLevel`: options, or a location, which is ignored.
   */
  constructor(
    store: MemoryStore,
    location: unknown,
    options: MemoryDatabaseOptions<KDefault, VDefault> | undefined
  ) {
    const given = typeof location === 'object' && location !== null ? location : options
    const others = withoutStoreEncoding<KDefault, VDefault>(given ?? {})
    limitOf(others)
    super(store, others, { approximateSize: true })
    this.#store = store
  }

  /**
   * Returns the size in bytes of the entries from `start` up to, but not including, `end`, as the option `maxSizeBytes`
   * counts it. It visits each of these entries.
   *
   * @throws LEVEL_DATABASE_NOT_OPEN if the database is not open.
   */
  approximateSize(start: KDefault, end: KDefault): Promise<number>
  approximateSize<K = KDefault>(start: K, end: K, options: StartEndOptions<K>): Promise<number>
  async approximateSize(...args: RangeArguments): Promise<number> {
    assertRange(args)
    if (this.status === 'opening')
      return this.deferAsync(() => this.approximateSize(...(args as [never, never])))

    assertOpen(this, 'approximateSize')
    return this.#store.rangeSize(...encodeRange(this, args))
  }

  /**
   * Returns the number of entries and their size.
   *
   * @throws LEVEL_DATABASE_NOT_OPEN if the database is not open.
   */
  stats(): MemoryStats {
    assertOpen(this, 'stats')
    return this.#store.stats()
  }
}

// Methods that terrace-core implements, with types that include the options of this class.
// biome-ignore lint/correctness/noUnusedVariables: both declarations of a class name the same parameters
export interface MemoryDatabase<KDefault, VDefault> {
  open(): Promise<void>
  open(options: MemoryOpenOptions): Promise<void>
}
