/** Iterators over entries, keys and values. All three read through a {@link Cursor}; the classes in `walk.ts` loop over them. */

import { AbstractIterator, AbstractKeyIterator, AbstractValueIterator } from 'abstract-level'
import type { Backend, Bytes, CursorParts } from '../backend.js'
import { codedError } from '../errors.js'
import { Cursor, type ItemAt, type PrivateIteratorOptions } from './cursor.js'
import { AsyncWalk, nothing, SyncWalk } from './walk.js'

/** The symbols under which abstract-level keeps an iterator's encodings. */
const { keyEncoding, valueEncoding } = AbstractIterator as unknown as Record<string, symbol>

interface Encoding<T> {
  decode(bytes: Bytes): T
}

function encodingOf<T>(iterator: object, symbol: symbol | undefined): Encoding<T> {
  return (iterator as Record<symbol, Encoding<T>>)[symbol as symbol] as Encoding<T>
}

/** Decodes a key or a value. If the decoder throws, this throws the error that abstract-level has for that. */
function decode<T>(encoding: Encoding<T>, bytes: Bytes): T {
  try {
    return encoding.decode(bytes)
  } catch (cause) {
    throw Object.assign(codedError('LEVEL_DECODE_ERROR', 'Iterator could not decode data'), { cause })
  }
}

function partAt(cursor: Cursor<Bytes>, index: number): Bytes {
  return cursor.partAt(index)
}

type Entry = [key: Bytes | undefined, value: Bytes | undefined]

/** How `iterator()` builds entries from the parts that were asked for. */
function entryParts(options: PrivateIteratorOptions): [CursorParts, ItemAt<Entry>] {
  if (options.keys !== false && options.values !== false) {
    return ['entries', (cursor, index) => [cursor.partAt(index), cursor.partAt(index + 1)]]
  }

  if (options.keys !== false) return ['keys', (cursor, index) => [cursor.partAt(index), undefined]]
  if (options.values !== false) return ['values', (cursor, index) => [undefined, cursor.partAt(index)]]

  // Something must be read, so that entries can be counted.
  return ['keys', () => [undefined, undefined]]
}

/**
 * What `iterator()` returns.
 *
 * @internal
 */
export class EntryIterator<TDatabase, K, V> extends AbstractIterator<TDatabase, K, V> {
  readonly #cursor: Cursor<Entry>
  readonly #keyEncoding: Encoding<K>
  readonly #valueEncoding: Encoding<V>

  constructor(db: TDatabase, backend: Backend, options: PrivateIteratorOptions) {
    // Made first, because whatever abstract-level has attached to the database must be closable.
    const cursor = new Cursor(backend, options, ...entryParts(options))
    super(db, options as object)
    this.#cursor = cursor
    this.#keyEncoding = encodingOf(this, keyEncoding)
    this.#valueEncoding = encodingOf(this, valueEncoding)
  }

  get cached(): number {
    return this.#cursor.cached
  }

  override get count(): number {
    return this.#cursor.taken
  }

  _next(): Entry | undefined | Promise<Entry | undefined> {
    return this.#cursor.next()
  }

  _nextv(size: number): Entry[] | Promise<Entry[]> {
    return this.#cursor.nextv(size)
  }

  _all(): Promise<Entry[]> {
    return this.#cursor.all()
  }

  _seek(target: Bytes): void {
    this.#cursor.seek(target)
  }

  async _close(): Promise<void> {
    return this.#cursor.close()
  }

  /** @internal */
  takeDecoded(): [K, V] | typeof nothing {
    return this.#decode(this.#cursor.take())
  }

  /** @internal */
  nextSync(): [K, V] | typeof nothing {
    return this.#decode(this.#cursor.nextSync())
  }

  override [Symbol.asyncIterator](): AsyncGenerator<[K, V], void, unknown> {
    return new AsyncWalk<[K, V]>(this)
  }

  [Symbol.iterator](): Generator<[K, V], void, unknown> {
    return new SyncWalk<[K, V]>(this)
  }

