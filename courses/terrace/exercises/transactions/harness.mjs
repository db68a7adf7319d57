// Pours once while somebody else fills the feeder, many times at once, and once too much.

import { join } from 'node:path'
import { ObservedLevel, outcome } from '../../support/observed-database.mjs'

/**
 * @typedef {[from: string, to: string, grams: number]} Pour
 *
 * @param {(db: object) => (...pour: Pour) => unknown} feeders
 * @param {{ entries: Array<[string, number]>, alone: Pour, filled: number, pours: Pour[], tooMuch: Pour }} data
 * @returns Whether something was read outside of a transaction, and whether the last call, which wants more than there is, was refused,
 *   in addition to the usual outcome.
 */
export default async function harness(feeders, { entries, alone, filled, pours, tooMuch }, { directory }) {
  const db = new FilledLevel(join(directory, 'database'), { valueEncoding: 'json' })
  await db.open()
  const pour = await feeders(db)
  await db.batch(entries.map(([key, value]) => ({ type: 'put', key, value })))
  db.forget()

  db.fill = filled
  await pour(...alone)
  await db.fillUnread(alone[0])
  await Promise.all(pours.map((args) => pour(...args)))
  const { hasReadOutside } = db
  return { hasReadOutside, ...(await outcome(db, await isRefused(() => pour(...tooMuch)))) }
}

/** A database in which somebody else fills a feeder as soon as it was read. */
class FilledLevel extends ObservedLevel {
  /** With how many grams; then nobody fills any more. */
  fill = 0
  /** Whether somebody read without a snapshot, as no transaction does. */
  hasReadOutside = false

  async get(key, options) {
    this.hasReadOutside ||= options?.snapshot === undefined
    const value = await super.get(key, options)
    await this.#fillOnce(key, value)
    return value
  }

  async getMany(keys, options) {
    this.hasReadOutside ||= options?.snapshot === undefined
    const values = await super.getMany(keys, options)
    await this.#fillOnce(keys[0], values[0])
    return values
  }

  /** Fills a feeder that was not read by key, so that there is as much in the end. */
  async fillUnread(key) {
    await this.#fillOnce(key, await super.get(key))
  }

  async #fillOnce(key, value) {
    const grams = this.fill
    this.fill = 0
    if (grams > 0 && typeof value === 'number') await this.put(key, value + grams)
  }
}

async function isRefused(action) {
  try {
    await action()
    return false
  } catch (error) {
    // A mistake in the program is no refusal.
    if (error instanceof TypeError || error instanceof ReferenceError) throw error
    return true
  }
}
