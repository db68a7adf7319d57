import { codedError } from '../errors.js'
import { type AcquireOptions, Acquisition, assertOptions } from './acquisition.js'
import type { Namespace } from './key-names.js'

/** Releases the acquired keys. Further calls do nothing. With `using`, this function is called at the end of the block. */
export interface Release extends Disposable, AsyncDisposable {
  (): void
}

/** Locks on keys of a database or a namespace. They apply to all callers in the process that request the same keys. */
export class Locks<K = string> {
  readonly #namespace: Namespace

  /** @internal */
  constructor(namespace: Namespace) {
    this.#namespace = namespace
  }

  /**
   * Waits until no other caller holds any of the keys. Callers are served in the order of their calls. Several keys are
   * always taken in the same order, regardless of how they are listed, so calls never deadlock. The exception is a call by a
   * caller that already holds one of its keys: it waits forever.
   *
   * @param keys - A key, or an array of keys. An array is never a single key.
   * @returns The function that releases the keys.
   * @throws LOCK_TIMEOUT if the keys were not free in time, LOCK_ABORTED if the signal was aborted, LOCK_INVALID if keys or
   *   options are not valid. In these cases, none of the keys is held.
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
   * Calls `work` while it holds the keys, and releases them when `work` has succeeded or failed.
   *
   * @returns The result of `work`.
   * @throws the errors of {@link acquire}, and those of `work`.
   */
  async withLock<T>(
    keys: K | readonly K[],
    work: () => T | Promise<T>,
    options: AcquireOptions = {}
  ): Promise<T> {
    if (typeof work !== 'function') throw codedError('LOCK_INVALID', 'The second argument must be a function')
    const release = await this.acquire(keys, options)

    try {
      return await work()
    } finally {
      release()
    }
  }
}
