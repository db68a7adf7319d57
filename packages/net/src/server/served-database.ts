/** The database that a server serves: any implementation of abstract-level, with keys and values as bytes. */

import type {
  AbstractBatchOperation,
  AbstractIterator,
  AbstractLevel,
  AbstractSnapshot
} from 'abstract-level'
import {
  BackendLevel,
  type ConflictError,
  type CursorParts,
  codedError,
  type DatabaseManifest,
  Sublevel
} from 'terrace-core'
import { copyOf } from '../protocol/bytes.js'
import type { ReceivedCondition } from '../protocol/conditions.js'
import { netError } from '../protocol/errors.js'
import type { Interval } from './key-range.js'

// biome-ignore lint/suspicious/noExplicitAny: any database is served
export type AnyLevel = AbstractLevel<any, any, any>

/**
 * A database or sublevel of any package. The full class type would reject some of its subclasses, such as ClassicLevel, because the
 * types of their hooks and iterators name the class itself.
 */
export type Servable = Pick<
  AnyLevel,
  'status' | 'supports' | 'open' | 'close' | 'get' | 'getMany' | 'put' | 'del' | 'clear'
>

type Bytes = Uint8Array

type Operation = AbstractBatchOperation<AnyLevel, Bytes, Bytes>

/** What must hold for a write; in place of a range, an interval, and the snapshot or version since which it is unchanged. */
export type ServedCondition =
  | Exclude<ReceivedCondition, { readonly range: unknown }>
  | { readonly kind: 'unchanged'; readonly interval: Interval; readonly since: AbstractSnapshot | number }

/** How many keys a `clear()` with a limit deletes at once. */
const CLEAR_KEYS = 1000

/**
 * How many values are read at once before their sizes are known: each may be as large as the largest message. For a moment, memory
 * may hold that many more than the limit.
 */
export const GET_KEYS = 8

const raw = { keyEncoding: 'buffer', valueEncoding: 'buffer' }
const rawKeys = { keyEncoding: 'buffer' }

/** An iterator over keys, values or entries, which are bytes. */
export type BytesIterator = AbstractIterator<AnyLevel, Bytes, Bytes>

export class ServedDatabase {
  readonly db: AnyLevel
  /** Bytes in the form that the database receives. */
  readonly #given: (bytes: Bytes) => Bytes
  /** A running `clear()` that deletes in steps. Later writes wait, because it would delete what they store. */
  #clearing: Promise<void> | undefined

  constructor(db: Servable) {
    this.#given = db instanceof BackendLevel || db instanceof Sublevel ? asItIs : copyOf
    this.db = db as AnyLevel
  }

  get(key: Bytes, snapshot: AbstractSnapshot | undefined): Promise<Bytes | undefined> {
    return this.db.get<Bytes, Bytes>(key, with_(raw, snapshot))
  }

  /**
   * Returns the value of a key and the version of its entry.
   *
   * @throws LEVEL_NOT_SUPPORTED if the entries have no versions.
   */
  async getEntry(
    key: Bytes,
    snapshot: AbstractSnapshot | undefined
  ): Promise<readonly [Bytes, number] | undefined> {
    if (!this.hasVersions) {
      throw codedError('LEVEL_NOT_SUPPORTED', 'The entries of the served database have no versions')
    }
    const db = this.db as unknown as BackendLevel<Bytes, Bytes>
    const found = await db.getEntry<Bytes, Bytes>(key, with_(raw, snapshot))
    return found === undefined ? undefined : [found.value, found.version]
  }

