/** lmdb with those methods of abstract-level that it has an equivalent of. It reads synchronously, and writes both ways. */

const ENCODINGS = {
  utf8: { keyEncoding: 'ordered-binary', encoding: 'string' },
  buffer: { keyEncoding: 'binary', encoding: 'binary' }
}

/** @typedef {{ gte?: any, lt?: any, limit?: number, reverse?: boolean, keys?: boolean, values?: boolean }} Range */
/** @typedef {{ type: 'put' | 'del', key: any, value?: any }} Operation */

/** @param {any} lmdb */
export function adapt(lmdb) {
  return class Lmdb {
    static encodings = Object.keys(ENCODINGS)

    #location
    #options
    /** @type {any} */
    #db

    /**
     * @param {string} location
     * @param {{ keyEncoding: 'utf8' | 'buffer', valueEncoding: 'utf8' | 'buffer', sync: boolean }} options
     */
    constructor(location, { keyEncoding, valueEncoding, sync, ...options }) {
      this.#location = location
      this.#options = {
        keyEncoding: ENCODINGS[keyEncoding].keyEncoding,
        encoding: ENCODINGS[valueEncoding].encoding,
        // A commit waits for the disk, or nothing does. The modes in between have no equivalent in the other databases.
        ...(sync ? { overlappingSync: false } : { noSync: true }),
        ...options
      }
    }

    async open() {
      this.#db = lmdb.open({ path: this.#location, ...this.#options })
    }

    async close() {
      await this.#db.close()
    }

    /** @param {any} key @param {any} value */
    put(key, value) {
      return this.#db.put(key, value)
    }

    /** @param {any} key @param {any} value */
    putSync(key, value) {
      this.#db.putSync(key, value)
    }

    /** @param {any} key */
    delSync(key) {
      this.#db.removeSync(key)
    }

    /** Committed as a whole by the writing thread. @param {Operation[]} operations */
    batch(operations) {
      return this.#db.batch(() => {
        for (const { type, key, value } of operations) {
          if (type === 'put') this.#db.put(key, value)
          else this.#db.remove(key)
        }
      })
    }

    /** @param {Operation[]} operations */
    batchSync(operations) {
      this.#db.transactionSync(() => {
        for (const { type, key, value } of operations) {
          if (type === 'put') this.#db.putSync(key, value)
          else this.#db.removeSync(key)
        }
      })
    }

    /** @param {any} key */
    getSync(key) {
      return this.#db.get(key)
    }

    /** @param {any[]} keys */
    getMany(keys) {
      return this.#db.getMany(keys)
    }

    /** @param {Range} range @returns {Iterable<[any, any]>} */
    iterateSync({ gte, lt, limit, reverse } = {}) {
      const range = reverse ? { start: lt, end: gte } : { start: gte, end: lt }
      return this.#db.getRange({ ...range, limit, reverse }).map(entryOf)
    }

    async clear() {
      await this.#db.clearAsync()
    }
  }
}

/** @param {{ key: any, value: any }} entry */
function entryOf({ key, value }) {
  return [key, value]
}
