import { AbstractIterator, AbstractSublevel, type AbstractSublevelOptions } from 'abstract-level'
import type { Bytes } from '../backend.js'
import { Encodings, withInner } from '../encoding/exact-encoding.js'
import { afterYield } from '../event-loop.js'
import { type Database, type Encoder, prefixed } from '../level/database.js'
import { type DatabaseManifest, synchronousMethods } from '../level/manifest.js'
import { completeDeferred, explainRefusal, forgetRefusal } from '../level/not-open.js'
import type {
  BatchOperation,
  BatchOptions,
  DelOptions,
  GetManyOptions,
  GetOptions,
  HasManyOptions,
  HasOptions,
  IteratorOptions,
  Iterator as IteratorType,
  KeyIteratorOptions,
  KeyIterator as KeyIteratorType,
  PutOptions,
  ValueIteratorOptions,
  ValueIterator as ValueIteratorType
} from '../level/operation-options.js'
import type { PrivateClearOptions, PrivateReadOptions } from '../level/store.js'
import { type ChildReference, type Closable, WeakChildren } from '../level/weak-children.js'
import type { PrivateIteratorOptions } from '../read/cursor.js'
import { EntryIterator, KeyIterator, ValueIterator } from '../read/iterator.js'
import { getSync } from '../read/read-api.js'
import type { Snapshot } from '../read/snapshot.js'
import { ChainedBatch } from '../write/chained-batch.js'
import { assertLoopable, assertOpen, batch, clear, del, put, writeSync } from '../write/write-api.js'
import { type Hooks, PrewriteHook } from './key-space.js'
import { emitApart, Namespace } from './namespace.js'
import { prefixRange, withoutPrefix } from './range-keys.js'

/** The members of a parent that are used here. The types of abstract-level lack them. */
interface Parent extends Database {
  readonly namespace: Namespace
  readonly children: WeakChildren
  open(options: { passive: boolean }): Promise<void>
  attachResource(resource: Closable): void
  detachResource(resource: Closable): void
}

/** Options of `sublevel()`. */
export interface SublevelOptions<K, V> extends AbstractSublevelOptions<K, V> {}

/**
 * A part of a database with keys of its own, made by `sublevel()`. Reads and writes go straight to the root, however deep the
 * sublevel is; only hook functions and listeners on the way cost time.
 *
 * @typeParam TDatabase - The type of its parent.
 * @typeParam KDefault - The default type of keys.
 * @typeParam VDefault - The default type of values.
 */
export class Sublevel<TDatabase, KDefault = string, VDefault = string> extends AbstractSublevel<
  TDatabase,
  string | Buffer | Uint8Array,
  KDefault,
  VDefault
