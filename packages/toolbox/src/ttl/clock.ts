import { codedError } from '../errors.js'

/** A clock that does not go backwards: it tells the latest time that its source ever told. */
export class Clock {
  readonly #source: () => number
  #latest = 0

  /** @param source - The time in milliseconds since 1970. */
  constructor(source: () => number) {
    this.#source = source
  }

  /**
   * The time in milliseconds since 1970.
   *
   * @throws TTL_INVALID_CLOCK if the source tells something other than a number from 0 to 2^53 - 1.
   */
  now(): number {
    const time = this.#source()
    if (!(time >= 0 && time <= Number.MAX_SAFE_INTEGER)) {
      throw codedError('TTL_INVALID_CLOCK', `The clock tells ${time}, which is no time`)
    }

    if (time > this.#latest) this.#latest = time
    return this.#latest
  }

  /**
   * When something expires that lives for `ttlMs` from now: whole milliseconds since 1970. Undefined if never, which
   * is also what lies beyond 2^53 - 1.
   */
  expiryAfter(ttlMs: number): number | undefined {
    const expiry = Math.ceil(this.now() + ttlMs)
    return expiry <= Number.MAX_SAFE_INTEGER ? expiry : undefined
  }
}
