/** `put`, `del` and `batch` of a database or sublevel, asynchronous and synchronous. */

import type { Bytes } from './backend.js'
import type { PublicOperation } from './carried-operation.js'
import { ClearByKeys } from './clear-by-keys.js'
import { type Database, type Encoder, prefixed } from './database.js'
import { encodeOperations } from './encode-operations.js'
import { notSynchronous } from './errors.js'
import { WriteOnce } from './hooked-batch.js'
import { notOpen, type Openable } from './not-open.js'
import type { WriteOptions } from './operation-options.js'
import { type Place, spacesAround } from './place.js'
import { isSync, type PrivateClearOptions } from './store.js'
import { SubmittedCall } from './submitted-call.js'
import { turn } from './turn.js'

/** Options of a write, which also are defaults of its operations. */
type Options =
  | (WriteOptions & { keyEncoding?: unknown; valueEncoding?: unknown; sublevel?: Database | null })
  | undefined

export function put(place: Place, key: unknown, value: unknown, given: unknown): Promise<void> {
  const { owner, store } = place

  try {
    const options = optionsOf(given)
    if (!isOpen(place)) return whenOpen(place, () => put(place, key, value, options))
    if (!place.isPlain || isDelegated(options)) {
      return submit(place, 'batch', [{ ...options, type: 'put', key, value }], options)
    }

    owner._assertValidKey(key)
    owner._assertValidValue(value)
    const rootKey = encodeKey(place, owner.keyEncoding(options?.keyEncoding), key)
    const encodedValue = owner.valueEncoding(options?.valueEncoding).encode(value)
    return store.put(rootKey, encodedValue, isSync(options)) ?? turn() ?? Promise.resolve()
  } catch (error) {
    return Promise.reject(error)
  }
}

export function del(place: Place, key: unknown, given: unknown): Promise<void> {
  const { owner, store } = place

  try {
    const options = optionsOf(given)
    if (!isOpen(place)) return whenOpen(place, () => del(place, key, options))
    if (!place.isPlain || isDelegated(options)) {
      return submit(place, 'batch', [{ ...options, type: 'del', key }], options)
    }

    owner._assertValidKey(key)
    const rootKey = encodeKey(place, owner.keyEncoding(options?.keyEncoding), key)
    return store.del(rootKey, isSync(options)) ?? turn() ?? Promise.resolve()
  } catch (error) {
    return Promise.reject(error)
  }
}

export function batch(place: Place, operations: unknown, given: unknown): Promise<void> {
  const { owner, store } = place

  try {
    const options = optionsOf(given)
    if (!isOpen(place)) return whenOpen(place, () => batch(place, operations, options))
    if (!Array.isArray(operations)) throw new TypeError("The first argument 'operations' must be an array")
    if (operations.length === 0) return Promise.resolve()
    if (!isSimple(place, operations, options)) {
      return submit(place, 'batch', copiesOf(operations, options), options)
    }

    const flat = encodeOperations(owner, store.root, operations, options ?? noOptions)
    return store.write(flat, isSync(options)) ?? turn(operations.length) ?? Promise.resolve()
  } catch (error) {
    return Promise.reject(error)
  }
}

/** Writes operations before it returns. */
export function writeSync(place: Place, method: string, operations: unknown, given: unknown): void {
  const { owner, store } = place
  const options = optionsOf(given)

  assertWritable(place, method)
  if (!store.backend.manifest.syncWrites) throw notSynchronous(`${method}()`, 'write')
  if (!Array.isArray(operations)) throw new TypeError("The first argument 'operations' must be an array")
  if (operations.length === 0) return

  if (isSimple(place, operations, options)) {
    store.writeSync(encodeOperations(owner, store.root, operations, options ?? noOptions), isSync(options))
  } else {
    const copies = copiesOf(operations, options)
    store.queue.submitSync(new SubmittedCall(place, method, copies, isSync(options)))
  }
}

/** Deletes a range of the root. */
export async function clear(place: Place, options: PrivateClearOptions): Promise<void> {
  const { store } = place
  const { queue, keySpaces } = store
  assertWritable(place, 'clear')
  if (keySpaces.touches(place.prefix) || !store.clearsRanges) {
    return queue.perform(new ClearByKeys(store, options))
  }
  if (queue.isFree) return store.clear(options)
  return queue.perform(new WriteOnce(() => store.clear(options)))
}

/** @throws LEVEL_DATABASE_NOT_OPEN also while it is about to be closed. */
export function assertWritable(place: Place, method: string): void {
  assertOpen(place.isClosing ? closing : place.owner, method)
}

/** @throws LEVEL_DATABASE_NOT_OPEN, saying why, for a method that needs a database to be open. */
export function assertOpen(db: Openable, method: string): void {
  if (db.status !== 'open') throw notOpen(db, `${method}()`)
}

/** @throws also if the back-end cannot read within the call. */
export function assertLoopable(db: { status: string; place: Place }, method: string): void {
  assertOpen(db, method)
  if (!db.place.store.backend.manifest.syncReads) throw notSynchronous(`${method}()`, 'read')
}

const noOptions = Object.freeze({})
const closing = Object.freeze({ status: 'closing' })

function submit(
  place: Place,
  method: string,
  operations: PublicOperation[],
  options: Options
): Promise<void> {
  const call = new SubmittedCall(place, method, operations, isSync(options))
  const hasHooks = call.watchers.some(({ functions }) => functions.length > 0)
  return place.store.queue.submit(call, hasHooks || passesEveryWrite(place, operations))
}

/** Whether operations need neither hook functions nor listeners, nor to wait for others. */
function isSimple(place: Place, operations: readonly PublicOperation[], options: Options): boolean {
  if (!place.store.queue.isFree || place.isWatched) return false
  return place.store.keySpaces.isEmpty || !(isDelegated(options) || passesEveryWrite(place, operations))
}

function passesEveryWrite(place: Place, operations: readonly PublicOperation[]): boolean {
  const { store } = place
  if (store.keySpaces.isEmpty) return false
  if (place.spaces.length > 0) return true
  return operations.some(
    ({ sublevel }) => isObject(sublevel) && spacesAround(store, sublevel as Database).length > 0
  )
}

/** What an operation has instead of an option of its batch, also where it has it undefined: so it is in abstract-level. */
const replaced = new Set(['type', 'key', 'value', 'keyEncoding', 'valueEncoding', 'sublevel'])

/** Of an option that only hook functions know, undefined in an operation means that it is not given there. */
function copiesOf(operations: readonly object[], options: Options): PublicOperation[] {
  const inherited = Object.entries(options ?? noOptions).filter(([name]) => !replaced.has(name))
  return operations.map((operation) => {
    const copy = Object.assign({}, options, operation) as Record<string, unknown>
    for (const [name, value] of inherited) if (copy[name] === undefined) copy[name] = value
    return copy as unknown as PublicOperation
  })
}

function encodeKey(place: Place, encoding: Encoder, key: unknown): Bytes {
  return prefixed(place.prefix, encoding.encode(key), encoding.format)
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

function isOpen(place: Place): boolean {
  return place.owner.status === 'open' && !place.isClosing
}

function whenOpen({ owner, isClosing }: Place, work: () => Promise<void>): Promise<void> {
  if (owner.status === 'opening' && !isClosing) return owner.deferAsync(work)
  return Promise.reject(notOpen(isClosing ? closing : owner, 'put(), del() and batch()'))
}
