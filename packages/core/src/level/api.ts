/**
 * What a database and a sublevel do alike, over abstract-level's class for each. The interfaces `BackendLevel` and `Sublevel` declare
 * these methods for users.
 */

import type { AbstractLevel } from 'abstract-level'
import type { Bytes } from '../backend.js'
import { Encodings } from '../encoding/exact-encoding.js'
import { afterYield } from '../event-loop.js'
import type { PrivateIteratorOptions } from '../read/cursor.js'
import { EntryIterator, KeyIterator, ValueIterator } from '../read/iterator.js'
import { getEntry, getSync } from '../read/read-api.js'
import type { Snapshot } from '../read/snapshot.js'
import type { Namespace } from '../sublevel/namespace.js'
import { iteratorOptionsInRoot } from '../sublevel/range-keys.js'
import { ChainedBatch } from '../write/chained-batch.js'
import { update } from '../write/update.js'
import { assertLoopable, assertOpen, batch, del, put, writeSync } from '../write/write-api.js'
import type { PrivateReadOptions } from './store.js'
import { WeakChildren } from './weak-children.js'

type Base = new (...given: unknown[]) => AbstractLevel<Bytes, unknown, unknown>

/** Options of the constructor, its last argument. */
interface Options {
  keyEncoding?: unknown
  valueEncoding?: unknown
}

/** @param base - `AbstractLevel` or `AbstractSublevel`. */
export function withApi<Class>(base: Class): Class {
  class Api extends (base as unknown as Base) {
    declare readonly namespace: Namespace
    readonly children = new WeakChildren()
    // Not private names: those would be different ones in each class that is made here, which engines look up slowly.
    readonly keyEncodings: Encodings
    readonly valueEncodings: Encodings

    constructor(...given: unknown[]) {
      super(...given)
      const { keyEncoding, valueEncoding } = (given.at(-1) ?? {}) as Options
      this.keyEncodings = new Encodings('key', (name) => super.keyEncoding(name as 'utf8'), keyEncoding)
      this.valueEncodings = new Encodings(
        'value',
        (name) => super.valueEncoding(name as 'utf8'),
        valueEncoding
      )
    }

    override keyEncoding(encoding?: unknown): never {
      return this.keyEncodings.of(encoding) as never
    }

    override valueEncoding(encoding?: unknown): never {
      return this.valueEncodings.of(encoding) as never
    }

    override put(key: unknown, value: unknown, options?: object): Promise<void> {
      return put(this.namespace, key, value, options)
    }

    override del(key: unknown, options?: object): Promise<void> {
      return del(this.namespace, key, options)
    }

    override batch(...args: [] | [operations: object[], options?: object]): never {
      if (args.length > 0) return batch(this.namespace, args[0] as object[], args[1]) as never
      assertOpen(this, 'batch')
      return super.batch() as never
    }

    putSync(key: unknown, value: unknown, options?: object): void {
      writeSync(this.namespace, 'putSync', [{ type: 'put', key, value }], options)
    }

    delSync(key: unknown, options?: object): void {
      writeSync(this.namespace, 'delSync', [{ type: 'del', key }], options)
    }

    batchSync(operations: object[], options?: object): void {
      writeSync(this.namespace, 'batchSync', operations, options)
    }

    override getSync(key: unknown, options?: object): unknown {
      return getSync(this.namespace, key, options)
    }

    getEntry(key: unknown, options?: object): Promise<unknown> {
      return getEntry(this.namespace, key, options)
    }

    update(key: unknown, change: unknown, options?: object): Promise<unknown> {
      return update(this.namespace, key, change, options)
    }

    iterateSync(options?: object): Generator<unknown, void, unknown> {
      assertLoopable(this, 'iterateSync')
      const iterator: unknown = this.iterator(options as never)
      return (iterator as EntryIterator<unknown, unknown>)[Symbol.iterator]()
    }

    override snapshot(options?: object): Snapshot {
      assertOpen(this, 'snapshot')
      return super.snapshot(options as never) as Snapshot
    }

    override close(): Promise<void> {
      return this.namespace.close(() => super.close())
    }

    // ---- methods that abstract-level calls ----

    _get(key: Bytes, options: PrivateReadOptions): Bytes | undefined | Promise<Bytes | undefined> {
      const { namespace } = this
      return afterYield(namespace.store.get(namespace.rootKey(key, options.keyEncoding), options))
    }

    _getMany(
      keys: Bytes[],
      options: PrivateReadOptions
    ): Array<Bytes | undefined> | Promise<Array<Bytes | undefined>> {
      const { namespace } = this
      return namespace.store.getMany(namespace.rootKeys(keys, options.keyEncoding), options)
    }

    _has(key: Bytes, options: PrivateReadOptions): boolean | Promise<boolean> {
      const { namespace } = this
      return namespace.store.has(namespace.rootKey(key, options.keyEncoding), options)
    }

    _hasMany(keys: Bytes[], options: PrivateReadOptions): boolean[] | Promise<boolean[]> {
      const { namespace } = this
      return namespace.store.hasMany(namespace.rootKeys(keys, options.keyEncoding), options)
    }

    _chainedBatch(): ChainedBatch<this, unknown, unknown> {
      return new ChainedBatch<this, unknown, unknown>(this, this.namespace)
    }

    _iterator(options: PrivateIteratorOptions): EntryIterator<unknown, unknown> {
      const { prefix, store } = this.namespace
      return new EntryIterator(this, store.backend, iteratorOptionsInRoot(options, prefix))
    }

    _keys(options: PrivateIteratorOptions): KeyIterator<unknown> {
      const { prefix, store } = this.namespace
      return new KeyIterator(this, store.backend, iteratorOptionsInRoot(options, prefix))
    }

    _values(options: PrivateIteratorOptions): ValueIterator<unknown> {
      const { prefix, store } = this.namespace
      return new ValueIterator(this, store.backend, iteratorOptionsInRoot(options, prefix))
    }
  }

  return Api as unknown as Class
}
