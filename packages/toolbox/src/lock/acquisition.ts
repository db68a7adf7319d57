import { codedError } from '../errors.js'
import type { Queues, Waiter } from './queue.js'

/** Options for acquiring keys. */
export interface AcquireOptions {
  /**
   * The maximum time to wait for all keys, in milliseconds, 0 to 2^31 - 1. With 0, the keys must be free now. With `Infinity`,
   * the wait has no limit.
   *
   * @defaultValue `Infinity`
   */
  timeoutMs?: number | undefined

  /** A signal that ends the wait. A lock that was already acquired is not affected. */
  signal?: AbortSignal | undefined

  /**
   * Whether other callers with this option may hold the keys at the same time, as readers do.
   *
   * @defaultValue `false`
   */
  shared?: boolean | undefined
}

/** The longest delay of a timer. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1

/** Waits for keys one after another. All callers take keys in the same order, so no two of them ever wait for each other. */
export class Acquisition {
  readonly #queues: Queues
  /** Sorted, without duplicates. */
  readonly #keys: readonly string[]
  readonly #options: AcquireOptions
  #held = 0
  #waiter: Waiter | undefined
  #timer: NodeJS.Timeout | undefined
  #resolve: () => void = () => {}
  #reject: (error: unknown) => void = () => {}

  constructor(queues: Queues, keys: readonly string[], options: AcquireOptions) {
    this.#queues = queues
    this.#keys = keys
    this.#options = options
  }

  /**
   * Waits until all keys are held.
   *
   * @throws LOCK_TIMEOUT or LOCK_ABORTED; then no key is held.
   */
  wait(): Promise<void> {
    const { signal, timeoutMs = Infinity } = this.#options

    return new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
      if (signal?.aborted) return this.#abort()

      this.#takeNext()
      if (this.#isDone) return

      if (timeoutMs === 0) return this.#expire()
      if (timeoutMs !== Infinity) this.#timer = setTimeout(this.#expire, timeoutMs)
      signal?.addEventListener('abort', this.#abort, { once: true })
    })
  }

  /** Releases all keys. Further calls do nothing. */
  release(): void {
    const held = this.#keys.slice(0, this.#held)
    this.#held = 0
    for (const key of held) this.#queues.leave(key)
  }

  get #isDone(): boolean {
    return this.#held === this.#keys.length
  }

  /** Enters the queue of the next key, and continues while keys are granted at once. */
  #takeNext(): void {
    while (!this.#isDone) {
      const key = this.#keys[this.#held] as string
      let isAtOnce = true
      const grant = (): void => {
        this.#waiter = undefined
        this.#held++
        if (!isAtOnce) this.#takeNext()
      }

      this.#waiter = { isShared: this.#options.shared === true, grant }
      this.#queues.enter(key, this.#waiter)
      isAtOnce = false
      if (this.#waiter !== undefined) return
    }

    this.#end(this.#resolve)
  }

  readonly #expire = (): void => {
    const { timeoutMs } = this.#options
    this.#fail(codedError('LOCK_TIMEOUT', `The keys were not free within ${timeoutMs} ms`))
  }

  readonly #abort = (): void => {
    const reason = this.#options.signal?.reason
    this.#fail(codedError('LOCK_ABORTED', 'Waiting for the keys was aborted', reason))
  }

  #fail(error: unknown): void {
    const waiter = this.#waiter
    if (waiter !== undefined) this.#queues.withdraw(this.#keys[this.#held] as string, waiter)
    this.release()
    this.#end(() => this.#reject(error))
  }

  #end(settle: () => void): void {
    clearTimeout(this.#timer)
    this.#options.signal?.removeEventListener('abort', this.#abort)
    settle()
  }
}

/**
 * Checks options.
 *
 * @internal
 */
export function assertOptions({ timeoutMs, signal, shared }: AcquireOptions): void {
  if (timeoutMs !== undefined && timeoutMs !== Infinity) {
    if (typeof timeoutMs !== 'number' || !(timeoutMs >= 0 && timeoutMs <= MAX_TIMEOUT_MS)) {
      throw codedError('LOCK_INVALID', "The option 'timeoutMs' must be 0 to 2147483647, or Infinity")
    }
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw codedError('LOCK_INVALID', "The option 'signal' must be an AbortSignal")
  }
  if (shared !== undefined && typeof shared !== 'boolean') {
    throw codedError('LOCK_INVALID', "The option 'shared' must be a boolean")
  }
}
