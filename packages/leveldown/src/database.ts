/**
 * leveldown's API over a database of Terrace. The three kinds of databases (on disk, in memory, in a browser) share it, and differ
 * in their {@link Origin}.
 */

import type { DirectCalls, DirectCursor, DirectCursorOptions, DirectData } from 'terrace-core'
import { Buffer } from './buffer.js'
import { ChainedBatch } from './chained-batch.js'
import { assertCallback, keyError, optionsOf, serialize, valueError } from './checks.js'
import { notFound, notOpen, openError, reasonOf, translated } from './errors.js'
import { Iterator } from './iterator.js'
import { type AnyLevel, Lifecycle, type Source } from './lifecycle.js'
import { nextTick, settle } from './next-tick.js'
import { type Flat, flatOf, kept, type Operation, operationsOf } from './operations.js'
import { boundsOf, cursorOptions, iteratorOptions, rangeOf, rangeOptions } from './ranges.js'
import type { LevelDownManifest, Status } from './types.js'
import { WaitingCursor } from './waiting-cursor.js'

type Callback = (error?: Error | null) => void
type ValueCallback<T> = (error?: Error | null, value?: T) => void
type Options = Record<string, unknown>

/** What one kind of database does differently from the others. */
export interface Origin extends Source {
  readonly location: string | undefined
  /** The message of the error of `get()` for a key that does not exist. */
  readonly notFoundMessage: string
  /** Whether an empty bound of a range means no bound. */
  readonly ignoresEmptyBounds: boolean
  /** Whether iterators pass empty keys or values in place of those that are not wanted. */
  readonly fillsAbsent: boolean
}

const origin = Symbol('origin')
const lifecycle = Symbol('lifecycle')

export class Database {
  declare readonly supports: LevelDownManifest
  /** @internal */
  declare readonly [origin]: Origin
  /** @internal */
  declare readonly [lifecycle]: Lifecycle

  get status(): Status {
    return this[lifecycle].status
  }

  get level(): AnyLevel {
    return this[lifecycle].level
  }

  isOperational(): boolean {
    return this.status === 'open' || this._isOperational()
  }

  open(options: unknown, callback?: unknown): void {
    const done = typeof options === 'function' ? options : callback
    assertCallback(done, 'open()')
    const given = optionsOf(options)
    this._open(
      { ...given, createIfMissing: given.createIfMissing !== false, errorIfExists: !!given.errorIfExists },
      done as Callback
    )
  }

  close(callback: unknown): void {
    assertCallback(callback, 'close()')
    this._close(callback as Callback)
  }

  get(key: unknown, options: unknown, callback?: unknown): void {
    const done = typeof options === 'function' ? options : callback
    assertCallback(done, 'get()')
    const error = this._checkKey(key)
    if (error !== undefined) nextTick(done, error)
    else this._get(this._serializeKey(key), optionsOf(options), done as ValueCallback<DirectData>)
  }

  getMany(keys: unknown, options?: unknown, callback?: unknown): Promise<unknown> | undefined {
    const done = typeof options === 'function' ? options : callback
    if (typeof done === 'function') {
      getMany(this, keys, optionsOf(options), done as ValueCallback<unknown>)
      return undefined
    }
    return new Promise((resolve, reject) => {
      getMany(this, keys, optionsOf(options), (error, values) => (error ? reject(error) : resolve(values)))
    })
  }

  put(key: unknown, value: unknown, options: unknown, callback?: unknown): void {
    const done = typeof options === 'function' ? options : callback
    assertCallback(done, 'put()')
    const error = this._checkKey(key) ?? this._checkValue(value)
    if (error !== undefined) nextTick(done, error)
    else this._put(this._serializeKey(key), this._serializeValue(value), optionsOf(options), done as Callback)
  }

  del(key: unknown, options: unknown, callback?: unknown): void {
    const done = typeof options === 'function' ? options : callback
    assertCallback(done, 'del()')
    const error = this._checkKey(key)
    if (error !== undefined) nextTick(done, error)
    else this._del(this._serializeKey(key), optionsOf(options), done as Callback)
  }

  batch(...args: [operations?: unknown, options?: unknown, callback?: unknown]): ChainedBatch | undefined {
    if (args.length === 0) return this._chainedBatch()
    const [operations, options, callback] = args
    const done =
      typeof callback === 'function' ? callback : typeof options === 'function' ? options : operations
    assertCallback(done, 'batch(array)')

    const flat = flatOf(this, operations)
    if (flat instanceof Error) nextTick(done, flat)
    else if (flat.length === 0) nextTick(done)
    else if (this._batch === _batch) this._write(flat, optionsOf(options), done as Callback)
    else this._batch(operationsOf(flat, operations as object[]), optionsOf(options), done as Callback)
    return undefined
  }

