import { codedError } from '../errors.js'

/** A clock that never goes backwards: it returns the latest time that its source ever returned. */
export class Clock {
  readonly #source: () => number
  #latest = 0

  /** @param source - Returns the time in milliseconds since 1970. */
  constructor(source: () => number) {
    this.#source = source
  }

  /**
   * Returns the time in milliseconds since 1970.
   *
   * @throws TTL_INVALID_CLOCK if the source returns something other than a number from 0 to 2^53 - 1.
   */
  now(): number {
    const time = this.#source()
    if (!(time >= 0 && time <= Number.MAX_SAFE_INTEGER)) {
      throw codedError('TTL_INVALID_CLOCK', `The clock returned ${time}, which is not a time`)
    }

    if (time > this.#latest) this.#latest = time
    return this.#latest
  }

  /**
   * Returns when something expires that lives for `ttlMs` from now, in whole milliseconds since 1970. Undefined stands for
   * never, which also covers times after 2^53 - 1.
   */
  expiryAfter(ttlMs: number): number | undefined {
    const expiry = Math.ceil(this.now() + ttlMs)
    return expiry <= Number.MAX_SAFE_INTEGER ? expiry : undefined
  }
}
