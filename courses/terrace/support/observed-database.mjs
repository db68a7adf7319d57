// A fresh database that notes what a learner's function does with it, for the harnesses of the exercises.

import { join } from 'node:path'
import { BackendLevel } from 'terrace-core'
import { ObservedBackend } from './observed-backend.mjs'

/** Has the API of `Level`, on a real database, and notes what is asked of it. */
export class ObservedLevel extends BackendLevel {
  #backend

  constructor(location, options) {
    const backend = new ObservedBackend(location)
    super(backend, options)
    this.#backend = backend
  }

  /** What was done since `forget()`: see `Observed` in observed-backend.mjs. */
  get observed() {
    return this.#backend.observed
  }

  /** Forgets what was done so far, such as filling it. */
  forget() {
    this.#backend.reset()
  }

  /** All entries as text, read without being noted. */
  async contents() {
    return this.#backend.inner.iterator({ keyEncoding: 'utf8', valueEncoding: 'utf8' }).all()
  }
}

/**
 * Makes an observed database below `directory`, with `entries` in it.
 *
 * @param {string} directory
 * @param {Array<[key: unknown, value: unknown]>} [entries]
 * @param {object} [options] - Those of a database, such as `valueEncoding`.
 */
export async function observedDatabase(directory, entries = [], options = {}) {
  const db = new ObservedLevel(join(directory, 'database'), options)
  await db.open()
  await db.batch(entries.map(([key, value]) => ({ type: 'put', key, value })))
  db.forget()
  return db
}

/**
 * What a harness usually sends to its check: what the function returned, what the database holds, and what was done with it.
 * It closes the database.
 *
 * @param {ObservedLevel} db
 * @param {unknown} returned
 */
export async function outcome(db, returned) {
  const { observed } = db
  const isOpen = db.status === 'open'
  // What the learner has left open is told before closing ends it.
  const told = structuredClone(observed)
  if (!isOpen) await db.open()
  const contents = await db.contents()
  await db.close()
  return { returned, contents, isOpen, ...told }
}
