import { AbstractSublevel, type AbstractSublevelOptions } from 'abstract-level'
import { withInner } from '../encoding/exact-encoding.js'
import { withApi } from '../level/api.js'
import type { Database } from '../level/database.js'
import { type DatabaseManifest, ownMethods } from '../level/manifest.js'
import { completeDeferred, explainRefusal, forgetRefusal } from '../level/not-open.js'
import type {
  BatchOperation,
  BatchOptions,
  DelOptions,
  Entry,
  GetManyOptions,
  GetOptions,
  HasManyOptions,
  HasOptions,
  IteratorOptions,
  Iterator as IteratorType,
  KeyIteratorOptions,
  KeyIterator as KeyIteratorType,
  PutOptions,
  UpdateOptions,
  ValueIteratorOptions,
  ValueIterator as ValueIteratorType
} from '../level/operation-options.js'
import type { PrivateClearOptions } from '../level/store.js'
import { type ChildReference, type Closable, WeakChildren } from '../level/weak-children.js'
import type { Snapshot } from '../read/snapshot.js'
import type { ChainedBatch } from '../write/chained-batch.js'
import { clear } from '../write/write-api.js'
import { type Hooks, PrewriteHook } from './key-space.js'
import { emitApart, Namespace } from './namespace.js'
import { prefixRange } from './range-keys.js'

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
 * A part of a database with its own keys, created by `sublevel()`. Reads and writes go directly to the root database, however
 * deep the sublevel is; only hook functions and listeners in between add cost.
 *
 * @typeParam TDatabase - The type of its parent.
 * @typeParam KDefault - The default type of keys.
 * @typeParam VDefault - The default type of values.
 */
export class Sublevel<TDatabase, KDefault = string, VDefault = string> extends withApi(AbstractSublevel)<
  TDatabase,
  string | Buffer | Uint8Array,
  KDefault,
  VDefault
> {
  /** @internal */
  readonly namespace: Namespace
  /** @internal */
  declare readonly children: WeakChildren
  /** The parent's reference to this sublevel while it is open. */
  #reference: ChildReference | undefined
  /** Open resources, because of which the parent must keep this sublevel. */
  readonly #resources = new Set<Closable>()
  #isHeld = false

  /** @internal */
  constructor(parent: TDatabase, name: string | string[], options: SublevelOptions<KDefault, VDefault>) {
    const { namespace } = parent as unknown as Parent
    const additionalMethods = ownMethods(namespace.store.backend.manifest)
    const { manifest } = options as { manifest?: object }
    // The types of abstract-level lack the manifest, and names of several parts.
    const given = withInner(options)
    super(parent, name as string, { ...given, manifest: { additionalMethods, ...manifest } } as object)

    const self = this as unknown as Database
    this.namespace = new Namespace(namespace.store, self, namespace, this.prefix)
    this.hooks.prewrite = new PrewriteHook(namespace.store.keySpaces, this.prefix, self)
  }

  /** Opens the sublevel again, or waits until it is open. A sublevel opens with its database. */
  override open(options?: object): Promise<void> {
    return this.namespace.open(() => super.open(options as never))
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
   * Emits an event. If a listener of `write` or `clear` throws, its error becomes an uncaught exception; the write does not
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
  _sublevel<K, V>(name: string | string[], options: SublevelOptions<K, V>): Sublevel<this, K, V> {
    return new Sublevel<this, K, V>(this, name, options)
  }

  /** @internal */
  async _clear(options: PrivateClearOptions): Promise<void> {
    prefixRange(options, this.prefix, options.keyEncoding)
    await clear(this.namespace, options)
    this.namespace.store.root.emit('clear', options)
  }

  // ---- helpers ----

  get #parent(): Parent {
    return this.parent as unknown as Parent
  }

  get #prewrite(): PrewriteHook {
    return this.hooks.prewrite
  }

  /** Whether the parent must keep this sublevel even if nothing else refers to it. */
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

function isOfClosing(event: string | symbol): boolean {
  return event === 'closing' || event === 'closed'
}

// Methods that abstract-level implements, with types that include the options of this package.
// biome-ignore lint/correctness/noUnusedVariables: both declarations of a class name the same parameters
export interface Sublevel<TDatabase, KDefault, VDefault> {
  /** The hooks of this sublevel. */
  hooks: Hooks<this>
  /** The capabilities of this sublevel. */
  supports: DatabaseManifest

  /** Stores a value; see {@link BackendLevel.put}. */
  put(key: KDefault, value: VDefault): Promise<void>
  put<K = KDefault, V = VDefault>(key: K, value: V, options: PutOptions<K, V>): Promise<void>

  /** Deletes a key; see {@link BackendLevel.del}. */
  del(key: KDefault): Promise<void>
  del<K = KDefault>(key: K, options: DelOptions<K>): Promise<void>

