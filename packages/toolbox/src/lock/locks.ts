import { codedError } from '../errors.js'
import { type AcquireOptions, Acquisition, assertOptions } from './acquisition.js'
import type { Namespace } from './key-names.js'

/**
 * Gives up what was acquired. More than one call does no more than one. Where the language has `using`, it is called at
 * the end of the block.
 */
export interface Release extends Disposable, AsyncDisposable {
  (): void
}

/** Locks on keys of a database or a namespace. Everybody in the process who asks for the same keys meets here. */
export class Locks<K = string> {
  readonly #namespace: Namespace

  /** @internal */
  constructor(namespace: Namespace) {
    this.#namespace = namespace
  }

  /**
   * Waits until nobody else has any of the keys. Who comes first is served first. Several keys are taken in one order
   * whatever order they are named in, so that calls do not wait for each other for ever; a call within the time of
   * another that has one of its keys does.
   *
   * @param keys - A key, or an array of keys: an array is never one key.
   * @returns What gives the keys up.
   * @throws LOCK_TIMEOUT if the keys were not free in time, LOCK_ABORTED if the signal was aborted, LOCK_INVALID for keys or
   * options that are none. Then none of the keys is held.
   */
  async acquire(keys: K | readonly K[], options: AcquireOptions = {}): Promise<Release> {
    assertOptions(options)
    const list = Array.isArray(keys) ? keys : [keys]
    const names = new Set(list.map((key) => this.#namespace.nameOf(key)))
    const acquisition = new Acquisition(this.#namespace.queues, [...names].sort(), options)
    await acquisition.wait()

    return Object.assign(() => acquisition.release(), {
      [Symbol.dispose]: () => acquisition.release(),
      [Symbol.asyncDispose]: async () => acquisition.release()
    })
  }

  /**
   * Calls `work` while it has the keys, and gives them up when that has ended or failed.
   *
   * @returns What `work` returns.
   * @throws as {@link acquire}, and what `work` throws.
   */
  async withLock<T>(
    keys: K | readonly K[],
    work: () => T | Promise<T>,
    options: AcquireOptions = {}
  ): Promise<T> {
    if (typeof work !== 'function') throw codedError('LOCK_INVALID', 'What to do must be a function')
    const release = await this.acquire(keys, options)

    try {
      return await work()
    } finally {
      release()
    }
  }
}
