// Decodes the keys in Chromium's IndexedDB databases that the demo shows. Chromium defines the layout in
// content/browser/indexed_db/indexed_db_leveldb_coding.cc.

/** Metadata of the whole directory: database names. */
const DATABASE_NAME = 201
/** Metadata of a database: what is known about an object store. */
const OBJECT_STORE = 50
/** Metadata of a database: what is known about an index. */
const INDEX = 100
/** Of an object store or index: its name. */
const NAME = 0
/** Index ids: the records themselves, and the first real index. */
const RECORDS = 1
const FIRST_INDEX = 30

class Bytes {
  #bytes
  #at = 0

  constructor(bytes) {
    this.#bytes = bytes
  }

  take(count) {
    this.#at += count
    return this.#bytes.subarray(this.#at - count, this.#at)
  }

  byte() {
    return this.take(1)[0]
  }

  rest() {
    return this.#bytes.subarray(this.#at)
  }

  /** An unsigned little-endian number of this many bytes. */
  number(width) {
    return this.take(width).readUIntLE(0, width)
  }

  varint() {
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte()
      value += (byte & 127) * factor
      if (byte < 128) return value
    }
  }

  text() {
    return utf16(this.take(2 * this.varint()))
  }
}

const utf16 = (bytes) => Buffer.from(bytes).swap16().toString('utf16le')

/** The value of an encoded IndexedDB key, as readable text. */
function keyValue(bytes) {
  const type = bytes.byte()
  switch (type) {
    case 1:
      return JSON.stringify(bytes.text())
    case 2:
      return new Date(bytes.take(8).readDoubleLE()).toISOString()
    case 3:
      return String(bytes.take(8).readDoubleLE())
    case 4:
      return `[${Array.from({ length: bytes.varint() }, () => keyValue(bytes)).join(', ')}]`
    case 6:
      return `0x${bytes.take(bytes.varint()).toString('hex')}`
    default:
      return `(type ${type})`
  }
}

/**
 * Lists the contents of a directory of IndexedDB databases.
 *
 * Returns databases, each with its name and object stores. Each of those has its name, number of records, first keys, and
 * indexes with their names and numbers of entries.
 */
export async function listDatabases(db, keysShown) {
  const databases = new Map()
  const storesOf = new Map()
  const database = (id) => entry(storesOf, id, () => new Map())
  const store = (databaseId, id) =>
    entry(database(databaseId), id, () => ({ name: '', records: 0, keys: [], indexes: new Map() }))
  const index = (databaseId, storeId, id) =>
    entry(store(databaseId, storeId).indexes, id, () => ({ name: '', entries: 0 }))

  for await (const [key, value] of db.iterator()) {
    const bytes = new Bytes(key)
    const widths = bytes.byte()
    const databaseId = bytes.number((widths >> 5) + 1)
    const storeId = bytes.number(((widths >> 2) & 7) + 1)
    const indexId = bytes.number((widths & 3) + 1)
    if (databaseId === 0) {
      if (bytes.byte() === DATABASE_NAME) {
        bytes.text() // the origin
        databases.set(new Bytes(value).varint(), bytes.text())
      }
    } else if (storeId === 0) {
      const type = bytes.byte()
      if (type === OBJECT_STORE) {
        const id = bytes.varint()
        if (bytes.byte() === NAME) store(databaseId, id).name = utf16(value)
      } else if (type === INDEX) {
        const [ofStore, id] = [bytes.varint(), bytes.varint()]
        if (bytes.byte() === NAME) index(databaseId, ofStore, id).name = utf16(value)
      }
    } else if (indexId === RECORDS) {
      const found = store(databaseId, storeId)
      found.records++
      if (found.keys.length < keysShown) found.keys.push(keyValue(bytes))
    } else if (indexId >= FIRST_INDEX) {
      index(databaseId, storeId, indexId).entries++
    }
  }
  return [...databases].map(([id, name]) => ({ name, stores: [...database(id).values()] }))
}

function entry(map, key, make) {
  if (!map.has(key)) map.set(key, make())
  return map.get(key)
}
