/**
 * A database for callers that take callbacks, as `terrace-leveldown` does. Its methods return a value instead of a promise if they
 * need not wait. Writes pass hooks and events like those of the database itself.
 */

import type { Backend, Bytes } from './backend.js'
import { Buffer } from './buffer.js'
import { afterYield, yieldToEventLoop } from './event-loop.js'
import { type ExactEncoding, prefixed } from './level/database.js'
import { isPromise } from './promise.js'
import { Cursor, type PrivateIteratorOptions } from './read/cursor.js'
import type { Namespace } from './sublevel/namespace.js'
import { prefixRange } from './sublevel/range-keys.js'
import { assertOpen, assertWritable, batch, del, put } from './write/write-api.js'

/** A key or value as it is passed and returned here. */
export type DirectData = string | Buffer

/** The form of a result: a string or a buffer. */
export type DirectForm = 'utf8' | 'buffer'

/** A range of keys. */
export interface DirectRange {
  gte?: DirectData | undefined
  gt?: DirectData | undefined
  lte?: DirectData | undefined
  lt?: DirectData | undefined
  reverse: boolean
  /** The largest number of entries. A negative number means no limit. */
  limit: number
}

/** Options of {@link DirectCalls.cursor}. */
export interface DirectCursorOptions extends DirectRange {
  keys: boolean
  values: boolean
  keyForm: DirectForm
  valueForm: DirectForm
  fillCache: boolean
  highWaterMarkBytes: number | undefined
}

type Forms = Readonly<Record<DirectForm, ExactEncoding>>

/** Options of the reads of a database, by the form of the key, then of the value. */
type ReadOptions = Readonly<Record<DirectForm, Readonly<Record<DirectForm, object>>>>

/** The methods throw or reject; both mean the same. They do so with LEVEL_DATABASE_NOT_OPEN if the database is not open. */
export class DirectCalls {
  readonly #namespace: Namespace
  readonly #keys: Forms
  readonly #values: Forms
  readonly #filling: ReadOptions
  readonly #sparing: ReadOptions

  /**
   * @param db - A `BackendLevel`, or one of its sublevels.
   * @throws TypeError if it is something else.
   */
  constructor(db: object) {
    const { namespace } = db as { namespace?: Namespace }
    if (namespace === undefined) throw new TypeError('The database must be one of Terrace')
    const { owner } = namespace
    this.#namespace = namespace
    this.#keys = { utf8: owner.keyEncoding('utf8'), buffer: owner.keyEncoding('buffer') }
    this.#values = { utf8: owner.valueEncoding('utf8'), buffer: owner.valueEncoding('buffer') }
    this.#filling = readOptions(this.#keys, this.#values, true)
    this.#sparing = readOptions(this.#keys, this.#values, false)
  }

