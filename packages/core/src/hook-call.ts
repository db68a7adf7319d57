/** The object with which hook functions add operations, and the errors that end such a call. */

import type { CarriedOperation, PublicOperation } from './carried-operation.js'
import type { Database } from './database.js'
import { codedError } from './errors.js'
import type { PrewriteBatch, PrewriteFunction } from './prewrite.js'

/** Takes the operations that functions add. */
export interface Adder {
  /**
   * @param owner - The object whose function adds the operation.
   * @param depth - The length of the chain of functions that added operations for each other up to this one.
   */
  add(operation: PublicOperation, owner: Database, depth: number): void
}

/**
 * Calls functions. As in abstract-level, all operations of a call get the same object, so that a function can tell which of
 * them are written together.
 */
export class HookCall implements PrewriteBatch {
  readonly #adder: Adder
  #depth = 0
  /** The object whose function is running. */
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

  /** Calls a function. If it throws, the method that was called fails with LEVEL_HOOK_ERROR. */
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
  // How that promise settles does not matter.
  Promise.resolve(result).catch(() => {})
  throw new TypeError('A prewrite hook function must not return a promise: it must finish before it returns')
}
