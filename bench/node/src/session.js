/** An open database of a target, in a separate directory, with the entries that belong in it. */

import { rm } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { bytesOf, drop, filesOf, residentBytes } from './page-cache.js'

/**
 * @typedef {object} SessionOptions
 * @property {string} keyEncoding
 * @property {string} valueEncoding
 * @property {boolean} sync
 */

export class Session {
  #location
  #make
  #onClosed

  /**
   * @param {import('./targets/load.js').DatabaseClass} Class
   * @param {import('./targets/resolve.js').Target} target
   * @param {string} location
   * @param {import('./entries.js').Entries} entries
   * @param {SessionOptions} options
   * @param {(fileBytes: number) => void} onClosed called with the final size of its files
   */
  constructor(Class, target, location, entries, { keyEncoding, valueEncoding, sync }, onClosed) {
    this.#onClosed = onClosed
    this.target = target
    this.#location = location
    this.entries = entries
    this.isAdapter = target.adapter !== null
    const options = { ...target.options, keyEncoding, valueEncoding, ...(this.isAdapter && { sync }) }
    this.#make = () => (target.inMemory ? new Class(options) : new Class(location, options))
    this.db = this.#make()
    /** The options of writes; undefined if there are none, since a call without options is cheaper. */
    this.writeOptions = sync && !this.isAdapter ? { sync } : undefined
  }

  async open() {
    await this.db.open()
    return this
  }

  /**
   * Whether the database can do it. The class of abstract-level has methods that only throw, and says so.
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

  /** The same session for a sublevel of the database. @param {any} sublevel */
  of(sublevel) {
    return Object.assign(Object.create(this), { db: sublevel })
  }

  /** Closes the database until `resume()`. A database in memory stays open, because its entries would be gone. */
  async suspend() {
    if (this.target.inMemory) return
    await this.db.close()
    this.db = null
  }

  async resume() {
    if (this.target.inMemory) return
    this.db = this.#make()
    await this.db.open()
  }

  /**
   * Closes the database, drops its files from memory, and opens it again. A database in memory is left unchanged.
   * @returns {Promise<{ fileBytes: number, residentAtStartBytes: number | null }>} of its files, as they were in between
   */
  async reopenCold() {
    if (this.target.inMemory) return { fileBytes: 0, residentAtStartBytes: 0 }
    await this.suspend()
    // Mapped pages stay in memory, and some databases unmap them only when they are collected.
    globalThis.gc?.()
    await setTimeout(20)
    const files = filesOf(this.#location)
    await drop(files)
    const found = { fileBytes: bytesOf(files), residentAtStartBytes: await residentBytes(files) }
    await this.resume()
    return found
  }

  /** How much of its files is in memory now; null if that cannot be known. */
  async residentBytes() {
    return this.target.inMemory ? 0 : residentBytes(filesOf(this.#location))
  }

  /** Closes the database and removes it. */
  async close() {
    await this.db.close()
    if (this.target.inMemory) return
    this.#onClosed(bytesOf(filesOf(this.#location)))
    await rm(this.#location, { recursive: true, force: true })
  }
}
