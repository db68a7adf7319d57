/** What hook functions get to add operations with, and the errors that they end in. */

import type { CarriedOperation, PublicOperation } from './carried-operation.js'
import type { Database } from './database.js'
import { codedError } from './errors.js'
import type { PrewriteBatch, PrewriteFunction } from './prewrite.js'

/** Takes what functions add. */
export interface Adder {
  /**
   * @param owner - Whose function it is.
   * @param depth - How many functions added operations for each other up to this one.
   */
  add(operation: PublicOperation, owner: Database, depth: number): void
}

/**
 * Calls functions. As in abstract-level it is the same object for all operations of a call, so that a function can tell which
 * of them are written together.
 */
export class HookCall implements PrewriteBatch {
  readonly #adder: Adder
  #depth = 0
  /** Whose function runs. */
  #owner: Database | null = null

  constructor(adder: Adder) {
    this.#adder = adder
  }

  add(operation: object): this {
    if (this.#owner === null) {
      throw codedError('LEVEL_BATCH_NOT_OPEN', 'A hook function cannot add operations after it has returned')
    }

    this.#adder.add(operation as PublicOperation, this.#owner, this.#depth)
    return this
  }

  /** Calls a function. What it throws becomes an error of the method that was called. */
  run(run: PrewriteFunction, owner: Database, carried: CarriedOperation, method: string, depth = 0): void {
    this.#owner = owner
    this.#depth = depth

    try {
      const result = run(carried.operation, this) as unknown
      if (typeof (result as PromiseLike<unknown> | undefined)?.then === 'function') refusePromise(result)
      carried.normalize()
    } catch (cause) {
      throw Object.assign(codedError('LEVEL_HOOK_ERROR', `The prewrite hook failed on ${method}()`), {
        cause
      })
    } finally {
      this.#owner = null
    }
  }
}

function refusePromise(result: unknown): never {
  // What becomes of it is of no interest to anybody.
  Promise.resolve(result).catch(() => {})
  throw new TypeError('A prewrite hook function must not return a promise: it has to be done when it returns')
}
