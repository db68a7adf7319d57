/** better-sqlite3 with those methods of abstract-level that it has an equivalent of. It does everything synchronously. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

const TYPES = { utf8: 'TEXT', buffer: 'BLOB' }

/** @typedef {{ gte?: any, lt?: any, limit?: number, reverse?: boolean }} Range */
/** @typedef {{ type: 'put' | 'del', key: any, value?: any }} Operation */

/** @param {any} Database */
export function adapt(Database) {
  return class BetterSqlite3 {
    static encodings = Object.keys(TYPES)

    #location
    #options
    /** @type {any} */
    #db
    /** @type {Record<string, any>} */
    #statements = {}
    /** @type {any} */
    #batch

    /**
     * @param {string} location
     * @param {{ keyEncoding: 'utf8' | 'buffer', valueEncoding: 'utf8' | 'buffer', sync: boolean }} options
     */
    constructor(location, options) {
      this.#location = location
      this.#options = options
    }

    async open() {
      const { keyEncoding, valueEncoding, sync, ...options } = this.#options
      mkdirSync(this.#location, { recursive: true })
      const db = new Database(join(this.#location, 'entries.sqlite'), options)
      db.pragma('journal_mode = WAL')
      db.pragma(`synchronous = ${sync ? 'FULL' : 'OFF'}`)
      db.exec(
        `CREATE TABLE IF NOT EXISTS entries (key ${TYPES[keyEncoding]} PRIMARY KEY, value ${TYPES[valueEncoding]} NOT NULL) ` +
          'WITHOUT ROWID'
      )
      const all = 'SELECT key, value FROM entries'
      const statements = {
        put: db.prepare('INSERT INTO entries VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value'),
        del: db.prepare('DELETE FROM entries WHERE key = ?'),
        get: db.prepare('SELECT value FROM entries WHERE key = ?').pluck(),
        clear: db.prepare('DELETE FROM entries'),
        forwards: db.prepare(`${all} ORDER BY key LIMIT ?`).raw(),
        backwards: db.prepare(`${all} ORDER BY key DESC LIMIT ?`).raw(),
        range: db.prepare(`${all} WHERE key >= ? ORDER BY key LIMIT ?`).raw()
      }
      this.#db = db
      this.#statements = statements
      this.#batch = db.transaction((/** @type {Operation[]} */ operations) => {
        for (const { type, key, value } of operations) {
          if (type === 'put') statements.put.run(key, value)
          else statements.del.run(key)
        }
      })
    }

    async close() {
      this.#db.close()
    }

    /** @param {any} key @param {any} value */
    putSync(key, value) {
      this.#statements.put.run(key, value)
    }

    /** @param {any} key */
    delSync(key) {
      this.#statements.del.run(key)
    }

    /** One transaction. @param {Operation[]} operations */
    batchSync(operations) {
      this.#batch(operations)
    }

    /** @param {any} key */
    getSync(key) {
      return this.#statements.get.get(key)
    }

    /** @param {Range} range @returns {Iterable<[any, any]>} */
    iterateSync({ gte, limit = -1, reverse } = {}) {
      if (gte !== undefined) return this.#statements.range.iterate(gte, limit)
      return (reverse ? this.#statements.backwards : this.#statements.forwards).iterate(limit)
    }

    clearSync() {
      this.#statements.clear.run()
    }
  }
}