  clear(options: unknown, callback?: unknown): void {
    const done = typeof options === 'function' ? options : callback
    assertCallback(done, 'clear()')
    this._clear(rangeOptions(this, optionsOf(options)), done as Callback)
  }

  iterator(options?: unknown): Iterator {
    return this._iterator(this._setupIteratorOptions(optionsOf(options)))
  }

  // ---- methods that a class that extends this one may call or replace, as in abstract-leveldown ----

  _open(options: Options, callback: Callback): void {
    settle(
      this[lifecycle].open(options),
      () => callback(),
      (error) => callback(openError(this._translated(reasonOf(error))))
    )
  }

  _close(callback: Callback): void {
    settle(
      this[lifecycle].close(),
      () => callback(),
      (error) => callback(this._translated(reasonOf(error)))
    )
  }

  _get(key: DirectData, options: Options, callback: ValueCallback<DirectData>): void {
    try {
      const form = options.asBuffer === false ? 'utf8' : 'buffer'
      const found = callsOf(this).get(key, form, options.fillCache !== false)
      if (typeof (found as Promise<unknown> | undefined)?.then === 'function') {
        settle(
          found as Promise<DirectData | undefined>,
          (value) => passFound(this, value, callback),
          (error) => callback(this._translated(error))
        )
      } else if (found === undefined) {
        nextTick(callback, notFound(this[origin].notFoundMessage))
      } else {
        nextTick(callback, null, found)
      }
    } catch (error) {
      refuse(this, error, '_get', [key], options, callback)
    }
  }

  _getMany(keys: DirectData[], options: Options, callback: ValueCallback<unknown>): void {
    try {
      const form = options.asBuffer === false ? 'utf8' : 'buffer'
      const found = callsOf(this).getMany(keys, form, options.fillCache !== false)
      if (Array.isArray(found)) nextTick(callback, null, found)
      else
        settle(
          found,
          (values) => callback(null, values),
          (error) => callback(this._translated(error))
        )
    } catch (error) {
      refuse(this, error, '_getMany', [keys], options, callback)
    }
  }

  _put(key: DirectData, value: DirectData, options: Options, callback: Callback): void {
    try {
      passWritten(this, callsOf(this).put(key, value, options.sync === true), callback)
    } catch (error) {
      refuse(this, error, '_put', [key, value], options, callback)
    }
  }

  _del(key: DirectData, options: Options, callback: Callback): void {
    try {
      passWritten(this, callsOf(this).del(key, options.sync === true), callback)
    } catch (error) {
      refuse(this, error, '_del', [key], options, callback)
    }
  }

  _batch(operations: readonly Operation[], options: Options, callback: Callback): void {
    const flat: Flat = []
    for (const { type, key, value } of operations) {
      flat.push(key, type === 'put' ? (value as DirectData) : null)
    }
    this._write(flat, optionsOf(options), callback)
  }

  /** Writes the operations of a batch. Keys and values alternate, with null for the value of a key to delete. */
  _write(operations: Flat, options: object, callback: Callback): void {
    if (operations.length === 0) {
      nextTick(callback, null)
      return
    }
    try {
      const { sync } = options as { sync?: unknown }
      passWritten(this, callsOf(this).write(operations, sync === true), callback)
    } catch (error) {
      refuse(this, error, '_write', [operations], options, callback)
    }
  }

  /** Writes a chained batch, which passes a `_batch()` that a program has replaced, as in memdown. */
  _writeChained(operations: Flat, options: object, callback: Callback): void {
    if (this._batch === _batch) this._write(operations, options, callback)
    else this._batch(operationsOf(operations), options as Options, callback)
  }

  _chainedBatch(): ChainedBatch {
    return new ChainedBatch(this)
  }

  _clear(options: Options, callback: Callback): void {
    const { ignoresEmptyBounds } = this[origin]
    const range = rangeOf(options, ignoresEmptyBounds)
    const bounds = boundsOf(range, (bound) => Buffer.from(bound as string))
    if (!isUsable(this)) {
      refuse(this, notOpen(), '_clear', [], { ...options, ...bounds }, callback)
      return
    }
    const { reverse, limit } = range
    settle(
      this.level.clear({ ...bounds, reverse, limit, keyEncoding: 'buffer' }),
      () => callback(null),
      (error) => callback(this._translated(error))
    )
  }

  _setupIteratorOptions(options: Options): Options {
    return iteratorOptions(this, options)
  }

  _iterator(given: Options): Iterator {
    const { fillsAbsent, ignoresEmptyBounds } = this[origin]
    const options = cursorOptions(optionsOf(given), ignoresEmptyBounds)
    const cursor = isUsable(this)
      ? callsOf(this).cursor(options)
      : waitingCursor(this, { ...options, ...boundsOf(options, kept) })
    const absent = fillsAbsent ? EMPTY : ABSENT
    const iterator = new Iterator(this, cursor, absent[options.keyForm], absent[options.valueForm])
    this.level.attachResource(iterator._resource as never)
    return iterator
  }

