import { codedError } from '../errors.js'
import type { Queues, Waiter } from './queue.js'

/** How to wait for keys. */
export interface AcquireOptions {
  /**
   * How long to wait for all keys at most, in milliseconds, 0 to 2^31 - 1: with 0 they must be free now. `Infinity`
   * waits for ever.
   *
   * @defaultValue `Infinity`
   */
  timeoutMs?: number | undefined

  /** Ends the waiting when it is aborted. What was acquired by then stays. */
  signal?: AbortSignal | undefined

  /**
   * Let others have the keys at the same time who share them, too: readers, as it were.
   *
   * @defaultValue `false`
   */
  shared?: boolean | undefined
}

/** The longest delay of a timer. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1

/**
 * Waits for keys, one after the other in one order for everybody, so that two who want the same keys never wait for each
 * other.
 */
export class Acquisition {
  readonly #queues: Queues
  /** Sorted, each once. */
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
   * @throws LOCK_TIMEOUT, LOCK_ABORTED; then none is held.
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

  /** Gives all keys up. More than one call does no more than one. */
  release(): void {
    const held = this.#keys.slice(0, this.#held)
    this.#held = 0
    for (const key of held) this.#queues.leave(key)
  }

  get #isDone(): boolean {
    return this.#held === this.#keys.length
  }

  /** Enters the queue of the next key, and so on as long as that is granted at once. */
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

/** Checks options. @internal */
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
