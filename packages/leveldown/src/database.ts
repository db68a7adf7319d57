/**
 * leveldown's API over a database of Terrace. The three kinds of databases (on disk, in memory, in a browser) share it, and differ
 * in their {@link Origin}.
 */

import {
  type BackendLevel,
  DirectCalls,
  type DirectCursorOptions,
  type DirectData,
  type DirectRange
} from 'terrace-core'
import { Buffer } from './buffer.js'
import { ChainedBatch } from './chained-batch.js'
import { assertCallback, keyError, optionsOf, serialize, valueError } from './checks.js'
import { notFound, notOpen, openError, reasonOf, translated } from './errors.js'
import { Iterator } from './iterator.js'
import { nextTick, settle } from './next-tick.js'
import type { LevelDownManifest, Status } from './types.js'

type Callback = (error?: Error | null) => void
type ValueCallback<T> = (error?: Error | null, value?: T) => void
type Options = Record<string, unknown>

/** A database of Terrace, whatever its types of keys and values. */
export type AnyLevel = BackendLevel<unknown, unknown>

/** What one kind of database does differently from the others. */
export interface Origin {
  readonly location: string | undefined
  /** The message of the error of `get()` for a key that does not exist. */
  readonly notFoundMessage: string
  /** Whether an empty bound of a range means no bound. */
  readonly ignoresEmptyBounds: boolean
  /** Whether iterators pass empty keys or values in place of those that are not wanted. */
  readonly fillsAbsent: boolean
  /** Makes the database. It begins to open in the next microtask, unless it is opened or closed before. */
  create(): AnyLevel
  /** The options of `open()` for the database. */
  openOptions(options: Options): object
}

/** What an instance consists of. */
interface Parts {
  readonly origin: Origin
  level: AnyLevel | undefined
  calls: DirectCalls | undefined
  /** The status in which the database is if it is neither open nor about to be. */
  rest: 'new' | 'closed'
  /** The status until the running call of `open()` or `close()` has ended. */
  passing: Status | undefined
  /** How many calls of `open()` and `close()` there have been. */
  changes: number
}

const parts = Symbol('parts')

/** The instances that stand over databases of Terrace. */
const instances = new WeakMap<AnyLevel, Database>()

export class Database {
  declare readonly supports: LevelDownManifest
  /** @internal */
  declare readonly [parts]: Parts

  get status(): Status {
    const { level, rest, passing } = this[parts]
    if (passing !== undefined) return passing
    // While another opens the database, `open()` can be called here to wait for it, as levelup does if it is 'new' or 'closed'.
    return level?.status === 'open' || level?.status === 'closing' ? level.status : rest
  }

  get level(): AnyLevel {
    const own = this[parts]
    if (own.level === undefined) {
      const level = adopt(this, own.origin.create())
      // It is not to open before `open()` is called.
      own.passing = own.rest
      const change = ++own.changes
      const closed = (): void => ended(own, change)
      level.close().then(closed, closed)
    }
    return own.level as AnyLevel
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
    const [operations, options] = args
    const done = args.findLast((arg) => typeof arg === 'function')
    assertCallback(done, 'batch(array)')

    const flat = flatOf(this, operations)
    if (flat instanceof Error) nextTick(done, flat)
    else if (flat.length === 0) nextTick(done)
    else this._write(flat, optionsOf(options), done as Callback)
    return undefined
  }

  clear(options: unknown, callback?: unknown): void {
    const done = typeof options === 'function' ? options : callback
    assertCallback(done, 'clear()')
    this._clear(rangeOf(this, optionsOf(options)), done as Callback)
  }

  iterator(options?: unknown): Iterator {
    return this._iterator(iteratorOptions(this, optionsOf(options)))
  }

  // ---- methods that a class that extends this one may call or replace, as in abstract-leveldown ----

