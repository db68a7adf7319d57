// The smallest back-end: a sorted array of entries. It does what the interface promises and no more, with random delays and
// errors, and so shows what the classes above it may rely on.

import { isDeepStrictEqual } from 'node:util'
import { conflict } from 'terrace-core'
import { turns } from '../../../../tests/support/waiting.mjs'
import { randomOf } from './random.js'

/** The code of the errors that calls fail with. */
export const FAILURE = 'ARRAY_FAILED'

/** Larger keys are refused. */
const MAX_KEY_BYTES = 1 << 20

/** The most keys that are read within the call. */
const MAX_AT_ONCE = 1000

/** The entries of a new back-end. An array never changes: each write makes another one. */
const nothing = Object.freeze([])

export class ArrayBackend {
  manifest
  #random
  #failures
  #entries = nothing
  /** The version of the last operation. */
  #version = 0
  /** The key of each operation, in the order of their versions, which begin with 1. */
  #changes = []
  /** Writes that are not done yet: `{ operations, conditions, resolve, reject }`. */
  #waiting = []
  #writing = Promise.resolve()
  /** The numbers of calls, for tests that ask. */
  calls = { write: 0, read: 0, failed: 0 }

  /**
   * @param options.formats - The formats of keys and values.
   * @param options.sync - Whether it has synchronous methods, and sometimes answers at once.
   * @param options.failures - The share of reads and writes that fail: 0 to 1. May be changed.
   */
  constructor({ formats = ['utf8', 'buffer', 'view'], sync = false, failures = 0, seed = 1 } = {}) {
    this.manifest = {
      encodings: Object.fromEntries(formats.map((format) => [format, true])),
      syncReads: sync,
      syncWrites: sync,
      conditionalWrites: true,
      versions: true,
      permanence: false
    }
    this.#random = randomOf(seed)
    this.#failures = failures

    if (sync) {
      this.getSync = (key, options, snapshot) => this.#valueIn(this.#stateOf(snapshot), key, options)
      this.writeSync = (operations) => this.#writeNow({ operations: copyOf(operations) })
      this.writeIfSync = (conditions, operations) =>
        this.#writeNow({ operations: copyOf(operations), conditions: conditions.map(copyOfCondition) })
    }
  }

  set failures(share) {
    this.#failures = share
  }

  async open() {
    await this.#pause()
  }

  async close() {
    await this.#writing
    await this.#pause()
  }

  get(key, options, snapshot) {
    const wanted = bytesOf(key)
    return this.#answer(() => this.#valueIn(this.#stateOf(snapshot), wanted, options))
  }

  getEntry(key, options, snapshot) {
    const wanted = bytesOf(key)
    return this.#answer(() => {
      const state = this.#stateOf(snapshot)
      const { index, isThere } = indexOf(state, wanted)
      return isThere ? [this.#valueIn(state, wanted, options), state[index].version] : undefined
    })
  }

  getMany(keys, options, snapshot) {
    this.calls.read++
    const wanted = keys.map(bytesOf)
    return this.#answer(() => {
      const state = this.#stateOf(snapshot)
      return wanted.map((key) => this.#valueIn(state, key, options))
    }, keys.length)
  }

  has(key, _options, snapshot) {
    const wanted = bytesOf(key)
    return this.#answer(() => indexOf(this.#stateOf(snapshot), wanted).isThere)
  }

  hasMany(keys, _options, snapshot) {
    const wanted = keys.map(bytesOf)
    return this.#answer(() => {
      const state = this.#stateOf(snapshot)
      return wanted.map((key) => indexOf(state, key).isThere)
    }, keys.length)
  }

  write(operations, sync) {
    return this.#write({ operations: copyOf(operations) }, sync)
  }

  writeIf(conditions, operations, sync) {
    return this.#write({ operations: copyOf(operations), conditions: conditions.map(copyOfCondition) }, sync)
  }

  #write(write, sync) {
    const isAtOnce = this.manifest.syncWrites && !sync && this.#waiting.length === 0 && this.#chance(0.5)
    if (isAtOnce) return this.#writeNow(write)

    const written = new Promise((resolve, reject) => {
      this.#waiting.push({ ...write, resolve, reject })
    })
    this.#writing = this.#writing.then(() => this.#writeNext(sync))
    return written
  }

  cursor(options, parts, snapshot) {
    return new ArrayCursor(this, within(this.#stateOf(snapshot), options), options, parts)
  }

  snapshot() {
    return { entries: this.#entries, close: () => this.#pause() }
  }

  /** The result of some work, at once or later. The work sees the state at the time it is done. */
  #answer(work, size = 1) {
    const isLarge = size > MAX_AT_ONCE
    if (this.manifest.syncReads && !isLarge && this.#chance(0.5)) {
      this.#failAtTimes()
      return work()
    }

    return this.#later(work, isLarge)
  }

  async #later(work, isLarge) {
    const isEarly = this.#chance(0.5)
    const early = isEarly ? work() : undefined
    await (isLarge ? turns() : this.#pause())
    this.#failAtTimes()
    return isEarly ? early : work()
  }

  async #writeNext(sync) {
    // A disk takes its time.
    await (sync ? turns() : this.#pause())
    // A synchronous write may have done it.
    const next = this.#waiting.shift()
    if (next !== undefined) this.#settle(next)
  }

  #settle(write) {
    try {
      this.#apply(write)
      write.resolve()
    } catch (error) {
      write.reject(error)
    }
  }

  #writeNow(write) {
    for (const each of this.#waiting.splice(0)) this.#settle(each)
    this.#apply(write)
  }

  #apply({ operations, conditions = [] }) {
    this.calls.write++
    if (operations.length > 0) this.#failAtTimes()
    const failed = [...conditions.keys()].filter((index) => !this.#holds(conditions[index]))
    if (failed.length > 0) throw conflict(failed, conditions.length)
    this.#entries = written(this.#entries, operations, this.#version)
    this.#version += operations.length / 2
    this.#changes.push(...operations.filter((_, index) => index % 2 === 0))
  }

  #holds({ kind, key, value, range, snapshot, version }) {
    if (kind === 'unchanged') {
      return isDeepStrictEqual(within(this.#entries, range), within(snapshot.entries, range))
    }
    if (kind === 'unchangedSinceVersion') return !this.#changes.slice(version).some((key) => isIn(range, key))
    const { index, isThere } = indexOf(this.#entries, key)
    if (kind === 'version') return isThere && this.#entries[index].version === version
    if (kind === 'equals') return isThere && this.#entries[index].value.equals(value)
    return isThere === (kind === 'present')
  }

  #failAtTimes() {
    if (!this.#chance(this.#failures)) return
    this.calls.failed++
    throw Object.assign(new Error('The array has failed'), { code: FAILURE })
  }

  async #pause() {
    const chance = this.#random()
    if (chance < 0.4) for (let i = Math.floor(chance * 20); i > 0; i--) await null
    else if (chance < 0.97) await turns()
    else await turns(5)
  }

  #chance(share) {
    return share > 0 && this.#random() < share
  }

  #stateOf(snapshot) {
    return snapshot === undefined ? this.#entries : snapshot.entries
  }

  #valueIn(entries, key, { valueEncoding }) {
    const { index, isThere } = indexOf(entries, bytesOf(key))
    return isThere ? inFormat(entries[index].value, valueEncoding, this.manifest) : undefined
  }

  /** For cursors: a read that takes its time. */
  read(work) {
    return this.#answer(work)
  }
}

