/** `put`, `del` and `batch` of a database or sublevel, asynchronous and synchronous. */

import type { BackendCondition, Bytes, Operations } from '../backend.js'
import { notSynchronous } from '../errors.js'
import { yieldToEventLoop } from '../event-loop.js'
import { WriteOnce } from '../hooks/hooked-batch.js'
import { type Database, type Encoder, prefixed } from '../level/database.js'
import { notOpen, type Openable } from '../level/not-open.js'
import type { WriteOptions } from '../level/operation-options.js'
import { isSync, type PrivateClearOptions } from '../level/store.js'
import { type Namespace, spacesAround } from '../sublevel/namespace.js'
import { ClearByKeys } from './clear-by-keys.js'
import { ConditionalWrite, encodeConditions, holdSnapshots } from './conditional-write.js'
import { encodeOperations } from './encode-operations.js'
import type { PublicOperation } from './hooked-operation.js'
import { SubmittedCall } from './submitted-call.js'

/** Options of a write. They are also the defaults of its operations. */
type Options =
  | (WriteOptions & {
      keyEncoding?: unknown
      valueEncoding?: unknown
      sublevel?: Database | null
      if?: unknown
    })
  | undefined

type Conditional = Exclude<Options, undefined>

export function put(namespace: Namespace, key: unknown, value: unknown, given: unknown): Promise<void> {
  const { owner, store } = namespace

  try {
    const options = optionsOf(given)
    if (!isOpen(namespace)) return whenOpen(namespace, () => put(namespace, key, value, options))
    if (options?.if !== undefined) return batchIf(namespace, [{ type: 'put', key, value }], options)
    if (!namespace.isPlain || isDelegated(options)) {
      return submit(namespace, 'batch', [{ ...options, type: 'put', key, value }], options)
    }

    owner._assertValidKey(key)
    const rootKey = encodeKey(namespace, owner.keyEncoding(options?.keyEncoding), key)
    const encodedValue = owner.valueEncoding(options?.valueEncoding).encodeValue(value, key)
    return store.put(rootKey, encodedValue, isSync(options)) ?? yieldToEventLoop() ?? Promise.resolve()
  } catch (error) {
    return Promise.reject(error)
  }
}

export function del(namespace: Namespace, key: unknown, given: unknown): Promise<void> {
  const { owner, store } = namespace

  try {
    const options = optionsOf(given)
    if (!isOpen(namespace)) return whenOpen(namespace, () => del(namespace, key, options))
    if (options?.if !== undefined) return batchIf(namespace, [{ type: 'del', key }], options)
    if (!namespace.isPlain || isDelegated(options)) {
      return submit(namespace, 'batch', [{ ...options, type: 'del', key }], options)
    }

    owner._assertValidKey(key)
    const rootKey = encodeKey(namespace, owner.keyEncoding(options?.keyEncoding), key)
    return store.del(rootKey, isSync(options)) ?? yieldToEventLoop() ?? Promise.resolve()
  } catch (error) {
    return Promise.reject(error)
  }
}

export function batch(namespace: Namespace, operations: unknown, given: unknown): Promise<void> {
  const { owner, store } = namespace

  try {
    const options = optionsOf(given)
    if (!isOpen(namespace)) return whenOpen(namespace, () => batch(namespace, operations, options))
    if (!Array.isArray(operations)) throw new TypeError("The first argument 'operations' must be an array")
    if (options?.if !== undefined) return batchIf(namespace, operations, options)
    if (operations.length === 0) return Promise.resolve()
    if (!isSimple(namespace, operations, options)) {
      return submit(namespace, 'batch', copiesOf(operations, options), options)
    }

    const flat = encodeOperations(owner, store.root, operations, options ?? noOptions)
    return store.write(flat, isSync(options)) ?? yieldToEventLoop(operations.length) ?? Promise.resolve()
  } catch (error) {
    return Promise.reject(error)
  }
}

/** Writes operations if the conditions in the option `if` hold. */
function batchIf(namespace: Namespace, operations: PublicOperation[], given: Conditional): Promise<void> {
  const { owner, store } = namespace
  const { if: list, ...options } = given
  const conditions = encodeConditions(owner, store, list)
  const encoded = (): Operations => encodeOperations(owner, store.root, operations, options)
  const written = writeIf(namespace, conditions, operations, encoded, options)
  if (written !== undefined) return written.finally(holdSnapshots(list))
  return yieldToEventLoop(operations.length) ?? Promise.resolve()
}

/**
 * Writes operations if the conditions hold. Returns undefined if they are written.
 *
 * @param encoded - Returns the operations as the back-end takes them, for a write that nobody else sees.
 */
export function writeIf(
  namespace: Namespace,
  conditions: readonly BackendCondition[],
  operations: readonly PublicOperation[],
  encoded: () => Operations,
  options: WriteOptions & object
): void | Promise<void> {
  const { store } = namespace
  const sync = isSync(options)
  if (isSimple(namespace, operations, options)) return store.writeIf(conditions, encoded(), sync)
  const call = new SubmittedCall(namespace, 'batch', copiesOf(operations, options), sync)
  call.keep()
  return store.queue.perform(new ConditionalWrite(store, call, conditions))
}

