// A back-end that stores in a real database, and notes everything that is asked of it.

import { Level } from 'terrace'

const BYTES = { keyEncoding: 'view', valueEncoding: 'view' }

/** @typedef {{ kind: 'put' | 'del', key: string, value?: string }} ObservedOperation */

/**
 * What a learner's function did with the database. Keys are text as they are stored, so those of a sublevel begin with its prefix.
 *
 * - `reads`: the calls of get, getMany, has and hasMany: `{ call, keys, hasSnapshot }`
 * - `cursors`: iterators and what else walks over a range: `{ range, reverse, parts, delivered, covered, hasSnapshot, isClosed }`.
 *   `delivered` counts the entries that were handed out, some of which an iterator reads ahead. `covered` counts those in the range.
 * - `writes`: each `{ operations, sync }`, a batch being one write
 * - `clears`: each `{ range, reverse, limit }`
 * - `snapshots`: each `{ isClosed }`
 *
 * @typedef {object} Observed
 */

/** @returns {Observed} */
const nothing = () => ({ reads: [], cursors: [], writes: [], clears: [], snapshots: [] })

export class ObservedBackend {
  manifest = { encodings: { view: true } }
  /** @type {Observed} */
  observed = nothing()
  #inner
  #location

  /** @param {string} location - The directory of the database. */
  constructor(location) {
    this.#location = location
  }

  /** The real database. What is done with it directly is not noted. */
  get inner() {
    return this.#inner
  }

  /** Forgets what was noted so far. */
  reset() {
    this.observed = nothing()
  }

  async open() {
    this.#inner = new Level(this.#location, BYTES)
    await this.#inner.open()
  }

  async close() {
    await this.#inner.close()
  }

  get(key, _options, snapshot) {
    this.#noteRead('get', [key], snapshot)
    return this.#inner.get(key, from(snapshot))
  }

  getMany(keys, _options, snapshot) {
    this.#noteRead('getMany', keys, snapshot)
    return this.#inner.getMany(keys, from(snapshot))
  }

  has(key, _options, snapshot) {
    this.#noteRead('has', [key], snapshot)
    return this.#inner.has(key, from(snapshot))
  }

  hasMany(keys, _options, snapshot) {
    this.#noteRead('hasMany', keys, snapshot)
    return this.#inner.hasMany(keys, from(snapshot))
  }

  write(operations, sync) {
    const batch = []
    for (let index = 0; index < operations.length; index += 2) {
      const [key, value] = operations.slice(index, index + 2)
      batch.push(value === null ? { type: 'del', key } : { type: 'put', key, value })
    }
    const noted = batch.map(({ type, key, value }) => ({
      kind: type,
      key: text(key),
      ...(value !== undefined && { value: text(value) })
    }))
    this.observed.writes.push({ operations: noted, sync })
    return this.#inner.batch(batch, { sync })
  }

  clear({ reverse, limit, ...range }, snapshot) {
    this.observed.clears.push({ range: inText(bounds(range)), reverse, limit })
    return this.#inner.clear({ ...bounds(range), reverse, limit, ...from(snapshot) })
  }

  cursor({ reverse, ...options }, parts, snapshot) {
    const range = bounds(options)
    const noted = { range: inText(range), reverse, parts, delivered: 0, covered: 0 }
    Object.assign(noted, { hasSnapshot: snapshot !== undefined, isClosed: false })
    this.observed.cursors.push(noted)
    return new ObservedCursor(this.#inner, { ...range, reverse, ...from(snapshot) }, parts, noted)
  }

  snapshot() {
    const snapshot = this.#inner.snapshot()
    const noted = { isClosed: false }
    this.observed.snapshots.push(noted)
    return {
      inner: snapshot,
      close: () => {
        noted.isClosed = true
        return snapshot.close()
      }
    }
  }

  #noteRead(call, keys, snapshot) {
    this.observed.reads.push({ call, keys: keys.map(text), hasSnapshot: snapshot !== undefined })
  }
}

class ObservedCursor {
  #iterator
  #parts
  #noted

  constructor(inner, options, parts, noted) {
    this.#iterator = inner.iterator(options)
    this.#parts = parts
    this.#noted = noted
    // Counted in the same state, by keys alone.
    for (const _ of inner.iterateSync({ ...options, values: false })) noted.covered++
  }

  async read(size) {
    const entries = await this.#iterator.nextv(size)
    this.#noted.delivered += entries.length
    const parts = entries.flatMap(([key, value]) =>
      this.#parts === 'entries' ? [key, value] : [this.#parts === 'keys' ? key : value]
    )
    return [entries.length === 0, undefined, ...parts]
  }

  seek(target) {
    this.#noted.seeks = [...(this.#noted.seeks ?? []), text(target)]
    this.#iterator.seek(target)
  }

  close() {
    this.#noted.isClosed = true
    return this.#iterator.close()
  }
}

const text = (bytes) => Buffer.from(bytes).toString()

const from = (snapshot) => (snapshot === undefined ? {} : { snapshot: snapshot.inner })

const BOUNDS = ['gt', 'gte', 'lt', 'lte']

function bounds(options) {
  return Object.fromEntries(
    BOUNDS.filter((name) => options[name] !== undefined).map((name) => [name, options[name]])
  )
}

const inText = (range) => Object.fromEntries(Object.entries(range).map(([name, key]) => [name, text(key)]))