  _open(options: Options, callback: Callback): void {
    const own = this[parts]
    const change = ++own.changes
    own.passing = 'opening'
    let opening: Promise<void>
    try {
      const given = own.origin.openOptions(withoutDefaults(options))
      const level = own.level ?? adopt(this, own.origin.create())
      opening = level.open(given as never)
    } catch (error) {
      opening = Promise.reject(error)
    }
    settle(
      opening.finally(() => ended(own, change)),
      () => callback(),
      (error) => callback(openError(this._translated(reasonOf(error))))
    )
  }

  _close(callback: Callback): void {
    const own = this[parts]
    const change = ++own.changes
    own.passing = 'closing'
    const closing = own.level?.close() ?? Promise.resolve()
    settle(
      closing.finally(() => {
        if (own.level === undefined || own.level.status === 'closed') own.rest = 'closed'
        ended(own, change)
      }),
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
        nextTick(callback, notFound(this[parts].origin.notFoundMessage))
      } else {
        nextTick(callback, null, found)
      }
    } catch (error) {
      nextTick(callback, this._translated(error))
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
      nextTick(callback, this._translated(error))
    }
  }

  _put(key: DirectData, value: DirectData, options: Options, callback: Callback): void {
    try {
      passWritten(this, callsOf(this).put(key, value, options.sync === true), callback)
    } catch (error) {
      nextTick(callback, this._translated(error))
    }
  }

  _del(key: DirectData, options: Options, callback: Callback): void {
    try {
      passWritten(this, callsOf(this).del(key, options.sync === true), callback)
    } catch (error) {
      nextTick(callback, this._translated(error))
    }
  }

  /** Writes the operations of a batch. Keys and values alternate, with null for the value of a key to delete. */
  _write(operations: ReadonlyArray<DirectData | null>, options: object, callback: Callback): void {
    if (operations.length === 0) {
      nextTick(callback, null)
      return
    }
    try {
      const { sync } = options as { sync?: unknown }
      passWritten(this, callsOf(this).write(operations, sync === true), callback)
    } catch (error) {
      nextTick(callback, this._translated(error))
    }
  }

  _chainedBatch(): ChainedBatch {
    return new ChainedBatch(this)
  }

  _clear(range: DirectRange, callback: Callback): void {
    if (!this.isOperational()) {
      nextTick(callback, notOpen())
      return
    }
    const bounds = { gte: range.gte, gt: range.gt, lte: range.lte, lt: range.lt }
    settle(
      this.level.clear({
        ...bufferBounds(bounds),
        reverse: range.reverse,
        limit: range.limit,
        keyEncoding: 'buffer'
      }),
      () => callback(null),
      (error) => callback(this._translated(error))
    )
  }

  _iterator(options: DirectCursorOptions): Iterator {
    if (!this.isOperational()) throw notOpen('cannot call iterator() before open()')

    const cursor = callsOf(this).cursor(options)
    const absent = this[parts].origin.fillsAbsent ? EMPTY : ABSENT
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

  _translated(error: unknown): Error {
    return translated(error, this[parts].origin.location)
  }
}

// ---- helpers; not private methods, which only what a class has constructed may call ----

/** @throws LEVEL_DATABASE_NOT_OPEN if the database was never opened. */
function callsOf(db: Database): DirectCalls {
  const { calls } = db[parts]
  if (calls === undefined) throw notOpen()
  return calls
}