  _checkKey(key: unknown): Error | undefined {
    return keyError(key)
  }

  _checkValue(value: unknown): Error | undefined {
    return valueError(value)
  }

  _serializeKey(key: unknown): DirectData {
    return serialize(key)
  }

  _serializeValue(value: unknown): DirectData {
    return serialize(value)
  }

  _isOperational(): boolean {
    return false
  }

  _nextTick(callback: (...args: never[]) => void, ...args: unknown[]): void {
    nextTick(callback, ...args)
  }

  _detach(iterator: Iterator): void {
    this.level.detachResource(iterator._resource as never)
  }

  _iteratorEnded(callback: Callback): void {
    nextTick(callback, null)
  }

  _translated(error: unknown): Error {
    return translated(error, this[origin].location)
  }
}

// ---- helpers; not private methods, which only what a class has constructed may call ----

/** @throws LEVEL_DATABASE_NOT_OPEN if the database was never opened. */
function callsOf(db: Database): DirectCalls {
  const { calls } = db[lifecycle]
  if (calls === undefined) throw notOpen()
  return calls
}

/** Whether a call can be made now. */
function isUsable(db: Database): boolean {
  return db.isOperational() || db[lifecycle].isUsableUnopened
}

/**
 * Passes on why a call failed, or makes it once the database is open, if calls before that succeed. The callers need no closures,
 * which would cost them time also if they do not fail.
 */
function refuse(
  db: Database,
  error: unknown,
  method: '_get' | '_getMany' | '_put' | '_del' | '_write' | '_clear',
  args: ReadonlyArray<DirectData | ReadonlyArray<DirectData | null>>,
  options: object,
  callback: (...results: never[]) => void
): void {
  const ours = args.map((arg) =>
    Array.isArray(arg) ? arg.map((data) => data && kept(data)) : kept(arg as DirectData)
  )
  const again = (): void => {
    ;(db[method] as (...args: unknown[]) => void).call(db, ...ours, options, callback)
  }
  if (!db[lifecycle].wait(again)) nextTick(callback, db._translated(error))
}

/** @throws Error if the database makes no cursors before it is open. */
function waitingCursor(db: Database, options: DirectCursorOptions): WaitingCursor {
  let isWaiting = false
  const making = new Promise<DirectCursor>((resolve, reject) => {
    isWaiting = db[lifecycle].wait(() => {
      try {
        resolve(callsOf(db).cursor(options))
      } catch (error) {
        reject(error)
      }
    })
  })
  if (!isWaiting) throw notOpen('cannot call iterator() before open()')
  return new WaitingCursor(making)
}

function passFound(db: Database, value: DirectData | undefined, callback: ValueCallback<DirectData>): void {
  if (value === undefined) callback(notFound(db[origin].notFoundMessage))
  else callback(null, value)
}

/** Passes on what became of a write. */
function passWritten(db: Database, waiting: void | Promise<void>, callback: Callback): void {
  if (waiting === undefined) nextTick(callback, null)
  else
    settle(
      waiting,
      () => callback(null),
      (error) => callback(db._translated(error))
    )
}

function getMany(db: Database, keys: unknown, options: Options, callback: ValueCallback<unknown>): void {
  const error = db.isOperational() ? keysError(db, keys) : notOpen()
  if (error !== undefined) {
    nextTick(callback, error)
    return
  }
  const serialized = (keys as unknown[]).map((key) => db._serializeKey(key))
  if (serialized.length === 0) nextTick(callback, null, serialized)
  else db._getMany(serialized, options, callback)
}

function keysError(db: Database, keys: unknown): Error | undefined {
  if (!Array.isArray(keys)) return new Error('getMany() requires an array argument')
  for (const key of keys) {
    const error = db._checkKey(key)
    if (error !== undefined) return error
  }
  return undefined
}

const { _batch } = Database.prototype

/** What an iterator passes for a key or value that is not wanted. */
const EMPTY = { utf8: '', buffer: Buffer.alloc(0) }
const ABSENT = { utf8: undefined, buffer: undefined }

/** Makes an object an instance. Its database of Terrace is made when it is needed. */
export function initialize(db: Database, from: Origin, supports: LevelDownManifest): void {
  Object.defineProperty(db, origin, { value: from })
  Object.defineProperty(db, lifecycle, { value: new Lifecycle(db, from) })
  Object.assign(db, { supports })
}

/** Makes the database of Terrace under an instance now. */
export function makeLevel(db: Database): void {
  db[lifecycle].make()
}