> {
  /** @internal */
  readonly namespace: Namespace
  /** @internal */
  readonly children = new WeakChildren()
  readonly #keyEncodings: Encodings
  readonly #valueEncodings: Encodings
  /** The parent's prefix. */
  readonly #parentPrefix: string
  /** The parent's reference to this sublevel while it is open. */
  #reference: ChildReference | undefined
  /** Open resources, for the sake of which the parent must keep this sublevel. */
  readonly #resources = new Set<Closable>()
  #isHeld = false

  /** @internal */
  constructor(parent: TDatabase, name: string | string[], options: SublevelOptions<KDefault, VDefault>) {
    const { namespace } = parent as unknown as Parent
    const additionalMethods = synchronousMethods(namespace.store.backend.manifest)
    const { manifest } = options as { manifest?: object }
    // The types of abstract-level lack the manifest, and names of several parts.
    const given = withInner(options)
    super(parent, name as string, { ...given, manifest: { additionalMethods, ...manifest } } as object)
    this.#keyEncodings = new Encodings(
      'key',
      (encoding) => super.keyEncoding(encoding as 'utf8'),
      given.keyEncoding
    )
    this.#valueEncodings = new Encodings(
      'value',
      (encoding) => super.valueEncoding(encoding as 'utf8'),
      given.valueEncoding
    )

    const self = this as unknown as Database
    this.namespace = new Namespace(namespace.store, self, namespace, this.prefix)
    this.#parentPrefix = namespace.prefix
    this.hooks.prewrite = new PrewriteHook(namespace.store.keySpaces, this.prefix, self)
  }

  /** Stores a value; see {@link BackendLevel.put}. */
  override put(key: KDefault, value: VDefault): Promise<void>
  override put<K = KDefault, V = VDefault>(key: K, value: V, options: PutOptions<K, V>): Promise<void>
  override put(key: unknown, value: unknown, options?: object): Promise<void> {
    return put(this.namespace, key, value, options)
  }

  /** Deletes a key; see {@link BackendLevel.del}. */
  override del(key: KDefault): Promise<void>
  override del<K = KDefault>(key: K, options: DelOptions<K>): Promise<void>
  override del(key: unknown, options?: object): Promise<void> {
    return del(this.namespace, key, options)
  }

  /** Writes several operations atomically; see {@link BackendLevel.batch}. */
  override batch(operations: Array<BatchOperation<this, KDefault, VDefault>>): Promise<void>
  override batch<K = KDefault, V = VDefault>(
    operations: Array<BatchOperation<this, K, V>>,
    options: BatchOptions<K, V>
  ): Promise<void>
  override batch(): ChainedBatch<this, KDefault, VDefault>
  override batch(...args: [] | [operations: object[], options?: object]): unknown {
    if (args.length > 0) return batch(this.namespace, args[0] as object[], args[1])
    assertOpen(this, 'batch')
    return super.batch()
  }

  /** Stores a value like {@link put}, but has finished when it returns. See {@link BackendLevel.putSync}. */
  putSync(key: KDefault, value: VDefault): void
  putSync<K = KDefault, V = VDefault>(key: K, value: V, options: PutOptions<K, V>): void
  putSync(key: unknown, value: unknown, options?: object): void {
    writeSync(this.namespace, 'putSync', [{ type: 'put', key, value }], options)
  }

  /** Deletes a key like {@link del}, but has finished when it returns. See {@link BackendLevel.putSync}. */
  delSync(key: KDefault): void
  delSync<K = KDefault>(key: K, options: DelOptions<K>): void
  delSync(key: unknown, options?: object): void {
    writeSync(this.namespace, 'delSync', [{ type: 'del', key }], options)
  }

  /** Writes an array of operations like {@link batch}, but has finished when it returns. See {@link BackendLevel.putSync}. */
  batchSync(operations: Array<BatchOperation<this, KDefault, VDefault>>): void
  batchSync<K = KDefault, V = VDefault>(
    operations: Array<BatchOperation<this, K, V>>,
    options: BatchOptions<K, V>
  ): void
  batchSync(operations: object[], options?: object): void {
    writeSync(this.namespace, 'batchSync', operations, options)
  }

  /** Returns the entries of a range for a loop without `await`. See {@link BackendLevel.iterateSync}. */
  iterateSync(): Generator<[KDefault, VDefault], void, unknown>
  iterateSync<K = KDefault, V = VDefault>(options: IteratorOptions<K, V>): Generator<[K, V], void, unknown>
  iterateSync(options?: IteratorOptions<unknown, unknown>): Generator<unknown, void, unknown> {
    assertLoopable(this, 'iterateSync')
    return this.iterator(options as IteratorOptions<unknown, unknown>)[Symbol.iterator]()
  }

  /** Opens the sublevel again, or waits until it is open. A sublevel opens with its database. */
  override open(options?: object): Promise<void> {
    return this.namespace.open(() => super.open(options as never))
  }

  /** Closes the sublevel after all earlier writes. Its database stays open. */
  override close(): Promise<void> {
    return this.namespace.close(() => super.close())
  }

  /** @internal */
  override keyEncoding(encoding?: unknown): never {
    return this.#keyEncodings.of(encoding) as never
  }

  /** @internal */
  override valueEncoding(encoding?: unknown): never {
    return this.#valueEncodings.of(encoding) as never
  }

  /** @internal */
  override getSync(key: KDefault, options?: object): VDefault | undefined {
    return getSync(this.namespace, key, options) as VDefault | undefined
  }

  /** @internal */
  override snapshot(options?: object): Snapshot {
    assertOpen(this, 'snapshot')
    return super.snapshot(options as never) as Snapshot
  }

  override attachResource(resource: Closable): void {
    if (this.status === 'opening') completeDeferred(resource)
    super.attachResource(resource as never)
    if (resource instanceof WeakChildren) return
    this.#resources.add(resource)
    this.#hold()
  }

  override detachResource(resource: Closable): void {
    super.detachResource(resource as never)
    if (this.#resources.delete(resource)) this.#release()
  }

  /**
   * Emits an event. If a listener of `write` or `clear` throws, its error is uncaught; the write that it heard of does not
   * fail.
   */
  override emit(event: string | symbol, ...args: unknown[]): boolean {
    if (event === 'closed') this.#prewrite.setOpen(false)
    return emitApart(event, () => super.emit(event, ...args))
  }

  override on(event: string | symbol, listener: (...args: unknown[]) => void): this {
    if (isOfClosing(event)) this.#hold()
    return super.on(event, listener)
  }

  override addListener(event: string | symbol, listener: (...args: unknown[]) => void): this {
    if (isOfClosing(event)) this.#hold()
    return super.addListener(event, listener)
  }

  override prependListener(event: string | symbol, listener: (...args: unknown[]) => void): this {
    if (isOfClosing(event)) this.#hold()
    return super.prependListener(event, listener)
  }

  // ---- methods that abstract-level calls ----

  /** @internal */
  async _open(): Promise<void> {
    this.#prewrite.setOpen(true)
    forgetRefusal(this)

    try {
      // A sublevel does not change the state of its database.
      await this.#parent.open({ passive: true })
    } catch (error) {
      this.#prewrite.setOpen(false)
      explainRefusal(this)
      throw error
    }

    this.#reference = this.#parent.children.add(this)
    this.#parent.attachResource(this.#parent.children)
    if (this.#isNeeded) this.#hold()
  }

  /** @internal */
  async _close(): Promise<void> {
    if (this.#reference !== undefined) this.#parent.children.delete(this.#reference)
    this.#reference = undefined
    this.#resources.clear()
    this.#release()
  }

  /** @internal */
  _get(key: Bytes, options: PrivateReadOptions): Bytes | undefined | Promise<Bytes | undefined> {
    return afterYield(this.namespace.store.get(this.#rootKey(key, options), options))
  }

  /** @internal */
  _getMany(
    keys: Bytes[],
    options: PrivateReadOptions
  ): Array<Bytes | undefined> | Promise<Array<Bytes | undefined>> {
    return this.namespace.store.getMany(this.#rootKeys(keys, options), options)
  }

  /** @internal */
  _has(key: Bytes, options: PrivateReadOptions): boolean | Promise<boolean> {
    return this.namespace.store.has(this.#rootKey(key, options), options)
  }

  /** @internal */
  _hasMany(keys: Bytes[], options: PrivateReadOptions): boolean[] | Promise<boolean[]> {
    return this.namespace.store.hasMany(this.#rootKeys(keys, options), options)
  }

  /** @internal */
  _sublevel<K, V>(name: string | string[], options: SublevelOptions<K, V>): Sublevel<this, K, V> {
    return new Sublevel<this, K, V>(this, name, options)
  }

  /** @internal */
  _chainedBatch(): ChainedBatch<this, KDefault, VDefault> {
    return new ChainedBatch<this, KDefault, VDefault>(this, this.namespace)
  }

  /** @internal */
  async _clear(options: PrivateClearOptions): Promise<void> {
    prefixRange(options, this.prefix, options.keyEncoding)
    await clear(this.namespace, options)
    this.namespace.store.root.emit('clear', options)
  }

  /** @internal */
  _iterator(options: PrivateIteratorOptions): EntryIterator<KDefault, VDefault> {
    const { store } = this.namespace
    return new EntryIterator<KDefault, VDefault>(this, store.backend, this.#rootOptions(options))
  }

  /** @internal */
  _keys(options: PrivateIteratorOptions): KeyIterator<KDefault> {
    const { store } = this.namespace
    return new KeyIterator<KDefault>(this, store.backend, this.#rootOptions(options))
  }

  /** @internal */
  _values(options: PrivateIteratorOptions): ValueIterator<VDefault> {
    const { store } = this.namespace
    return new ValueIterator<VDefault>(this, store.backend, this.#rootOptions(options))
  }

  // ---- helpers ----

  get #parent(): Parent {
    return this.parent as unknown as Parent
  }

  get #prewrite(): PrewriteHook {
    return this.hooks.prewrite
  }

  /** A key, already prefixed by abstract-level for the parent, as it is in the root. */
  #rootKey(key: Bytes, { keyEncoding }: PrivateReadOptions): Bytes {
    return prefixed(this.#parentPrefix, key, keyEncoding as string)
  }

  #rootKeys(keys: Bytes[], options: PrivateReadOptions): Bytes[] {
    return this.#parentPrefix === '' ? keys : keys.map((key) => this.#rootKey(key, options))
  }

  /** Options of an iterator that abstract-level has just made, changed for the root. */
  #rootOptions(options: PrivateIteratorOptions): PrivateIteratorOptions {
    const { prefix } = this
    prefixRange(options, prefix, options.keyEncoding)
    const encodings = options as unknown as Record<symbol, Encoder>
    encodings[keyEncodingOf] = withoutPrefix(encodings[keyEncodingOf] as Encoder, prefix.length)
    return options
  }

  /** Whether the parent must keep this sublevel even if nobody else refers to it. */
  get #isNeeded(): boolean {
    return this.#resources.size > 0 || this.listenerCount('closing') > 0 || this.listenerCount('closed') > 0
  }

  #hold(): void {
    if (this.#isHeld || this.#reference === undefined) return
    this.#isHeld = true
    this.#parent.attachResource(this)
  }

  #release(): void {
    if (!this.#isHeld || (this.#reference !== undefined && this.#isNeeded)) return
    this.#isHeld = false
    this.#parent.detachResource(this)
  }
}

/** The symbol under which abstract-level keeps the encoding of an iterator's keys. */
const { keyEncoding: keyEncodingOf } = AbstractIterator as unknown as { keyEncoding: symbol }

function isOfClosing(event: string | symbol): boolean {
  return event === 'closing' || event === 'closed'
}

// Methods that abstract-level implements, with types that include the options of this package.
// biome-ignore lint/correctness/noUnusedVariables: both declarations of a class name the same parameters
export interface Sublevel<TDatabase, KDefault, VDefault> {
  /** The hooks of this sublevel. */
  hooks: Hooks<this>
  /** What this sublevel can do. */
  supports: DatabaseManifest

  /** Returns the value of a key; see {@link BackendLevel.get}. */
  get(key: KDefault): Promise<VDefault | undefined>
  get<K = KDefault, V = VDefault>(key: K, options: GetOptions<K, V>): Promise<V | undefined>

  /** Returns the value of a key within the call; see {@link BackendLevel.getSync}. */
  getSync(key: KDefault): VDefault | undefined
  getSync<K = KDefault, V = VDefault>(key: K, options: GetOptions<K, V>): V | undefined

  /** Returns the value of each key; see {@link BackendLevel.getMany}. */
  getMany(keys: KDefault[]): Promise<(VDefault | undefined)[]>
  getMany<K = KDefault, V = VDefault>(keys: K[], options: GetManyOptions<K, V>): Promise<(V | undefined)[]>

  /** Returns whether a key exists; see {@link BackendLevel.has}. */
  has(key: KDefault): Promise<boolean>
  has<K = KDefault>(key: K, options: HasOptions<K>): Promise<boolean>

  /** Returns whether each of the keys exists; see {@link BackendLevel.hasMany}. */
  hasMany(keys: KDefault[]): Promise<boolean[]>
  hasMany<K = KDefault>(keys: K[], options: HasManyOptions<K>): Promise<boolean[]>

  /** Makes an iterator over the entries of a range; see {@link BackendLevel.iterator}. */
  iterator(): IteratorType<this, KDefault, VDefault>
  iterator<K = KDefault, V = VDefault>(options: IteratorOptions<K, V>): IteratorType<this, K, V>

  /** Makes an iterator over the keys of a range; see {@link BackendLevel.keys}. */
  keys(): KeyIteratorType<this, KDefault>
  keys<K = KDefault>(options: KeyIteratorOptions<K>): KeyIteratorType<this, K>

  /** Makes an iterator over the values of a range; see {@link BackendLevel.values}. */
  values(): ValueIteratorType<this, KDefault, VDefault>
  values<K = KDefault, V = VDefault>(options: ValueIteratorOptions<K, V>): ValueIteratorType<this, K, V>

  /** Makes a sublevel within this one; see {@link BackendLevel.sublevel}. */
  // If its type named the type of its parent, the compiler would follow all methods of all parents, and give up.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  sublevel(name: string | string[]): Sublevel<any, string, string>
  sublevel<K = string, V = string>(
    name: string | string[],
    options: SublevelOptions<K, V>
    // biome-ignore lint/suspicious/noExplicitAny: see above
  ): Sublevel<any, K, V>

  /** Makes a snapshot of the current state of the whole database; see {@link BackendLevel.snapshot}. */
  snapshot(options?: object | undefined): Snapshot
}