  /**
   * Reads the values of keys, all from the same state if the database has snapshots.
   *
   * @param hold - Receives the number of bytes after each read. An error that it throws ends the reading.
   * @throws NET_LIMIT if the values have more than `maxBytes` together.
   */
  async getMany(
    keys: Bytes[],
    snapshot: AbstractSnapshot | undefined,
    maxBytes: number,
    hold: (bytes: number) => void
  ): Promise<Array<Bytes | undefined>> {
    const needsOwn =
      keys.length > GET_KEYS && snapshot === undefined && this.db.supports.explicitSnapshots === true
    const own = needsOwn ? this.db.snapshot() : undefined
    try {
      const values: Array<Bytes | undefined> = []
      let bytes = 0
      for (let i = 0; i < keys.length; i += GET_KEYS) {
        const before = bytes
        for (const value of await this.#getSome(keys.slice(i, i + GET_KEYS), snapshot ?? own)) {
          bytes += value?.length ?? 0
          values.push(value)
        }
        hold(bytes - before)
        if (bytes > maxBytes) {
          throw netError('NET_LIMIT', `These values exceed ${maxBytes} bytes: request fewer at once`)
        }
      }
      return values
    } finally {
      await own?.close()
    }
  }

  async has(key: Bytes, snapshot: AbstractSnapshot | undefined): Promise<boolean> {
    if (this.db.supports.has) return this.db.has<Bytes>(key, with_(rawKeys, snapshot))
    return (await this.get(key, snapshot)) !== undefined
  }

  async hasMany(keys: Bytes[], snapshot: AbstractSnapshot | undefined): Promise<boolean[]> {
    if (this.db.supports.has) return this.db.hasMany<Bytes>(keys, with_(rawKeys, snapshot))
    const found: boolean[] = []
    for (let i = 0; i < keys.length; i += GET_KEYS) {
      const values = await this.#getSome(keys.slice(i, i + GET_KEYS), snapshot)
      found.push(...values.map((value) => value !== undefined))
    }
    return found
  }

