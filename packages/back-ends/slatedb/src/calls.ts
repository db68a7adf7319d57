/** Calls of the engine, with a deadline, and with errors translated for users. */

import { setImmediate } from 'node:timers/promises'
import { Deadlines } from './deadlines.js'
import { slateError, translated } from './errors.js'
import { redacted } from './location.js'

/**
 * How long successive calls may run before other work gets a turn. The engine often answers synchronously, so a loop that
 * awaits its answers would leave no turn to timers and sockets.
 */
const TURN_MS = 5

export class Calls {
  readonly location: string
  readonly #deadlines: Deadlines
  readonly #storeOptions: Readonly<Record<string, string>>

  /** When the first call of this event loop turn was made; undefined if there was none. */
  #turnStart: number | undefined

  constructor(location: string, deadlineMs: number, storeOptions: Readonly<Record<string, string>>) {
    this.location = location
    this.#storeOptions = storeOptions
    this.#deadlines = new Deadlines(deadlineMs, (operation) =>
      slateError(
        'LEVEL_DEADLINE',
        `The store has not answered within ${deadlineMs} ms, so ${operation} has failed: ${location}`,
        location
      )
    )
  }

  /** The result of a call. After the deadline it fails, although the engine continues the call. */
  async within<T>(operation: string, call: Promise<T>): Promise<T> {
    if (this.#turnStart === undefined) void this.#beginTurn()
    try {
      const result = await this.#deadlines.within(operation, call)
      if (performance.now() - (this.#turnStart ?? Infinity) > TURN_MS) await setImmediate()
      return result
    } catch (error) {
      throw this.translated(error)
    }
  }

  async #beginTurn(): Promise<void> {
    this.#turnStart = performance.now()
    await setImmediate()
    this.#turnStart = undefined
  }

  /** Translates an error for users. */
  translated(error: unknown): Error {
    const { message } = error as Error
    const shown = redacted(message, this.#storeOptions)
    // The messages of the binding's errors are read-only.
    return translated(
      shown === message ? error : Object.assign(new Error(shown), { tag: 'Unavailable' }),
      this.location
    )
  }
}
