/** Operations that are collected one by one. */

import type { DirectData } from 'terrace-core'
import { assertCallback, optionsOf } from './checks.js'
import { nextTick } from './next-tick.js'
import { type Flat, kept, type OperationsHost } from './operations.js'

type Callback = (error?: Error | null) => void

/** The database of a batch, as far as the batch needs it. */
export interface BatchHost extends OperationsHost {
  _writeChained(operations: Flat, options: object, callback: Callback): void
}

export class ChainedBatch {
  readonly db: BatchHost
  /** Keys and values alternate, with null for the value of a key to delete. */
  _flat: Flat = []
  _written = false

  constructor(db: BatchHost) {
    this.db = db
  }

  get length(): number {
    return this._flat.length / 2
  }

  put(key: unknown, value: unknown, options?: object): this {
    this._checkWritten()
    const { db } = this
    const error = db._checkKey(key) ?? db._checkValue(value)
    if (error !== undefined) throw error
    this._put(db._serializeKey(key), db._serializeValue(value), options ?? noOptions)
    return this
  }

  del(key: unknown, options?: object): this {
    this._checkWritten()
    const { db } = this
    const error = db._checkKey(key)
    if (error !== undefined) throw error
    this._del(db._serializeKey(key), options ?? noOptions)
    return this
  }

  clear(): this {
    this._checkWritten()
    this._clear()
    return this
  }

  write(options: unknown, callback?: unknown): void {
    this._checkWritten()
    const done = typeof options === 'function' ? options : callback
    assertCallback(done, 'write()')
    this._written = true
    this._write(optionsOf(options), done as Callback)
  }

  // ---- methods that a class that extends this one may replace ----

  _put(key: DirectData, value: DirectData, _options: object): void {
    this._flat.push(kept(key), kept(value))
  }

  _del(key: DirectData, _options: object): void {
    this._flat.push(kept(key), null)
  }

  _clear(): void {
    this._flat = []
  }

  _write(options: object, callback: Callback): void {
    this.db._writeChained(this._flat, options, callback)
  }

  _checkWritten(): void {
    if (this._written) throw new Error('write() already called on this batch')
  }

  _nextTick(callback: (...args: never[]) => void, ...args: unknown[]): void {
    nextTick(callback, ...args)
  }
}

const noOptions = Object.freeze({})