  #decode(entry: Entry | undefined): [K, V] | typeof nothing {
    if (entry === undefined) return nothing
    const [key, value] = entry
    const result = entry as [unknown, unknown]
    if (key !== undefined) result[0] = decode(this.#keyEncoding, key)
    if (value !== undefined) result[1] = decode(this.#valueEncoding, value)
    return result as [K, V]
  }
}
/**
 * What `keys()` returns.
 *
 * @internal
 */
export class KeyIterator<TDatabase, K> extends AbstractKeyIterator<TDatabase, K> {
  readonly #cursor: Cursor<Bytes>
  readonly #keyEncoding: Encoding<K>

  constructor(db: TDatabase, backend: Backend, options: PrivateIteratorOptions) {
    // Made first, because whatever abstract-level has attached to the database must be closable.
    const cursor = new Cursor(backend, options, 'keys', partAt)
    super(db, options as object)
    this.#cursor = cursor
    this.#keyEncoding = encodingOf(this, keyEncoding)
  }

  get cached(): number {
    return this.#cursor.cached
  }

  override get count(): number {
    return this.#cursor.taken
  }

  _next(): Bytes | undefined | Promise<Bytes | undefined> {
    return this.#cursor.next()
  }

  _nextv(size: number): Bytes[] | Promise<Bytes[]> {
    return this.#cursor.nextv(size)
  }

  _all(): Promise<Bytes[]> {
    return this.#cursor.all()
  }

  _seek(target: Bytes): void {
    this.#cursor.seek(target)
  }

  async _close(): Promise<void> {
    return this.#cursor.close()
  }

  /** @internal */
  takeDecoded(): K | typeof nothing {
    return this.#decode(this.#cursor.take())
  }

  /** @internal */
  nextSync(): K | typeof nothing {
    return this.#decode(this.#cursor.nextSync())
  }

  override [Symbol.asyncIterator](): AsyncGenerator<K, void, unknown> {
    return new AsyncWalk<K>(this)
  }

  [Symbol.iterator](): Generator<K, void, unknown> {
    return new SyncWalk<K>(this)
  }

  #decode(key: Bytes | undefined): K | typeof nothing {
    return key === undefined ? nothing : decode(this.#keyEncoding, key)
  }
}
/**
 * What `values()` returns.
 *
 * @internal
 */
export class ValueIterator<TDatabase, K, V> extends AbstractValueIterator<TDatabase, K, V> {
  readonly #cursor: Cursor<Bytes>
  readonly #valueEncoding: Encoding<V>

  constructor(db: TDatabase, backend: Backend, options: PrivateIteratorOptions) {
    // Made first, because whatever abstract-level has attached to the database must be closable.
    const cursor = new Cursor(backend, options, 'values', partAt)
    super(db, options as object)
    this.#cursor = cursor
    this.#valueEncoding = encodingOf(this, valueEncoding)
  }

  get cached(): number {
    return this.#cursor.cached
  }

  override get count(): number {
    return this.#cursor.taken
  }

  _next(): Bytes | undefined | Promise<Bytes | undefined> {
    return this.#cursor.next()
  }

  _nextv(size: number): Bytes[] | Promise<Bytes[]> {
    return this.#cursor.nextv(size)
  }

  _all(): Promise<Bytes[]> {
    return this.#cursor.all()
  }

  _seek(target: Bytes): void {
    this.#cursor.seek(target)
  }

  async _close(): Promise<void> {
    return this.#cursor.close()
  }

  /** @internal */
  takeDecoded(): V | typeof nothing {
    return this.#decode(this.#cursor.take())
  }

  /** @internal */
  nextSync(): V | typeof nothing {
    return this.#decode(this.#cursor.nextSync())
  }

  override [Symbol.asyncIterator](): AsyncGenerator<V, void, unknown> {
    return new AsyncWalk<V>(this)
  }

  [Symbol.iterator](): Generator<V, void, unknown> {
    return new SyncWalk<V>(this)
  }

  #decode(value: Bytes | undefined): V | typeof nothing {
    return value === undefined ? nothing : decode(this.#valueEncoding, value)
  }
}