class ArrayCursor {
  #backend
  #entries
  #options
  #parts
  #position = 0

  constructor(backend, entries, options, parts) {
    this.#backend = backend
    this.#options = options
    this.#entries = options.reverse ? entries.toReversed() : entries
    this.#parts = parts
    if (backend.manifest.syncReads)
      this.readSync = (size, highWaterMarkBytes) => this.#read(size, highWaterMarkBytes)
  }

  read(size, highWaterMarkBytes) {
    return this.#backend.read(() => this.#read(size, highWaterMarkBytes))
  }

  seek(target) {
    const wanted = bytesOf(target)
    const { reverse } = this.#options
    const isNotBefore = ({ key }) => (reverse ? wanted.compare(key) >= 0 : wanted.compare(key) <= 0)
    const index = isIn(this.#options, wanted) ? this.#entries.findIndex(isNotBefore) : -1
    this.#position = index === -1 ? this.#entries.length : index
  }

  async close() {}

  #read(size, highWaterMarkBytes) {
    const { keyEncoding, valueEncoding } = this.#options
    const end = Math.min(this.#position + size, this.#entries.length)
    const parts = []
    for (let bytes = 0; this.#position < end && bytes <= highWaterMarkBytes; this.#position++) {
      const { key, value } = this.#entries[this.#position]
      if (this.#parts !== 'values') parts.push(inFormat(key, keyEncoding, this.#backend.manifest))
      if (this.#parts !== 'keys') parts.push(inFormat(value, valueEncoding, this.#backend.manifest))
      bytes += key.length + value.length
    }
    return [this.#position >= this.#entries.length, undefined, ...parts]
  }
}

/** The entries after these operations, the first of which has the version after `version`. */
function written(entries, operations, version) {
  const after = [...entries]
  for (let i = 0; i < operations.length; i += 2) {
    const [key, value] = [operations[i], operations[i + 1]]
    const { index, isThere } = indexOf(after, key)
    after.splice(
      index,
      isThere ? 1 : 0,
      ...(value === null ? [] : [{ key, value, version: version + i / 2 + 1 }])
    )
  }
  return Object.freeze(after)
}

/** The index of a key, or where it would be inserted. */
function indexOf(entries, key) {
  let [low, high] = [0, entries.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (entries[middle].key.compare(key) < 0) low = middle + 1
    else high = middle
  }
  return { index: low, isThere: low < entries.length && entries[low].key.equals(key) }
}

function within(entries, options) {
  return entries.filter(({ key }) => isIn(options, key))
}

function isIn({ gte, gt, lte, lt }, key) {
  if (gte !== undefined ? bytesOf(gte).compare(key) > 0 : gt !== undefined && bytesOf(gt).compare(key) >= 0)
    return false
  return lte !== undefined ? bytesOf(lte).compare(key) >= 0 : lt === undefined || bytesOf(lt).compare(key) > 0
}

/** A copy of operations and their bytes. Throws if one is refused; nothing has happened then. */
function copyOf(operations) {
  for (let i = 0; i < operations.length; i += 2) {
    if (operations[i].length > MAX_KEY_BYTES) {
      throw Object.assign(new Error('A key is too large'), { code: 'LEVEL_INVALID_ARGUMENT' })
    }
  }
  return operations.map((part) => (part === null ? null : Buffer.from(part)))
}

function copyOfCondition({ key, value, ...rest }) {
  return {
    ...rest,
    ...(key !== undefined && { key: bytesOf(key) }),
    ...(value !== undefined && { value: bytesOf(value) })
  }
}

function bytesOf(part) {
  return Buffer.from(part)
}

/** Bytes that belong to their receiver. As in the engine, a view is a buffer, unless there are no buffers. */
function inFormat(bytes, format, { encodings }) {
  if (format === 'utf8') return bytes.toString()
  return encodings.buffer ? Buffer.from(bytes) : new Uint8Array(bytes)
}
