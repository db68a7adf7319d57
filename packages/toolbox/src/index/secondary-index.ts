/** The object that users have for an index. */

import { auxiliarySublevelOf } from '../auxiliary-sublevel.js'
import { readsInHooks, rootOf } from '../hooks.js'
import type { AnyLevel } from '../level-like.js'
import { assertOnlyInstance } from '../only-instance.js'
import { Builder } from './builder.js'
import { definitionOf } from './definition.js'
import { uniqueEntryKey } from './entry-keys.js'
import { EntryWriter } from './entry-writer.js'
import { indexError } from './errors.js'
import { type IndexHook, indexHookOf } from './index-hook.js'
import type { IndexOptions, IndexProgress, IndexRange } from './options.js'
import { type Found, find, findOne, type Queried, type Query, queryOf } from './reader.js'
import { StateStore } from './state.js'
import { type IndexReport, verify } from './verify.js'

/**
 * A secondary index. It is created by `index()`. Its methods wait until the index is built, unless the option `wait` is
 * false.
 *
 * @typeParam K - The type of primary keys.
 * @typeParam V - The type of values.
 */
export class SecondaryIndex<K, V> {
  readonly #name: string
  readonly #db: AnyLevel
  readonly #hook: IndexHook
  readonly #writer: EntryWriter
  readonly #state: StateStore
  readonly #waits: boolean
  readonly #onProgress: ((progress: IndexProgress) => void) | undefined
  #builder: Builder
  #isBuilt = false
  #isDropped = false

  /** @internal */
  constructor(db: AnyLevel, options: IndexOptions<K, V>) {
    const definition = definitionOf(options)
    const { name } = definition
    assertOnlyInstance(db, 'index()')
    const { encodings } = db.supports as { encodings?: Record<string, boolean> }
    if (!readsInHooks(rootOf(db)) || !encodings?.buffer) {
      throw indexError(
        'TOOLBOX_INDEX_UNSUPPORTED',
        name,
        'the database must have getSync, at least in hooks, and store bytes'
      )
    }

    const hook = indexHookOf(db)
    if (hook.has(name)) {
      throw indexError(
        'TOOLBOX_INDEX_EXISTS',
        name,
        'the database already has an index of this name: use that object'
      )
    }
    if (!hook.hasEncodingsOf(db)) {
      throw indexError(
        'TOOLBOX_INDEX_INVALID',
        name,
        'the other indexes were declared on objects with other encodings'
      )
    }
    this.#name = name
    this.#db = db
    this.#hook = hook
    this.#waits = options.wait !== false
    this.#onProgress = options.onProgress
    this.#state = new StateStore(hook.states, name)
    this.#writer = new EntryWriter(hook.space, definition, auxiliarySublevelOf(db, `index.${name}`))
    hook.add(this.#writer, db, () => {
      if (!this.#isDropped) this.#builder = this.#build(false, this.#builder.close())
    })
    this.#builder = this.#build(false, Promise.resolve())
  }

  /** The name of the index. */
  get name(): string {
    return this.#name
  }

  /**
   * Resolves when the index is built and can be queried. It rejects with the error that stopped the build: TOOLBOX_UNIQUE,
   * TOOLBOX_INDEX_VALUE, or one of the database, such as LEVEL_DATABASE_NOT_OPEN if it was closed. The build resumes when the
   * database is opened again.
   */
  get ready(): Promise<void> {
    return this.#whenBuilt()
  }