  /** Returns the value of a key, or undefined if the key does not exist. */
  get(
    key: DirectData,
    form: DirectForm,
    fillCache: boolean
  ): DirectData | undefined | Promise<DirectData | undefined> {
    const { owner, store } = this.#namespace
    assertOpen(owner, 'get')
    const options = (fillCache ? this.#filling : this.#sparing)[formOf(key)][form]
    const found = afterYield(store.get(this.#rootKey(key), options))
    const encoding = this.#values[form]
    return isPromise(found)
      ? found.then((value) => decoded(encoding, form, value))
      : decoded(encoding, form, found)
  }

  /** Returns the value of each key, all from the same state. */
  getMany(
    keys: readonly DirectData[],
    form: DirectForm,
    fillCache: boolean
  ): Array<DirectData | undefined> | Promise<Array<DirectData | undefined>> {
    const { owner, store } = this.#namespace
    assertOpen(owner, 'getMany')
    // All keys of a call have the same form.
    const isText = keys.every((key) => typeof key === 'string')
    const rootKeys = keys.map((key) => this.#rootKey(isText ? key : Buffer.from(key as string)))
    const options = (fillCache ? this.#filling : this.#sparing)[isText ? 'utf8' : 'buffer'][form]
    const found = store.getMany(rootKeys, options)
    const encoding = this.#values[form]
    const decodeAll = (values: Array<Bytes | undefined>): Array<DirectData | undefined> =>
      values.map((value) => decoded(encoding, form, value))
    return isPromise(found) ? found.then(decodeAll) : decodeAll(found)
  }

  /** Stores a value. */
  put(key: DirectData, value: DirectData, sync: boolean): void | Promise<void> {
    const namespace = this.#namespace
    assertWritable(namespace, 'put')
    if (!namespace.isPlain) {
      return put(namespace, key, value, { sync, keyEncoding: formOf(key), valueEncoding: formOf(value) })
    }
    const stored = this.#values[formOf(value)].encodeValue(value, key)
    return namespace.store.put(this.#rootKey(key), stored, sync) ?? yieldToEventLoop()
  }

  /** Deletes a key. */
  del(key: DirectData, sync: boolean): void | Promise<void> {
    const namespace = this.#namespace
    assertWritable(namespace, 'del')
    if (!namespace.isPlain) return del(namespace, key, { sync, keyEncoding: formOf(key) })
    return namespace.store.del(this.#rootKey(key), sync) ?? yieldToEventLoop()
  }

  /** Writes operations atomically. Keys and values alternate, with null for the value of a key to delete. */
  write(operations: ReadonlyArray<DirectData | null>, sync: boolean): void | Promise<void> {
    const namespace = this.#namespace
    assertWritable(namespace, 'batch')
    if (!namespace.isPlain) return batch(namespace, publicOperations(operations), { sync })
    if (operations.length === 2) {
      const [key, value] = operations as [DirectData, DirectData | null]
      return value === null ? this.del(key, sync) : this.put(key, value, sync)
    }

    const flat = new Array<Bytes | null>(operations.length)
    for (let i = 0; i < operations.length; i += 2) {
      const key = operations[i] as DirectData
      const value = operations[i + 1] as DirectData | null
      flat[i] = this.#rootKey(key)
      flat[i + 1] = value === null ? null : this.#values[formOf(value)].encodeValue(value, key)
    }
    return namespace.store.write(flat, sync) ?? yieldToEventLoop(flat.length / 2)
  }

  /** Makes a cursor over the current state. The caller closes it before the database is closed. */
  cursor(options: DirectCursorOptions): DirectCursor {
    const { owner, prefix, store } = this.#namespace
    assertOpen(owner, 'iterator')
    const { keys, values, keyForm, valueForm, reverse, limit, fillCache, highWaterMarkBytes } = options
    const keyEncoding = this.#keys[keyForm]
    const valueEncoding = this.#values[valueForm]
    const encoded = (bound: DirectData | undefined): Bytes | undefined =>
      bound === undefined ? undefined : keyEncoding.encode(bound)
    const cursorOptions = {
      gte: encoded(options.gte),
      gt: encoded(options.gt),
      lte: encoded(options.lte),
      lt: encoded(options.lt),
      keyEncoding: keyEncoding.format,
      valueEncoding: valueEncoding.format,
      reverse,
      limit,
      fillCache,
      highWaterMarkBytes
    }
    if (prefix !== '') prefixRange(cursorOptions, prefix, keyEncoding.format)
    const forms = { keys, values, keyForm, valueForm, keyEncoding, valueEncoding, prefix }
    return new DirectCursor(store.backend, cursorOptions, forms)
  }

  #rootKey(key: DirectData): Bytes {
    const { prefix } = this.#namespace
    const encoding = this.#keys[formOf(key)]
    return prefix === '' ? encoding.encode(key) : prefixed(prefix, encoding.encode(key), encoding.format)
  }
}

interface CursorForms {
  readonly keys: boolean
  readonly values: boolean
  readonly keyForm: DirectForm
  readonly valueForm: DirectForm
  readonly keyEncoding: ExactEncoding
  readonly valueEncoding: ExactEncoding
  readonly prefix: string
}

/** A cursor, and the entry that it is at. */
export class DirectCursor {
  /** The current key, or undefined if keys were not wanted. */
  key: DirectData | undefined
  /** The current value, or undefined if values were not wanted. */
  value: DirectData | undefined
  readonly #cursor: Cursor<true>
  readonly #forms: CursorForms

  constructor(backend: Backend, options: PrivateIteratorOptions, forms: CursorForms) {
    this.#forms = forms
    const { keys, values } = forms
    // Something must be read, so that entries can be counted.
    const parts = keys ? (values ? 'entries' : 'keys') : values ? 'values' : 'keys'
    this.#cursor = new Cursor<true>(backend, options, parts, (cursor, index) => {
      if (keys) this.key = this.#keyOf(cursor.partAt(index))
      if (values) this.value = this.#valueOf(cursor.partAt(keys ? index + 1 : index))
      return true
    })
  }

  /** Moves to the next entry, if it was read ahead. */
  take(): true | undefined {
    return this.#cursor.take()
  }

  /** Moves to the next entry; undefined if there is none. */
  next(): true | undefined | Promise<true | undefined> {
    return this.#cursor.next()
  }

  /** Makes the next entry the first one that is not before `target`, in the order of the cursor. */
  seek(target: DirectData): void {
    const { keyEncoding, prefix } = this.#forms
    this.#cursor.seek(prefixed(prefix, keyEncoding.encode(target), keyEncoding.format))
  }

  /** Releases what the cursor holds. Called once. */
  close(): void | Promise<void> {
    return this.#cursor.close()
  }

  #keyOf(part: Bytes): DirectData {
    const { keyForm, keyEncoding, prefix } = this.#forms
    if (prefix === '') return decoded(keyEncoding, keyForm, part) as DirectData
    const { length } = prefix
    const key = typeof part === 'string' ? part.slice(length) : part.subarray(length)
    return decoded(keyEncoding, keyForm, key) as DirectData
  }

  #valueOf(part: Bytes): DirectData {
    const { valueForm, valueEncoding } = this.#forms
    return decoded(valueEncoding, valueForm, part) as DirectData
  }
}

function readOptions(keys: Forms, values: Forms, fillCache: boolean): ReadOptions {
  const of = (key: DirectForm) => {
    const options = (value: DirectForm) =>
      Object.freeze({ keyEncoding: keys[key].format, valueEncoding: values[value].format, fillCache })
    return { utf8: options('utf8'), buffer: options('buffer') }
  }
  return { utf8: of('utf8'), buffer: of('buffer') }
}

function formOf(data: DirectData): DirectForm {
  return typeof data === 'string' ? 'utf8' : 'buffer'
}

/** Bytes of a back-end in the form that the caller wants. */
function decoded(
  encoding: ExactEncoding,
  form: DirectForm,
  bytes: Bytes | undefined
): DirectData | undefined {
  if (bytes === undefined || encoding.format === form) return bytes as DirectData | undefined
  return encoding.decode(bytes) as DirectData
}

function publicOperations(operations: ReadonlyArray<DirectData | null>): object[] {
  const list: object[] = []
  for (let i = 0; i < operations.length; i += 2) {
    const key = operations[i] as DirectData
    const value = operations[i + 1] as DirectData | null
    const keyEncoding = formOf(key)
    if (value === null) list.push({ type: 'del', key, keyEncoding })
    else list.push({ type: 'put', key, value, keyEncoding, valueEncoding: formOf(value) })
  }
  return list
}
