import { byteString } from '../encoded.js'
import { codedError } from '../errors.js'
import { prefixOf, rootOf } from '../hooks.js'
import type { AnyLevel } from '../level-like.js'
import { assertOnlyInstance } from '../only-instance.js'
import { Queues } from './queue.js'

/**
 * Gives keys the names under which they are locked. The keys of a database are named by their form in the whole database; those
 * of a namespace belong to its name.
 */
export interface Namespace {
  readonly queues: Queues
  /** The name of a key in `queues`. */
  nameOf(key: unknown): string
}

/** The queues of root databases. */
const queuesOfDatabases = new WeakMap<AnyLevel, Queues>()

/** The queues of all namespaces that are strings. */
const queuesOfNames = new Queues()

/** The namespace of a database, or the namespace with a name. */
export function namespaceOf(owner: AnyLevel | string): Namespace {
  if (typeof owner === 'string') {
    const prefix = JSON.stringify(owner)
    return { queues: queuesOfNames, nameOf: (key) => prefix + nameOf(key) }
  }

  if (typeof owner !== 'object' || typeof owner?.keyEncoding !== 'function') {
    throw codedError('LOCK_INVALID', 'The argument must be a database, or a string that names a namespace')
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

/** The name of a key, made from its bytes. */
function nameOf(key: unknown): string {
  if (typeof key !== 'string' && !(key instanceof Uint8Array)) throw invalidKey()
  return byteString(key)
}

function invalidKey(): Error {
  return codedError(
    'LOCK_INVALID',
    'A key must be a key of the database or, in a namespace, a string or a Uint8Array'
  )
}