/** Writes operations, and has finished when it returns. */
export function writeSync(namespace: Namespace, method: string, operations: unknown, given: unknown): void {
  const { owner, store } = namespace
  const options = optionsOf(given)

  assertWritable(namespace, method)
  if (!store.backend.manifest.syncWrites) throw notSynchronous(`${method}()`, 'write')
  if (!Array.isArray(operations)) throw new TypeError("The first argument 'operations' must be an array")
  if (options?.if !== undefined) {
    writeIfSync(namespace, method, operations, options)
    return
  }
  if (operations.length === 0) return

  if (isSimple(namespace, operations, options)) {
    store.writeSync(encodeOperations(owner, store.root, operations, options ?? noOptions), isSync(options))
  } else {
    const copies = copiesOf(operations, options)
    store.queue.submitSync(new SubmittedCall(namespace, method, copies, isSync(options)))
  }
}

function writeIfSync(
  namespace: Namespace,
  method: string,
  operations: PublicOperation[],
  given: Conditional
): void {
  const { owner, store } = namespace
  const { if: list, ...options } = given
  const conditions = encodeConditions(owner, store, list)
  const sync = isSync(options)
  if (isSimple(namespace, operations, options)) {
    store.writeIfSync(conditions, encodeOperations(owner, store.root, operations, options), sync)
    return
  }
  const call = new SubmittedCall(namespace, method, copiesOf(operations, options), sync)
  store.queue.performSync(method, new ConditionalWrite(store, call, conditions))
}

/** Deletes a range of the root. */
export async function clear(namespace: Namespace, options: PrivateClearOptions): Promise<void> {
  const { store } = namespace
  const { queue, keySpaces } = store
  assertWritable(namespace, 'clear')
  if (keySpaces.touches(namespace.prefix) || !store.clearsRanges) {
    return queue.perform(new ClearByKeys(store, options))
  }
  if (queue.isFree) return store.clear(options)
  return queue.perform(new WriteOnce(() => store.clear(options), true))
}

/** @throws LEVEL_DATABASE_NOT_OPEN if the database is not open, or about to be closed. */
export function assertWritable(namespace: Namespace, method: string): void {
  assertOpen(namespace.isClosing ? closing : namespace.owner, method)
}

/**
 * Throws unless the database is open. It is for methods that need an open database.
 *
 * @param method - The name of the method, for the message.
 * @throws LEVEL_DATABASE_NOT_OPEN if it is not; the message gives the reason.
 */
export function assertOpen(db: Openable, method: string): void {
  if (db.status !== 'open') throw notOpen(db, `${method}()`)
}

/** @throws LEVEL_DATABASE_NOT_OPEN, and LEVEL_NOT_SUPPORTED if the back-end cannot read within the call. */
export function assertLoopable(db: { status: string; namespace: Namespace }, method: string): void {
  assertOpen(db, method)
  if (!db.namespace.store.backend.manifest.syncReads) throw notSynchronous(`${method}()`, 'read')
}

const noOptions = Object.freeze({})
const closing = Object.freeze({ status: 'closing' })

function submit(
  namespace: Namespace,
  method: string,
  operations: PublicOperation[],
  options: Options
): Promise<void> {
  const call = new SubmittedCall(namespace, method, operations, isSync(options))
  const hasHooks = call.watchers.some(({ functions }) => functions.length > 0)
  return namespace.store.queue.submit(call, hasHooks || passesEveryWrite(namespace, operations))
}

/** Whether operations pass no hook function or listener, and need not wait for others. */
function isSimple(namespace: Namespace, operations: readonly PublicOperation[], options: Options): boolean {
  if (!namespace.store.queue.isFree || namespace.isWatched) return false
  return (
    namespace.store.keySpaces.isEmpty || !(isDelegated(options) || passesEveryWrite(namespace, operations))
  )
}

function passesEveryWrite(namespace: Namespace, operations: readonly PublicOperation[]): boolean {
  const { store } = namespace
  if (store.keySpaces.isEmpty) return false
  if (namespace.spaces.length > 0) return true
  return operations.some(
    ({ sublevel }) => isObject(sublevel) && spacesAround(store, sublevel as Database).length > 0
  )
}

/**
 * Properties that an operation never takes from the options of its batch, even if its own are undefined, as in abstract-level.
 */
const replaced = new Set(['type', 'key', 'value', 'keyEncoding', 'valueEncoding', 'sublevel'])

/** For all other options, which only hook functions know, an undefined property of an operation counts as missing. */
function copiesOf(operations: readonly object[], options: Options): PublicOperation[] {
  const inherited = Object.entries(options ?? noOptions).filter(([name]) => !replaced.has(name))
  return operations.map((operation) => {
    const copy = Object.assign({}, options, operation) as Record<string, unknown>
    for (const [name, value] of inherited) if (copy[name] === undefined) copy[name] = value
    return copy as unknown as PublicOperation
  })
}

function encodeKey(namespace: Namespace, encoding: Encoder, key: unknown): Bytes {
  return prefixed(namespace.prefix, encoding.encode(key), encoding.format)
}

function isDelegated(options: Options): boolean {
  return options !== undefined && isObject(options.sublevel)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function optionsOf(options: unknown): Options {
  return isObject(options) ? (options as Options) : undefined
}

export function isOpen(namespace: Namespace): boolean {
  return namespace.owner.status === 'open' && !namespace.isClosing
}

/** Does work once a database that is being opened is open. Fails if it is closed. */
export function whenOpen<T>(
  { owner, isClosing }: Namespace,
  work: () => Promise<T>,
  methods = 'put(), del() and batch()'
): Promise<T> {
  if (owner.status === 'opening' && !isClosing) return owner.deferAsync(work)
  return Promise.reject(notOpen(isClosing ? closing : owner, methods))
}
