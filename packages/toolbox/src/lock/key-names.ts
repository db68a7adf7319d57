import type { AnyLevel } from '../aside.js'
import { codedError } from '../errors.js'
import { Queues } from './queue.js'

/** Keys of a database are locked by what they are in the whole of it; of a namespace by its name. */
export interface Namespace {
  readonly queues: Queues
  /** The name of a key among those of `queues`. */
  nameOf(key: unknown): string
}

/** Of databases, but not of their sublevels. */
const queuesOfDatabases = new WeakMap<AnyLevel, Queues>()

/** Of all namespaces that are strings. */
const queuesOfNames = new Queues()

const textEncoder = new TextEncoder()

/** The namespace of a database, or that of a name. */
export function namespaceOf(owner: AnyLevel | string): Namespace {
  if (typeof owner === 'string') {
    const prefix = JSON.stringify(owner)
    return { queues: queuesOfNames, nameOf: (key) => prefix + textOf(bytesOf(key)) }
  }

  if (typeof owner !== 'object' || typeof owner?.keyEncoding !== 'function') {
    throw codedError('LOCK_INVALID', 'Keys are locked in a database or in a namespace, which is a string')
  }
  return namespaceOfDatabase(owner)
}

function namespaceOfDatabase(db: AnyLevel): Namespace {
  const { db: root = db, prefix = '' } = db as { db?: AnyLevel; prefix?: string }
  let queues = queuesOfDatabases.get(root)
  if (queues === undefined) {
    queues = new Queues()
    queuesOfDatabases.set(root, queues)
  }

  const nameOf = (key: unknown): string => {
    if (key === null || key === undefined) throw invalidKey()
    return prefix + textOf(bytesOf(db.keyEncoding().encode(key as string)))
  }
  return { queues, nameOf }
}

/** Bytes as text, a character each. */
function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

function bytesOf(key: unknown): Uint8Array {
  if (typeof key === 'string') return textEncoder.encode(key)
  if (key instanceof Uint8Array) return key
  throw invalidKey()
}

function invalidKey(): Error {
  return codedError(
    'LOCK_INVALID',
    'A key must be one of the database or, in a namespace, a string or a Uint8Array'
  )
}
