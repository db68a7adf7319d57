/** Chromium's IndexedDB: databases, their object stores, records and indexes, by name. */

import { hex } from '../bytes.js'
import { v8Value } from '../values/v8.js'
import {
  bytesOfVarint,
  countedText,
  FIRST_INDEX,
  idbKey,
  idsOf,
  keyOf,
  parse,
  ValueKind
} from './indexeddb-keys.js'
import { decoded, NotDecoded, Reader } from './reader.js'

/** More databases than these of one directory have no name. */
const MOST_NAMES = 1000

/** The first of all keys of a database. A key without a type would come after them. */
const databaseStart = (database) => keyOf({ database }, 0)

/** The group of the keys that begin with the ids that a node does not decide yet. `nameAt` is the key under which its name is stored, unless it is a database. */
function groupOfIds(ids, node) {
  const { database, store, index } = ids
  if (node.ids === undefined) {
    return {
      lower: databaseStart(database),
      upper: databaseStart(database + 1),
      ids: { database },
      label: database === 0 ? 'all databases' : `database ${database}`,
      kind: 'database',
      isLast: database === 0
    }
  }
  if (node.ids.store === undefined) {
    if (store === 0) {
      return {
        lower: databaseStart(database),
        upper: keyOf({ database, store: 0, index: 1 }),
        ids: { database, store },
        label: 'names and settings',
        isLast: true
      }
    }
    return {
      lower: keyOf({ database, store }),
      upper: keyOf({ database, store: store + 1 }),
      ids: { database, store },
      label: `object store ${store}`,
      kind: 'object store',
      nameAt: keyOf({ database }, 50, ...bytesOfVarint(store), 0)
    }
  }
  const range = { lower: keyOf(ids), upper: keyOf({ ...ids, index: index + 1 }), ids, isLast: true }
  const label = { 1: 'records', 2: 'versions of records', 3: 'blobs' }[index]
  if (index < FIRST_INDEX) return { ...range, label: label ?? `number ${index}` }
  return {
    ...range,
    label: `index ${index}`,
    kind: 'index',
    nameAt: keyOf({ database }, 100, ...bytesOfVarint(store), ...bytesOfVarint(index), 0)
  }
}

/** Names of databases lead to their numbers, and not the other way. */
async function nameOfDatabase(db, database) {
  const names = { gte: keyOf({ database: 0 }, 201, 0, 0), lt: databaseStart(1), limit: MOST_NAMES }
  for await (const [key, value] of db.iterator(names)) {
    const { kind, name } = parse(key) ?? {}
    if (kind !== 'database name') return undefined
    if (decoded(() => new Reader(value).integer(value.length)) === database) return name
  }
  return undefined
}

/** A key of a page as text. */
export function shownKey(key) {
  if (key instanceof Date) return Number.isNaN(key.getTime()) ? 'invalid date' : key.toISOString()
  if (key instanceof Uint8Array) return `0x${hex(key)}`
  if (Array.isArray(key)) return `[${key.map(shownKey).join(', ')}]`
  return typeof key === 'string' ? JSON.stringify(key) : String(key)
}

export const indexedDbLayout = {
  id: 'indexeddb',
  title: 'IndexedDB of Chromium',

  recognises: ({ order }) => order === 'idb_cmp1',

  grouping(node) {
    return {
      groupOf(key) {
        if (node.isLast) return undefined
        const ids = decoded(() => idsOf(new Reader(key)))
        return ids === undefined ? undefined : groupOfIds(ids, node)
      }
    }
  },

  /** The name that is stored for a group; undefined if there is none. */
  async nameOf(db, { ids, nameAt }) {
    if (ids.store === undefined) return nameOfDatabase(db, ids.database)
    const value = nameAt === undefined ? undefined : await db.get(nameAt)
    return value === undefined ? undefined : decoded(() => new Reader(value).utf16(value.length, 'big'))
  },

  describe(key) {
    const parsed = parse(key)
    if (parsed === undefined) return undefined
    const { kind } = parsed
    if (kind === 'database name') return `${kind} ${JSON.stringify(parsed.name)} · ${parsed.origin}`
    if (kind === 'scopes') return `${kind} ${hex(parsed.key)}`
    if (['record', 'exists', 'blobs'].includes(kind)) return shownKey(parsed.key)
    if (kind === 'index entry') {
      const primary = parsed.primaryKey === undefined ? '' : ` → ${shownKey(parsed.primaryKey)}`
      return `${shownKey(parsed.key)}${primary}`
    }
    const { store, index, name } = parsed
    const of = [name === undefined ? '' : JSON.stringify(name), store ?? '', index ?? ''].filter(
      (part) => part !== ''
    )
    return [kind, ...of].join(' · ')
  },

  decode(key, value) {
    const parsed = parse(key)
    if (parsed === undefined) return undefined
    return decoded(() => valueIn(parsed.value, value))
  }
}

function valueIn(kind, value) {
  const reader = new Reader(value)
  switch (kind) {
    case ValueKind.text:
      return { title: 'Text', text: reader.utf16(reader.left, 'big') }
    case ValueKind.integer:
      return { title: 'Number', json: reader.integer(reader.left) }
    case ValueKind.varint:
      return { title: 'Number', json: reader.varint() }
    case ValueKind.bool:
      return { title: 'Truth', json: reader.byte() !== 0 }
    case ValueKind.primaryKey:
      return {
        title: 'Primary key',
        json: { version: reader.varint(), primaryKey: shownKey(idbKey(reader)) }
      }
    case ValueKind.keyPath:
      return { title: 'Key path', json: keyPathOf(reader) }
    case ValueKind.record:
      // The version of the record comes first.
      reader.varint()
      return { title: 'Object', json: v8Value(reader.bytes(reader.left)) }
    default:
      throw new NotDecoded()
  }
}

/** None, a path, or several. Two zeros tell the form from an older one, which was text alone. */
function keyPathOf(reader) {
  if (reader.byte() !== 0 || reader.byte() !== 0) throw new NotDecoded()
  switch (reader.byte()) {
    case 0:
      return null
    case 1:
      return countedText(reader)
    case 2:
      return Array.from({ length: Math.min(reader.varint(), reader.left) }, () => countedText(reader))
    default:
      throw new NotDecoded()
  }
}
