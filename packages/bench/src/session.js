/** A database of a target that is open, in a folder of its own, with the entries that belong in it. */

import { rm } from 'node:fs/promises'

/**
 * @typedef {object} SessionOptions
 * @property {string} keyEncoding
 * @property {string} valueEncoding
 * @property {boolean} sync
 */

export class Session {
  #location

  /**
   * @param {import('./targets/load.js').DatabaseClass} Class
   * @param {import('./targets/resolve.js').Target} target
   * @param {string} location
   * @param {import('./entries.js').Entries} entries
   * @param {SessionOptions} options
   */
  constructor(Class, target, location, entries, { keyEncoding, valueEncoding, sync }) {
    this.target = target
    this.#location = location
    this.entries = entries
    this.isAdapter = target.adapter !== null
    const options = { ...target.options, keyEncoding, valueEncoding, ...(this.isAdapter && { sync }) }
    this.db = target.inMemory ? new Class(options) : new Class(location, options)
    /** What a write is called with; undefined where there is nothing to say, which is the cheaper call. */
    this.writeOptions = sync && !this.isAdapter ? { sync } : undefined
  }

  async open() {
    await this.db.open()
    return this
  }

  /**
   * True if the database can do it. abstract-level's class has methods that only throw, and says so.
   * @param {string} method
   */
  has(method) {
    return typeof this.db[method] === 'function' && this.db.supports?.[method] !== false
  }

  /**
   * The first of `methods` that the database has.
   * @param {string[]} methods
   */
  prefer(...methods) {
    const found = methods.find((method) => this.has(method))
    if (found === undefined) throw new Error(`${this.target.name} has none of ${methods.join(', ')}`)
    return found
  }

  /** The same for a sublevel of it. @param {any} sublevel */
  of(sublevel) {
    return Object.assign(Object.create(this), { db: sublevel })
  }

  async close() {
    await this.db.close()
    if (!this.target.inMemory) await rm(this.#location, { recursive: true, force: true })
  }
}