function passFound(db: Database, value: DirectData | undefined, callback: ValueCallback<DirectData>): void {
  if (value === undefined) callback(notFound(db[parts].origin.notFoundMessage))
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

/** The operations of an array in a flat list, or what is wrong with them. */
function flatOf(db: Database, operations: unknown): Array<DirectData | null> | Error {
  if (!Array.isArray(operations)) return new Error('batch(array) requires an array argument')
  const flat: Array<DirectData | null> = []
  for (const operation of operations) {
    if (typeof operation !== 'object' || operation === null) {
      return new Error('batch(array) element must be an object and not `null`')
    }
    const { type, key, value } = operation as { type?: unknown; key?: unknown; value?: unknown }
    if (type !== 'put' && type !== 'del') return new Error("`type` must be 'put' or 'del'")
    const error = db._checkKey(key) ?? (type === 'put' ? db._checkValue(value) : undefined)
    if (error !== undefined) return error
    flat.push(db._serializeKey(key), type === 'put' ? db._serializeValue(value) : null)
  }
  return flat
}

/** The range that options name. */
function rangeOf(db: Database, options: Options): DirectRange {
  let gte: DirectData | undefined
  let gt: DirectData | undefined
  let lte: DirectData | undefined
  let lt: DirectData | undefined
  for (const name in options) {
    if (!Object.hasOwn(options, name)) continue
    if (name === 'gte') gte = boundOf(db, options.gte)
    else if (name === 'gt') gt = boundOf(db, options.gt)
    else if (name === 'lte') lte = boundOf(db, options.lte)
    else if (name === 'lt') lt = boundOf(db, options.lt)
    else if (name === 'start' || name === 'end') {
      throw new Error('Legacy range options ("start" and "end") have been removed')
    }
  }
  const { limit, reverse } = options
  return { gte, gt, lte, lt, reverse: !!reverse, limit: typeof limit === 'number' && limit >= 0 ? limit : -1 }
}

function iteratorOptions(db: Database, options: Options): DirectCursorOptions {
  const { gte, gt, lte, lt, reverse, limit } = rangeOf(db, options)
  return {
    gte,
    gt,
    lte,
    lt,
    reverse,
    limit,
    keys: options.keys !== false,
    values: options.values !== false,
    keyForm: options.keyAsBuffer === false ? 'utf8' : 'buffer',
    valueForm: options.valueAsBuffer === false ? 'utf8' : 'buffer',
    fillCache: options.fillCache === true,
    highWaterMarkBytes: bytesOf(options.highWaterMark ?? options.highWaterMarkBytes)
  }
}

/** A bound of a range, whatever it is: null and undefined are bounds as well, as in leveldown. */
function boundOf(db: Database, given: unknown): DirectData | undefined {
  const bound = db._serializeKey(given)
  return bound.length === 0 && db[parts].origin.ignoresEmptyBounds ? undefined : bound
}

/** What an iterator passes for a key or value that is not wanted. */
const EMPTY = { utf8: '', buffer: Buffer.alloc(0) }
const ABSENT = { utf8: undefined, buffer: undefined }

/** Gives an object that is becoming an instance its parts. */
export function initialize(db: Database, origin: Origin, supports: LevelDownManifest): void {
  const own: Parts = {
    origin,
    level: undefined,
    calls: undefined,
    rest: 'new',
    passing: undefined,
    changes: 0
  }
  Object.defineProperty(db, parts, { value: own })
  Object.assign(db, { supports })
}

/** Makes `db` stand over a database of Terrace. */
export function adopt(db: Database, level: AnyLevel): AnyLevel {
  const own = db[parts]
  own.level = level
  own.calls = new DirectCalls(level)
  instances.set(level, db)
  if (level.status === 'open') own.rest = 'closed'
  level.on('open', () => {
    own.rest = 'closed'
  })
  return level
}

/** The instance that stands over a database of Terrace, if there is one. */
export function instanceOver(level: AnyLevel): Database | undefined {
  return instances.get(level)
}

/** Options of `open()` without what is the default anyway: the program may have given the database itself another one. */
function withoutDefaults({ createIfMissing, errorIfExists, ...others }: Options): Options {
  return {
    ...others,
    ...(createIfMissing === false && { createIfMissing }),
    ...(errorIfExists === true && { errorIfExists })
  }
}

/** Notes the end of a call of `open()` or `close()`, unless another one has begun since. */
function ended(own: Parts, change: number): void {
  if (own.changes === change) own.passing = undefined
}

function bufferBounds(bounds: Record<string, DirectData | undefined>): Record<string, Buffer> {
  const given = Object.entries(bounds).filter(([, bound]) => bound !== undefined)
  return Object.fromEntries(given.map(([name, bound]) => [name, Buffer.from(bound as string)]))
}

function bytesOf(mark: unknown): number | undefined {
  return typeof mark === 'number' && mark >= 0 ? mark : undefined
}
