/** The errors of calls that need an open database. They give the reason and what to do. */

import { type CodedError, codedError } from '../errors.js'

/** A database or sublevel. */
export interface Openable {
  readonly status: string
  /** Holds the reason why the last call of `open()` failed. */
  readonly namespace?: { readonly store: { readonly refusal: unknown } }
}

/** The error for a call made while the database is not open. */
export function notOpen({ status, namespace }: Openable, call: string): CodedError {
  const refusal = namespace?.store.refusal
  if (status === 'opening') return error(`Database is not open yet: await db.open() before ${call}`)
  if (status !== 'closed' || refusal === undefined) return error(`Database is not open: cannot use ${call}`)

  const reason = refusal instanceof Error ? refusal.message : String(refusal)
  return Object.assign(error(`Database is not open, because opening it failed: ${reason}`), {
    cause: refusal
  })
}

function error(message: string): CodedError {
  return codedError('LEVEL_DATABASE_NOT_OPEN', message)
}

/** Methods that abstract-level rejects without a reason. */
const methods = {
  rejecting: ['get', 'getMany', 'has', 'hasMany', 'clear'],
  throwing: ['getSync', 'snapshot', 'iterator', 'keys', 'values']
}

type Methods = Record<string, (...args: unknown[]) => unknown>

/** Makes the methods of a database that could not be opened fail with the reason. Call it before deferred calls continue. */
export function explainRefusal(db: Openable): void {
  for (const name of methods.rejecting) {
    replace(db, name, async () => Promise.reject(notOpen(db, `${name}()`)))
  }
  for (const name of methods.throwing) {
    replace(db, name, () => {
      throw notOpen(db, `${name}()`)
    })
  }
}

/** Restores the methods of a database before it is opened again. */
export function forgetRefusal(db: Openable): void {
  const prototype = Object.getPrototypeOf(db) as Methods
  // Properties are overwritten, not deleted: an object with deleted properties is slow.
  for (const name of replaced.get(db)?.keys() ?? []) replace(db, name, prototype[name] as Methods[string])
}

/** The methods that replace those of each database, by name. */
const replaced = new WeakMap<object, Map<string, Methods[string]>>()

/** Replaces a method of a database, unless the program has set one. */
function replace(db: object, name: string, method: Methods[string]): void {
  const given = replaced.get(db) ?? new Map()
  if (Object.hasOwn(db, name) && (db as Methods)[name] !== given.get(name)) return
  cover(db, name, method)
  replaced.set(db, given.set(name, method))
}

function cover(db: object, name: string, method: Methods[string]): void {
  Object.defineProperty(db, name, { value: method, writable: true, configurable: true, enumerable: false })
}

/** An iterator that was made before the database was open. Abstract-level does not export its class. */
interface Deferred {
  readonly db: Openable
  seek(target: unknown): void
  close(): Promise<void>
  [Symbol.iterator]?(): Generator<unknown, void, unknown>
}

/**
 * Adds to an iterator that waits for the database what this package's iterators have: loops without `await`, and errors that
 * explain why the database is not open. Call it for everything that is attached to a database before that is open.
 */
export function completeDeferred(resource: object): void {
  if (!('seek' in resource)) return
  const deferred = resource as Deferred & Methods
  deferred[Symbol.iterator] = () => loop(deferred)

  for (const name of ['next', 'nextv', 'all']) {
    const method = deferred[name] as Methods[string]
    cover(deferred, name, async (...args) => {
      try {
        return await method.apply(deferred, args)
      } catch (error) {
        const { db } = deferred
        throw db.status === 'closed' && db.namespace?.store.refusal !== undefined
          ? notOpen(db, `${name}()`)
          : error
      }
    })
  }
}

function loop(deferred: Deferred): Generator<unknown, void, unknown> {
  const inner = innerOf(deferred)
  if (inner === undefined) throw notOpen(deferred.db, 'a loop without await')
  return walk(deferred, inner)
}

function* walk(deferred: Deferred, inner: Iterable<unknown>): Generator<unknown, void, unknown> {
  try {
    yield* inner
  } finally {
    deferred.close().catch(() => {})
  }
}

/** The real iterator inside a deferred one, present once the database has opened. Abstract-level keeps it under a symbol. */
function innerOf(deferred: Deferred): Iterable<unknown> | undefined {
  const symbol = Object.getOwnPropertySymbols(deferred).find(({ description }) => description === 'nut')
  if (symbol === undefined) return undefined
  return (deferred as unknown as Record<symbol, Iterable<unknown> | null>)[symbol] ?? undefined
}
