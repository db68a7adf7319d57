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

/** Decodes a key or a value. If the decoder throws, this throws abstract-level's error for that. */
function decode<T>(encoding: Encoding<T>, bytes: Bytes): T {
  try {
    return encoding.decode(bytes)
  } catch (cause) {
    throw Object.assign(codedError('LEVEL_DECODE_ERROR', 'Iterator could not decode data'), { cause })
  }
}

type Entry = [key: Bytes | undefined, value: Bytes | undefined]

/** How `iterator()` builds entries from the requested parts. */
function entryParts(options: PrivateIteratorOptions): [CursorParts, ItemAt<Entry>] {
  if (options.keys !== false && options.values !== false) {
    return ['entries', (cursor, index) => [cursor.partAt(index), cursor.partAt(index + 1)]]
  }

  if (options.keys !== false) return ['keys', (cursor, index) => [cursor.partAt(index), undefined]]
  if (options.values !== false) return ['values', (cursor, index) => [undefined, cursor.partAt(index)]]

  // Something must be read, so that entries can be counted.
  return ['keys', () => [undefined, undefined]]
}

/** The classes of abstract-level over which the three kinds of iterators are made, as far as they are used here. */
interface Base {
  readonly count: number
  next(): Promise<never>
  close(): Promise<void>
  [Symbol.asyncIterator](): unknown
}

/** Where an iterator keeps its cursor. A private name would differ between the classes that {@link overCursor} makes. */
const cursorOf = Symbol('cursor')

/**
 * What the three kinds of iterators have in common, over the class of abstract-level for each.
 *
 * @typeParam Item - What the cursor yields.
 * @param partsOf - What the cursor reads, and how it builds items from that.
 */
function overCursor<Item>(
  base: unknown,
  partsOf: (options: PrivateIteratorOptions) => [CursorParts, ItemAt<Item>]
) {
  abstract class CursorIterator<Decoded> extends (base as new (db: unknown, options: object) => Base) {
    readonly [cursorOf]: Cursor<Item>

    constructor(db: unknown, backend: Backend, options: PrivateIteratorOptions) {
      // Made first, because whatever abstract-level has attached to the database must be closable.
      const cursor = new Cursor(backend, options, ...partsOf(options))
      super(db, options)
      this[cursorOf] = cursor
    }

    /** Decodes an item in place, or returns {@link nothing} for undefined. */
    abstract decoded(item: Item | undefined): Decoded | typeof nothing

    get cached(): number {
      return this[cursorOf].cached
    }

    override get count(): number {
      return this[cursorOf].taken
    }

    _next(): Item | undefined | Promise<Item | undefined> {
      return this[cursorOf].next()
    }

    _nextv(size: number): Item[] | Promise<Item[]> {
      return this[cursorOf].nextv(size)
    }

    _all(): Promise<Item[]> {
      return this[cursorOf].all()
    }

    _seek(target: Bytes): void {
      this[cursorOf].seek(target)
    }

    async _close(): Promise<void> {
      return this[cursorOf].close()
    }

    takeDecoded(): Decoded | typeof nothing {
      return this.decoded(this[cursorOf].take())
    }

    nextSync(): Decoded | typeof nothing {
      return this.decoded(this[cursorOf].nextSync())
    }

    override [Symbol.asyncIterator](): AsyncGenerator<Decoded, void, unknown> {
      return new AsyncWalk<Decoded>(this)
    }

    [Symbol.iterator](): Generator<Decoded, void, unknown> {
      return new SyncWalk<Decoded>(this)
    }
  }
  return CursorIterator
}

const partAt: ItemAt<Bytes> = (cursor, index) => cursor.partAt(index)

/**
 * What `iterator()` returns.
 *
 * @internal
 */
export class EntryIterator<K, V> extends overCursor(AbstractIterator, entryParts)<[K, V]> {
  readonly #keyEncoding = encodingOf<K>(this, keyEncoding)
  readonly #valueEncoding = encodingOf<V>(this, valueEncoding)

  decoded(entry: Entry | undefined): [K, V] | typeof nothing {
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
export class KeyIterator<K> extends overCursor(AbstractKeyIterator, () => ['keys', partAt])<K> {
  readonly #keyEncoding = encodingOf<K>(this, keyEncoding)

  decoded(key: Bytes | undefined): K | typeof nothing {
    return key === undefined ? nothing : decode(this.#keyEncoding, key)
  }
}

/**
 * What `values()` returns.
 *
 * @internal
 */
export class ValueIterator<V> extends overCursor(AbstractValueIterator, () => ['values', partAt])<V> {
  readonly #valueEncoding = encodingOf<V>(this, valueEncoding)

  decoded(value: Bytes | undefined): V | typeof nothing {
    return value === undefined ? nothing : decode(this.#valueEncoding, value)
  }
}
