/** `update` of a database or sublevel: a read and a write on the condition that what was read still holds, repeated if it does not. */

import type { BackendCondition, Bytes, Operations } from '../backend.js'
import { codedError } from '../errors.js'
import { yieldToEventLoop } from '../event-loop.js'
import { assertOwnSublevel, type Database, type ExactEncoding, prefixed } from '../level/database.js'
import type { WriteOptions } from '../level/operation-options.js'
import type { Store } from '../level/store.js'
import { isPromise } from '../promise.js'
import { decoded } from '../read/read-api.js'
import type { Namespace } from '../sublevel/namespace.js'
import { assertConditional } from './conditional-write.js'
import { copyOf, identityOf } from './operation-list.js'
import { backOff, checkedRetries, throwIfAborted } from './retries.js'
import { isOpen, whenOpen, writeIf } from './write-api.js'

type KeyCondition = Extract<BackendCondition, { kind: 'absent' | 'present' | 'equals' }>

type Change = (value: unknown) => unknown

interface Options extends WriteOptions {
  readonly keyEncoding?: unknown
  readonly valueEncoding?: unknown
  readonly sublevel?: Database | null
  readonly retries?: number | undefined
  readonly signal?: AbortSignal | undefined
}

const noOptions: Options = Object.freeze({})

/** The last of those updates of each key that have met a conflict. They go one after the other. */
const turns = new WeakMap<Store, Map<string, Promise<unknown>>>()

/** Replaces the value of a key with what `change` makes of it. Returns the new value. */
export function update(
  namespace: Namespace,
  key: unknown,
  change: unknown,
  given?: Options | null
): Promise<unknown> {
  try {
    if (typeof change !== 'function') {
      throw codedError('LEVEL_INVALID_ARGUMENT', "The second argument 'change' must be a function")
    }
    if (!isOpen(namespace)) {
      return whenOpen(namespace, () => update(namespace, key, change, given), 'update()')
    }
    return new Update(namespace, key, change as Change, given ?? noOptions).run()
  } catch (error) {
    return Promise.reject(error)
  }
}

class Update {
  readonly #namespace: Namespace
  readonly #key: unknown
  readonly #rootKey: Bytes
  readonly #values: ExactEncoding
  readonly #formats: { readonly keyEncoding: string; readonly valueEncoding: string }
  readonly #change: Change
  readonly #options: WriteOptions
  readonly #retries: number
  readonly #signal: AbortSignal | undefined

  constructor(namespace: Namespace, key: unknown, change: Change, given: Options) {
    const { owner, store } = namespace
    const { retries, signal, ...options } = given
    const target = options.sublevel ?? owner
    assertConditional(store, 'update()')
    assertOwnSublevel(target, owner, store.root)
    target._assertValidKey(key)
    const keys = target.keyEncoding(options.keyEncoding)
    this.#namespace = namespace
    this.#key = key
    this.#rootKey = copyOf(prefixed(target.prefix ?? '', keys.encode(key), keys.format))
    this.#values = target.valueEncoding(options.valueEncoding)
    this.#formats = { keyEncoding: keys.format, valueEncoding: this.#values.format }
    this.#change = change
    this.#options = options
    this.#retries = checkedRetries(retries)
    this.#signal = signal
    throwIfAborted(signal)
  }

  run(): Promise<unknown> {
    try {
      const done = this.#attempt()
      if (isPromise(done)) return done.catch((error) => this.#retry(error))
      return yieldToEventLoop()?.then(() => done) ?? Promise.resolve(done)
    } catch (error) {
      return this.#retry(error)
    }
  }

  #attempt(): unknown | Promise<unknown> {
    const found = this.#namespace.store.backend.get(this.#rootKey, this.#formats)
    return isPromise(found) ? found.then((value) => this.#replace(value)) : this.#replace(found)
  }

  #replace(found: Bytes | undefined): unknown | Promise<unknown> {
    const key = this.#rootKey
    // The function may change what it is given.
    const condition: KeyCondition =
      found === undefined ? { kind: 'absent', key } : { kind: 'equals', key, value: copyOf(found) }
    const made = this.#change(decoded(this.#values, found))
    return isPromise(made)
      ? made.then((value) => this.#write(condition, value))
      : this.#write(condition, made)
  }

  #write(condition: KeyCondition, value: unknown): unknown | Promise<unknown> {
    const key = this.#key
    if (value === undefined && condition.kind === 'absent') return undefined
    const operation =
      value === undefined ? { type: 'del' as const, key } : { type: 'put' as const, key, value }
    const encoded = (): Operations => [
      condition.key,
      value === undefined ? null : this.#values.encodeValue(value, key)
    ]
    const written = writeIf(this.#namespace, [condition], [operation], encoded, this.#options)
    return written === undefined ? value : written.then(() => value)
  }

  /** Tries again after `error`, if it is a conflict. */
  async #retry(error: unknown): Promise<unknown> {
    if (!isConflict(error)) throw error
    const { store } = this.#namespace
    const waiting = turns.get(store) ?? new Map<string, Promise<unknown>>()
    turns.set(store, waiting)
    const identity = identityOf(this.#rootKey)
    const before = waiting.get(identity)
    const turn = (before ?? Promise.resolve()).then(
      () => this.#repeat(error),
      () => this.#repeat(error)
    )
    waiting.set(identity, turn)
    try {
      return await turn
    } finally {
      if (waiting.get(identity) === turn) waiting.delete(identity)
    }
  }

  async #repeat(first: unknown): Promise<unknown> {
    let last = first
    for (let attempt = 1; attempt <= this.#retries; attempt++) {
      await backOff(attempt, this.#signal)
      try {
        return await this.#attempt()
      } catch (error) {
        if (!isConflict(error)) throw error
        last = error
      }
    }
    throw last
  }
}

function isConflict(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'LEVEL_CONFLICT'
}