  /**
   * Writes operations atomically: alternating keys and values, where a value of null deletes. A database that may keep its
   * arguments gets copies.
   */
  write(operations: ReadonlyArray<Bytes | null>, sync: boolean): Promise<void> {
    if (this.#clearing !== undefined) return this.#clearing.then(() => this.write(operations, sync))
    const options = sync ? { ...raw, sync } : raw
    if (operations.length === 2) {
      const [key, value] = operations as [Bytes, Bytes | null]
      return value === null
        ? this.db.del<Bytes>(this.#given(key), options as object)
        : this.db.put<Bytes, Bytes>(this.#given(key), this.#given(value), options as object)
    }

    return this.db.batch(this.#batchOf(operations), options)
  }

  /**
   * Writes operations like {@link write} if all conditions hold. Returns the indices of those that do not, or undefined once the
   * operations are written.
   *
   * @throws LEVEL_NOT_SUPPORTED if the database has no conditional writes. It would ignore the conditions.
   */
  async writeIf(
    conditions: readonly ServedCondition[],
    operations: ReadonlyArray<Bytes | null>,
    sync: boolean
  ): Promise<number[] | undefined> {
    if (!this.hasConditionalWrites) {
      throw codedError('LEVEL_NOT_SUPPORTED', 'The served database does not support conditional writes')
    }
    if (this.#clearing !== undefined) {
      return this.#clearing.then(() => this.writeIf(conditions, operations, sync))
    }
    const options = { ...raw, if: conditions.map(optionOf), ...(sync && { sync }) }
    try {
      await this.db.batch(this.#batchOf(operations), options)
      return undefined
    } catch (error) {
      const { code, conditions: failed } = error as Partial<ConflictError>
      if (code === 'LEVEL_CONFLICT' && Array.isArray(failed)) return failed
      throw error
    }
  }

  /** Whether the database can write under conditions. */
  get hasConditionalWrites(): boolean {
    return (this.db.supports as Partial<DatabaseManifest>).conditionalWrites === true
  }

  /** Whether the entries of the database have versions. A view of a database may not return them. */
  get hasVersions(): boolean {
    const { getEntry } = this.db as Partial<BackendLevel<Bytes, Bytes>>
    return (this.db.supports as Partial<DatabaseManifest>).versions === true && getEntry !== undefined
  }

  /** The operations as the database receives them. */
  #batchOf(operations: ReadonlyArray<Bytes | null>): Array<Operation> {
    const list = new Array(operations.length / 2)
    for (let i = 0; i < list.length; i++) {
      const key = this.#given(operations[2 * i] as Bytes)
      const value = operations[2 * i + 1] as Bytes | null
      list[i] = value === null ? { type: 'del', key } : { type: 'put', key, value: this.#given(value) }
    }
    return list
  }

  /** Deletes up to `limit` keys of these intervals, starting with the last one if `reverse`. */
  async clear(
    intervals: readonly Interval[],
    reverse: boolean,
    limit: number | undefined,
    snapshot: AbstractSnapshot | undefined
  ): Promise<void> {
    while (this.#clearing !== undefined) await this.#clearing
    if (limit === undefined || intervals.length <= 1) {
      const each = (interval: Interval): object => ({
        ...with_(rawKeys, snapshot),
        ...rangeOf(interval),
        reverse,
        limit: limit ?? -1
      })
      await Promise.all(intervals.map((interval) => this.db.clear<Bytes>(each(interval))))
      return
    }

    const ordered = reverse ? intervals.toReversed() : intervals
    const cleared = this.#clearInSteps(ordered, reverse, limit, snapshot)
    const ended = (): void => {
      this.#clearing = undefined
    }
    this.#clearing = cleared.then(ended, ended)
    await cleared
  }

  snapshot(): AbstractSnapshot {
    if (this.db.supports.explicitSnapshots) return this.db.snapshot()
    throw netError('NET_INVALID', 'The served database has no snapshots')
  }

  iterator(
    parts: CursorParts,
    interval: Interval,
    reverse: boolean,
    snapshot: AbstractSnapshot | undefined
  ): BytesIterator {
    const options = { ...with_(raw, snapshot), ...rangeOf(interval), reverse }
    const { db } = this
    const iterator =
      parts === 'keys' ? db.keys(options) : parts === 'values' ? db.values(options) : db.iterator(options)
    return iterator as unknown as BytesIterator
  }

  #getSome(keys: Bytes[], snapshot: AbstractSnapshot | undefined): Promise<Array<Bytes | undefined>> {
    return this.db.getMany<Bytes, Bytes>(keys, with_(raw, snapshot))
  }

  async #clearInSteps(
    intervals: readonly Interval[],
    reverse: boolean,
    limit: number,
    snapshot: AbstractSnapshot | undefined
  ): Promise<void> {
    let left = limit
    for (const interval of intervals) {
      if (left > 0) left -= await this.#clearSome(interval, reverse, left, snapshot)
    }
  }

  /** Deletes up to `limit` keys, and returns how many. */
  async #clearSome(
    interval: Interval,
    reverse: boolean,
    limit: number,
    snapshot: AbstractSnapshot | undefined
  ): Promise<number> {
    const keys = this.db.keys<Bytes>({ ...with_(rawKeys, snapshot), ...rangeOf(interval), reverse, limit })
    let count = 0
    try {
      for (;;) {
        const some = await keys.nextv(CLEAR_KEYS)
        if (some.length === 0) return count
        await this.db.batch(
          some.map((key) => ({ type: 'del', key })),
          rawKeys
        )
        count += some.length
      }
    } finally {
      await keys.close()
    }
  }
}

/** A condition as the option `if` takes it. */
function optionOf(condition: ServedCondition): object {
  if (condition.kind === 'unchanged') {
    return { ...rawKeys, ...rangeOf(condition.interval), unchangedSince: condition.since }
  }
  const { kind, key } = condition
  if (kind === 'version') return { ...rawKeys, key, version: condition.version }
  return kind === 'equals'
    ? { ...raw, key, value: condition.value }
    : { ...rawKeys, key, exists: kind === 'present' }
}

/** For databases of terrace-core, which keep no bytes of their callers. A received message is never modified. */
function asItIs(bytes: Bytes): Bytes {
  return bytes
}

function rangeOf({ start, end }: Interval): object {
  return { ...(start.length > 0 && { gte: start }), ...(end !== null && { lt: end }) }
}

function with_<T extends object>(options: T, snapshot: AbstractSnapshot | undefined): T {
  return snapshot === undefined ? options : { ...options, snapshot }
}