  /** Writes several operations atomically; see {@link BackendLevel.batch}. */
  batch(operations: Array<BatchOperation<this, KDefault, VDefault>>): Promise<void>
  batch<K = KDefault, V = VDefault>(
    operations: Array<BatchOperation<this, K, V>>,
    options: BatchOptions<K, V>
  ): Promise<void>
  batch(): ChainedBatch<this, KDefault, VDefault>

  /** Replaces the value of a key with the result of a function; see {@link BackendLevel.update}. */
  update(
    key: KDefault,
    change: (value: VDefault | undefined) => VDefault | undefined | Promise<VDefault | undefined>
  ): Promise<VDefault | undefined>
  update<K = KDefault, V = VDefault>(
    key: K,
    change: (value: V | undefined) => V | undefined | Promise<V | undefined>,
    options: UpdateOptions<K, V>
  ): Promise<V | undefined>

  /** Stores a value like {@link put}, but synchronously. See {@link BackendLevel.putSync}. */
  putSync(key: KDefault, value: VDefault): void
  putSync<K = KDefault, V = VDefault>(key: K, value: V, options: PutOptions<K, V>): void

  /** Deletes a key like {@link del}, but synchronously. See {@link BackendLevel.putSync}. */
  delSync(key: KDefault): void
  delSync<K = KDefault>(key: K, options: DelOptions<K>): void

  /** Writes an array of operations like {@link batch}, but synchronously. See {@link BackendLevel.putSync}. */
  batchSync(operations: Array<BatchOperation<this, KDefault, VDefault>>): void
  batchSync<K = KDefault, V = VDefault>(
    operations: Array<BatchOperation<this, K, V>>,
    options: BatchOptions<K, V>
  ): void

  /** Returns the entries of a range for a loop without `await`. See {@link BackendLevel.iterateSync}. */
  iterateSync(): Generator<[KDefault, VDefault], void, unknown>
  iterateSync<K = KDefault, V = VDefault>(options: IteratorOptions<K, V>): Generator<[K, V], void, unknown>

  /** Closes the sublevel once all earlier writes are done. Its database stays open. */
  close(): Promise<void>

  /** Returns the value of a key; see {@link BackendLevel.get}. */
  get(key: KDefault): Promise<VDefault | undefined>
  get<K = KDefault, V = VDefault>(key: K, options: GetOptions<K, V>): Promise<V | undefined>

  /** Returns the value of a key synchronously; see {@link BackendLevel.getSync}. */
  getSync(key: KDefault): VDefault | undefined
  getSync<K = KDefault, V = VDefault>(key: K, options: GetOptions<K, V>): V | undefined

  /** Returns the value of a key with its version; see {@link BackendLevel.getEntry}. */
  getEntry(key: KDefault): Promise<Entry<VDefault> | undefined>
  getEntry<K = KDefault, V = VDefault>(key: K, options: GetOptions<K, V>): Promise<Entry<V> | undefined>

  /** Returns the value of each key; see {@link BackendLevel.getMany}. */
  getMany(keys: KDefault[]): Promise<(VDefault | undefined)[]>
  getMany<K = KDefault, V = VDefault>(keys: K[], options: GetManyOptions<K, V>): Promise<(V | undefined)[]>

  /** Returns whether a key exists; see {@link BackendLevel.has}. */
  has(key: KDefault): Promise<boolean>
  has<K = KDefault>(key: K, options: HasOptions<K>): Promise<boolean>

  /** Returns whether each of the keys exists; see {@link BackendLevel.hasMany}. */
  hasMany(keys: KDefault[]): Promise<boolean[]>
  hasMany<K = KDefault>(keys: K[], options: HasManyOptions<K>): Promise<boolean[]>

  /** Creates an iterator over the entries of a range; see {@link BackendLevel.iterator}. */
  iterator(): IteratorType<this, KDefault, VDefault>
  iterator<K = KDefault, V = VDefault>(options: IteratorOptions<K, V>): IteratorType<this, K, V>

  /** Creates an iterator over the keys of a range; see {@link BackendLevel.keys}. */
  keys(): KeyIteratorType<this, KDefault>
  keys<K = KDefault>(options: KeyIteratorOptions<K>): KeyIteratorType<this, K>

  /** Creates an iterator over the values of a range; see {@link BackendLevel.values}. */
  values(): ValueIteratorType<this, KDefault, VDefault>
  values<K = KDefault, V = VDefault>(options: ValueIteratorOptions<K, V>): ValueIteratorType<this, K, V>

  /** Creates a sublevel within this one; see {@link BackendLevel.sublevel}. */
  // If its type named the type of its parent, the compiler would follow all methods of all parents, and give up.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  sublevel(name: string | string[]): Sublevel<any, string, string>
  sublevel<K = string, V = string>(
    name: string | string[],
    options: SublevelOptions<K, V>
    // biome-ignore lint/suspicious/noExplicitAny: see above
  ): Sublevel<any, K, V>

  /** Creates a snapshot of the current state of the whole database; see {@link BackendLevel.snapshot}. */
  snapshot(options?: object | undefined): Snapshot
}
