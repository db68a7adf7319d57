/** Keys in Chromium's IndexedDB databases, in the order `idb_cmp1`; `docs/format/comparators.md` describes them. */

import { concat } from '../bytes.js'
import { decoded, NotDecoded, Reader } from './reader.js'

const MOST_DEPTH = 100

/** The encoding of the value under a key. */
export const ValueKind = {
  integer: 'integer',
  varint: 'varint',
  text: 'text',
  bool: 'bool',
  primaryKey: 'primary key',
  record: 'record',
  keyPath: 'key path',
  opaque: 'opaque'
}

const { integer, varint, text, bool, primaryKey, record, keyPath, opaque } = ValueKind

const GLOBAL = {
  0: ['schema version', integer],
  1: ['largest database id', integer],
  2: ['data version', integer],
  3: ['recovery blob journal', opaque],
  4: ['active blob journal', opaque],
  5: ['earliest sweep', integer],
  6: ['earliest compaction', integer]
}

const OF_DATABASE = {
  0: ['origin', text],
  1: ['name', text],
  2: ['old version', text],
  3: ['largest object store id', integer],
  4: ['version', varint],
  5: ['next blob number', varint]
}

const OF_STORE = [
  ['object store name', text],
  ['object store key path', keyPath],
  ['object store auto increment', bool],
  ['object store evictable', bool],
  ['object store last version', integer],
  ['object store largest index id', integer],
  ['object store has key path', bool],
  ['object store next key', integer]
]

const OF_INDEX = [
  ['index name', text],
  ['index unique', bool],
  ['index key path', keyPath],
  ['index multi-entry', bool]
]

/** Smallest id of an index that a page made. */
export const FIRST_INDEX = 30

/** The ids of the database, object store and index that a key begins with. */
export function idsOf(reader) {
  const widths = reader.byte()
  const [database, store] = [reader.integer((widths >> 5) + 1), reader.integer(((widths >> 2) & 7) + 1)]
  return { database, store, index: reader.integer((widths & 3) + 1) }
}

/** A key that begins with these ids, and ends with `rest`. */
export function keyOf({ database, store = 0, index = 0 }, ...rest) {
  const ids = [database, store, index].map(bytesOfInteger)
  const widths = ((ids[0].length - 1) << 5) | ((ids[1].length - 1) << 2) | (ids[2].length - 1)
  return concat([widths], ...ids, rest)
}

/** A number with seven bits per byte, little-endian. */
export function bytesOfVarint(value) {
  const bytes = []
  for (; value > 0x7f; value = Math.floor(value / 128)) bytes.push((value & 0x7f) | 0x80)
  return [...bytes, value]
}

function bytesOfInteger(value) {
  const bytes = []
  for (; value > 0xff; value = Math.floor(value / 256)) bytes.push(value & 0xff)
  return [...bytes, value]
}

/**
 * The parts of a key: `kind`, its ids and its own key, and `value`, the encoding of the value. Undefined if it cannot be decoded.
 */
export const parse = (key) =>
  decoded(() => {
    const reader = new Reader(key)
    const ids = idsOf(reader)
    const parsed = partsOf(reader, ids)
    reader.end()
    return parsed
  })

function partsOf(reader, ids) {
  if (ids.database === 0) return global(reader)
  return ids.store === 0 ? ofDatabase(reader, ids.database) : ofStore(reader, ids)
}

function global(reader) {
  const type = reader.byte()
  if (GLOBAL[type] !== undefined) return named(GLOBAL[type])
  if (type === 50) return { kind: 'scopes', value: opaque, key: reader.bytes(reader.left) }
  if (type === 100) return { kind: 'free database id', value: opaque, database: reader.varint() }
  if (type !== 201) throw new NotDecoded()
  return { kind: 'database name', value: integer, origin: countedText(reader), name: countedText(reader) }
}

function ofDatabase(reader, database) {
  const type = reader.byte()
  if (OF_DATABASE[type] !== undefined) return { ...named(OF_DATABASE[type]), database }
  switch (type) {
    case 50: {
      const store = reader.varint()
      return { ...named(OF_STORE[reader.byte()]), database, store }
    }
    case 100: {
      const [store, index] = [reader.varint(), reader.varint()]
      return { ...named(OF_INDEX[reader.byte()]), database, store, index }
    }
    case 150:
      return { kind: 'free object store id', value: opaque, database, store: reader.varint() }
    case 151:
      return {
        kind: 'free index id',
        value: opaque,
        database,
        store: reader.varint(),
        index: reader.varint()
      }
    case 200:
      return { kind: 'id of object store', value: integer, database, name: countedText(reader) }
    case 201:
      return {
        kind: 'id of index',
        value: integer,
        database,
        store: reader.varint(),
        name: countedText(reader)
      }
    default:
      throw new NotDecoded()
  }
}

function named(entry) {
  if (entry === undefined) throw new NotDecoded()
  return { kind: entry[0], value: entry[1] }
}

const KINDS = { 1: ['record', record], 2: ['exists', integer], 3: ['blobs', opaque] }

function ofStore(reader, { database, store, index }) {
  if (index < FIRST_INDEX) {
    return { ...named(KINDS[index]), database, store, ...(reader.left > 0 ? { key: idbKey(reader) } : {}) }
  }
  const entry = { kind: 'index entry', value: primaryKey, database, store, index }
  if (reader.left > 0) entry.key = idbKey(reader)
  if (reader.left > 0) entry.sequence = reader.varint()
  if (reader.left > 0) entry.primaryKey = idbKey(reader)
  return entry
}

/** A number of UTF-16 units, and the units. */
export const countedText = (reader) => reader.utf16(2 * reader.varint(), 'big')

/** A key of a page: a type and its contents. */
export function idbKey(reader, depth = 0) {
  switch (reader.byte()) {
    case 0:
      return null
    case 1:
      return countedText(reader)
    case 2:
      return new Date(reader.double())
    case 3:
      return reader.double()
    case 4: {
      if (depth >= MOST_DEPTH) throw new NotDecoded()
      const items = []
      // Each takes at least a byte, so a wrong count ends the loop soon.
      for (let count = reader.varint(); count > 0; count--) items.push(idbKey(reader, depth + 1))
      return items
    }
    case 6:
      return reader.bytes(reader.varint())
    default:
      throw new NotDecoded()
  }
}
