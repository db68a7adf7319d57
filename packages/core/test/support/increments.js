// Increments of counters by several writers, each a get and a put that takes place only if the value is the one that was read. A
// mark is written with each, so that it shows afterwards which increments took place, and how often.

import assert from 'node:assert/strict'
import { turns } from '../../../../tests/support/waiting.mjs'

const COUNT = 'count-'
const MARK = 'mark-'

/** One of the writers. */
export class Incrementer {
  /** The marks of increments that were acknowledged, and of those whose outcome is not known. */
  done = []
  unknown = []
  conflicts = 0
  #db
  #name
  #counters
  #number = 0

  /**
   * @param db - Has texts as keys and values.
   * @param name - Differs from those of the other writers.
   * @param counters - The more there are, the sooner a writer that is slower than the others finds one that it alone increments.
   */
  constructor(db, name, counters = 1) {
    this.#db = db
    this.#name = name
    this.#counters = counters
  }

  /** Adds one, however often others come first. Returns the mark, and whether the outcome is known. */
  async increment() {
    const mark = `${MARK}${this.#name}-${this.#number++}`
    for (;;) {
      const key = `${COUNT}${Math.floor(Math.random() * this.#counters)}`
      const value = await this.#db.get(key)
      try {
        await this.#db.batch(
          [
            { type: 'put', key, value: String(Number(value ?? 0) + 1) },
            { type: 'put', key: mark, value: '' }
          ],
          {
            if: [value === undefined ? { key, exists: false } : { key, value }, { key: mark, exists: false }]
          }
        )
        this.done.push(mark)
        return { mark, isKnown: true }
      } catch (error) {
        if (error.code === 'NET_WRITE_UNKNOWN' || error.code === 'LEVEL_LEADER_LOST') {
          this.unknown.push(mark)
          return { mark, isKnown: false }
        }
        assert.equal(error.code, 'LEVEL_CONFLICT', error.stack)
        // A write that had been done twice would find its own mark.
        assert.deepEqual(error.conditions, [0], 'the write was done before its conflict was reported')
        this.conflicts++
        // In step with another writer that always comes first, it would never get its turn.
        await turns(Math.floor(Math.random() * 20))
      }
    }
  }

  async run(count) {
    for (let left = count; left > 0; left--) await this.increment()
  }
}

/**
 * Checks that each acknowledged increment took place, each of unknown outcome at most once, and no other.
 *
 * @param writers - What each has in `done` and `unknown`.
 */
export async function checkIncrements(db, writers) {
  const keysOf = (prefix) => db.keys({ gte: prefix, lt: prefix.replace('-', '.') }).all()
  const [counters, marks] = await Promise.all([keysOf(COUNT), keysOf(MARK)])
  const counts = await Promise.all(counters.map((key) => db.get(key)))
  const missing = writers.flatMap(({ done }) => done.filter((mark) => !marks.includes(mark)))
  assert.deepEqual(missing, [])
  const called = new Set(writers.flatMap(({ done, unknown }) => [...done, ...unknown]))
  assert.deepEqual(
    marks.filter((mark) => !called.has(mark)),
    []
  )
  const sum = counts.reduce((all, count) => all + Number(count), 0)
  assert.equal(sum, marks.length)
}