  /**
   * Returns the value of the record that has `indexed`; undefined if there is none.
   *
   * @throws TOOLBOX_INDEX_NOT_UNIQUE if the index is not unique, and the errors of the other queries.
   */
  async get(indexed: unknown): Promise<V | undefined> {
    return (await this.#find(indexed))?.value as V | undefined
  }

  /** Like {@link get}, but returns the primary key. */
  async getKey(indexed: unknown): Promise<K | undefined> {
    return (await this.#find(indexed))?.key as K | undefined
  }

  /**
   * Yields the entries of a range in the order of their indexed values, and of their primary keys where these are equal. Each
   * consists of the primary key, the value and the indexed value. A record with several entries in the range is yielded
   * several times. On databases with snapshots, all entries are from the same state, that of the first step.
   *
   * @throws TOOLBOX_INDEX_RANGE at the call, if the options do not form a range.
   * @throws TOOLBOX_INDEX_NOT_READY or TOOLBOX_INDEX_DROPPED at the first step.
   */
  entries(options: IndexRange = {}): AsyncGenerator<[key: K, value: V, indexed: unknown], void> {
    return this.#results(options, true, ({ key, value, indexed }) => [key as K, value as V, indexed])
  }

  /** Like {@link entries}, but yields the primary keys. On Terrace this reads no values. */
  keys(options: IndexRange = {}): AsyncGenerator<K, void> {
    return this.#results(options, false, ({ key }) => key as K)
  }

  /** Like {@link entries}, but yields the values. */
  values(options: IndexRange = {}): AsyncGenerator<V, void> {
    return this.#results(options, true, ({ value }) => value as V)
  }

  /** Compares the index with all records in their current state, page by page. It changes nothing. */
  async verify(): Promise<IndexReport> {
    await this.#whenBuilt()
    return verify(this.#hook, this.#writer)
  }

  /** Rebuilds the index. Queries wait or throw until the returned promise settles, together with `ready`. */
  async rebuild(): Promise<void> {
    this.#assertExists()
    const stopped = this.#builder.stop(
      indexError('TOOLBOX_INDEX_NOT_READY', this.#name, 'it is being rebuilt')
    )
    this.#builder = this.#build(true, stopped)
    return this.#whenBuilt()
  }

  /** Removes the index: its entries, its state and its hook. The object cannot be used afterwards. */
  async drop(): Promise<void> {
    this.#assertExists()
    this.#isDropped = true
    await this.#builder.stop(this.#dropped())
    const { entries } = this.#writer
    try {
      // If the process ends in between, entries without a state are cleared when the index is declared again.
      await this.#state.delete()
      this.#hook.remove(this.#name)
      await entries.clear()
    } finally {
      this.#hook.release(this.#name)
    }
  }

  #build(restart: boolean, after: Promise<void>): Builder {
    this.#isBuilt = false
    const builder = new Builder(
      { hook: this.#hook, writer: this.#writer, state: this.#state, onProgress: this.#onProgress },
      restart,
      after
    )
    builder.done.then(
      () => {
        if (builder === this.#builder) this.#isBuilt = true
      },
      () => {}
    )
    return builder
  }

  /** Waits until the index is built, even if building starts only meanwhile. */
  async #whenBuilt(): Promise<void> {
    while (!this.#isBuilt) {
      this.#assertExists()
      const builder = this.#builder
      try {
        await builder.done
      } catch (error) {
        if (builder === this.#builder) throw error
      }
    }
    this.#assertExists()
  }

  async #whenQueryable(): Promise<void> {
    this.#assertExists()
    if (this.#isBuilt) return
    if (!this.#waits) throw indexError('TOOLBOX_INDEX_NOT_READY', this.#name, 'it is not built yet')
    try {
      await this.#whenBuilt()
    } catch (cause) {
      if (this.#isDropped) throw cause
      throw indexError('TOOLBOX_INDEX_NOT_READY', this.#name, 'it could not be built', cause)
    }
  }

  #results<T>(
    options: IndexRange,
    needsValues: boolean,
    resultOf: (found: Found) => T
  ): AsyncGenerator<T, void> {
    return this.#resultsOf(queryOf(this.#name, options), needsValues, resultOf)
  }

  async *#resultsOf<T>(
    query: Query,
    needsValues: boolean,
    resultOf: (found: Found) => T
  ): AsyncGenerator<T, void> {
    await this.#whenQueryable()
    for await (const found of find(this.#queried, query, needsValues)) yield resultOf(found)
  }

  async #find(indexed: unknown): Promise<Found | undefined> {
    if (!this.#writer.definition.unique) {
      throw indexError(
        'TOOLBOX_INDEX_NOT_UNIQUE',
        this.#name,
        'more than one record may have a value: use entries()'
      )
    }
    if (indexed === undefined) return undefined
    const entry = uniqueEntryKey(this.#name, indexed)
    await this.#whenQueryable()
    return findOne(this.#queried, entry, indexed)
  }

  get #queried(): Queried {
    return { hook: this.#hook, writer: this.#writer, db: this.#db }
  }

  #assertExists(): void {
    if (this.#isDropped) throw this.#dropped()
  }

  #dropped(): Error {
    return indexError('TOOLBOX_INDEX_DROPPED', this.#name, 'it was dropped')
  }
}
