/**
 * leveldown's API over a database of Terrace. The three kinds of databases (on disk, in memory, in a browser) share it, and differ
 * in their {@link Origin}.
 */

import {
  type BackendLevel,
  DirectCalls,
  type DirectCursor,
  type DirectCursorOptions,
  type DirectData
} from 'terrace-core'
import { Buffer } from './buffer.js'
import { ChainedBatch } from './chained-batch.js'
import { assertCallback, keyError, optionsOf, serialize, valueError } from './checks.js'
import { notFound, notOpen, openError, reasonOf, translated } from './errors.js'
import { Iterator } from './iterator.js'
import { nextTick, settle } from './next-tick.js'
import { type Flat, flatOf, kept, type Operation, operationsOf } from './operations.js'
import { boundsOf, cursorOptions, iteratorOptions, rangeOf, rangeOptions } from './ranges.js'
import type { LevelDownManifest, Status } from './types.js'
import { WaitingCursor } from './waiting-cursor.js'

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
  /** Whether calls before `open()` succeed, as those of memdown do. The database is then opened for them. */
  readonly worksUnopened?: boolean
  /** Makes the database. It begins to open in the next microtask, unless it is opened or closed before. */
  create(): AnyLevel
  /** Checks and changes the options of `open()` for the database. */
  openOptions?(options: Options): object
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
  /** Whether the database was opened for calls before `open()`. */
  isUnopened: boolean
  /** Calls that wait until the database is open, in order. */
  waiting: Array<() => void> | undefined
  /** Whether the calls that have waited are being made. */
  isFlushing: boolean
  /** The running or last call of `open()`, or the one for calls before it, with those calls. */
  opening: Promise<void> | undefined
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
    const own = this[parts]
    const change = ++own.changes
    own.passing = 'opening'
    let opening: Promise<void>
    try {
      const wanted = openOptions(options)
      const given = own.origin.openOptions?.(wanted) ?? wanted
      const level = own.level ?? adopt(this, own.origin.create())
      opening = own.isUnopened ? openWith(own, level, given) : level.open(given as never)
    } catch (error) {
      opening = Promise.reject(error)
    }
    own.isUnopened = false
    own.opening = opening
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
    own.isUnopened = false
    const closing =
      own.waiting === undefined
        ? (own.level?.close() ?? Promise.resolve())
        : (own.opening as Promise<void>).then(() => own.level?.close())
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
    const { ignoresEmptyBounds } = this[parts].origin
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
    const { fillsAbsent, ignoresEmptyBounds } = this[parts].origin
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

/** Whether a call can be made now. */
function isUsable(db: Database): boolean {
  const { isUnopened, isFlushing, waiting, level } = db[parts]
  return db.isOperational() || isFlushing || (isUnopened && waiting === undefined && level?.status === 'open')
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
  if (!waits(db, again)) nextTick(callback, db._translated(error))
}

/** @throws Error if the database makes no cursors before it is open. */
function waitingCursor(db: Database, options: DirectCursorOptions): WaitingCursor {
  let isWaiting = false
  const making = new Promise<DirectCursor>((resolve, reject) => {
    isWaiting = waits(db, () => {
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

/** Lets a call wait until the database is open, if it takes calls before that. */
function waits(db: Database, work: () => void): boolean {
  const own = db[parts]
  const { status } = db
  if (own.origin.worksUnopened !== true || own.isFlushing) return false
  if (status !== 'new' && status !== 'opening') return false
  if (own.waiting !== undefined) {
    own.waiting.push(work)
    return true
  }
  if (own.level?.status === 'open') return false

  const level = own.level ?? adopt(db, own.origin.create())
  if (status === 'new') {
    own.isUnopened = true
    own.passing = 'new'
    own.changes++
    own.opening = level.open()
  }
  own.waiting = [work]
  // Later calls must not overtake those that wait.
  own.calls = undefined
  const flush = (): void => {
    const { waiting = [] } = own
    own.waiting = undefined
    own.calls = new DirectCalls(level)
    own.isFlushing = true
    for (const work of waiting) work()
    own.isFlushing = false
  }
  own.opening = (own.opening as Promise<void>).then(flush, flush)
  return true
}

/** Opens a database that has been opened for calls before `open()`: again, if that has options. */
async function openWith(own: Parts, level: AnyLevel, options: object): Promise<void> {
  await own.opening
  if (Object.keys(options).length > 0) await level.close()
  await level.open(options as never)
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

const { _batch } = Database.prototype

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
    changes: 0,
    isUnopened: false,
    waiting: undefined,
    isFlushing: false,
    opening: undefined
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

/**
 * Options of `open()` without those that belong to the layers above or would only wait for an open database, and without what is the
 * default anyway: the program may have given the database itself another one.
 */
function openOptions(options: Options): Options {
  const { keyEncoding, valueEncoding, passive, createIfMissing, errorIfExists, ...others } = options
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
