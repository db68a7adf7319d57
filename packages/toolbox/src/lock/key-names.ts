import { byteString } from '../encoded.js'
import { codedError } from '../errors.js'
import { prefixOf, rootOf } from '../hooks.js'
import type { AnyLevel } from '../level-like.js'
import { assertOnlyInstance } from '../only-instance.js'
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

/** The namespace of a database, or that of a name. */
export function namespaceOf(owner: AnyLevel | string): Namespace {
  if (typeof owner === 'string') {
    const prefix = JSON.stringify(owner)
    return { queues: queuesOfNames, nameOf: (key) => prefix + nameOf(key) }
  }

  if (typeof owner !== 'object' || typeof owner?.keyEncoding !== 'function') {
    throw codedError('LOCK_INVALID', 'Keys are locked in a database or in a namespace, which is a string')
  }
  return namespaceOfDatabase(owner)
}

function namespaceOfDatabase(db: AnyLevel): Namespace {
  assertOnlyInstance(db, 'lock()')
  const root = rootOf(db)
  const prefix = prefixOf(db)
  let queues = queuesOfDatabases.get(root)
  if (queues === undefined) {
    queues = new Queues()
    queuesOfDatabases.set(root, queues)
  }

  return {
    queues,
    nameOf: (key) => {
      if (key === null || key === undefined) throw invalidKey()
      return prefix + nameOf(db.keyEncoding().encode(key as string))
    }
  }
}

/** The name of a key by its bytes. */
function nameOf(key: unknown): string {
  if (typeof key !== 'string' && !(key instanceof Uint8Array)) throw invalidKey()
  return byteString(key)
}

function invalidKey(): Error {
  return codedError(
    'LOCK_INVALID',
    'A key must be one of the database or, in a namespace, a string or a Uint8Array'
  )
}
