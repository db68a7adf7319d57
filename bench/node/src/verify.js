/** Checks that a database holds what was written, no more and no less. This is never within measured time. */

import { VerificationError } from './errors.js'

const PAGE = 1000
const MISSING_KEYS = 100

/** Which of the numbers below `n` were written as entries. */
export class Written {
  #flags
  count = 0

  /** @param {number} n */
  constructor(n) {
    this.#flags = new Uint8Array(n)
  }

  /** All numbers below `n`. @param {number} n */
  static all(n) {
    const written = new Written(n)
    written.#flags.fill(1)
    written.count = n
    return written
  }

  get size() {
    return this.#flags.length
  }

  /** @param {number} index */
  add(index) {
    if (this.#flags[index] === 1) return
    this.#flags[index] = 1
    this.count++
  }

  /** @param {number} index */
  has(index) {
    return this.#flags[index] === 1
  }
}

/**
 * Reads the whole database: every key must be one that was written, in order, with the value that belongs to it, and
 * their count must be right. Keys that were never written must not be found.
 * @param {import('./session.js').Session} session
 * @param {Written} written
 */
export async function verify(session, written) {
  const { entries } = session
  let count = 0
  let last = -1
  for await (const page of pages(session)) {
    for (const [key, value] of page) {
      const index = entries.indexOf(key)
      if (!written.has(index)) throw new VerificationError(`the key ${key} was never written`)
      if (index <= last) throw new VerificationError(`the key ${key} comes after number ${last}`)
      if (!entries.holds(index, value)) throw new VerificationError(`the key ${key} has a wrong value`)
      last = index
    }
    count += page.length
  }
  if (count !== written.count) {
    throw new VerificationError(`${written.count} entries were written, but ${count} were found`)
  }
  await verifyMissing(session, written.size)
}

/** @param {import('./session.js').Session} session @param {number} n */
async function verifyMissing(session, n) {
  const { db, entries } = session
  const get = session.prefer('get', 'getSync')
  const step = Math.max(1, Math.floor(n / MISSING_KEYS))
  for (let index = 0; index < n; index += step) {
    const key = entries.missingKey(index)
    if ((await db[get](key)) !== undefined)
      throw new VerificationError(`the key ${key} is found, but was never written`)
  }
}

/**
 * All entries, some at a time.
 * @param {import('./session.js').Session} session
 * @returns {AsyncGenerator<[any, any][]>}
 */
async function* pages(session) {
  if (session.has('iterator')) {
    const iterator = session.db.iterator()
    for (;;) {
      const page = await iterator.nextv(PAGE)
      if (page.length === 0) break
      yield page
    }
    await iterator.close()
    return
  }
  /** @type {[any, any][]} */
  let page = []
  for (const entry of session.db.iterateSync({})) {
    page.push(entry)
    if (page.length < PAGE) continue
    yield page
    page = []
  }
  yield page
}
