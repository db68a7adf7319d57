/** The object with which hook functions add operations, and the errors that end such a call. */

import { type CodedError, codedError } from '../errors.js'
import type { Database } from '../level/database.js'
import type { HookedOperation, PublicOperation } from '../write/hooked-operation.js'
import type { HookReads, Steps } from './hook-reads.js'
import type { PrewriteBatch, PrewriteFunction } from './prewrite.js'

/** The most calls of a function for one operation. One that reads something else each time would never end. */
const MAX_CALLS = 1000

/** Takes the operations that functions add. */
export interface Adder {
  /**
   * @param owner - The object whose function adds the operation.
   * @param depth - The length of the chain of functions that added operations for each other up to this one.
   */
  add(operation: PublicOperation, owner: Database, depth: number): void
  /** How many operations functions have added for now. */
  readonly addedLength: number
  /** Drops all but the first operations that functions have added. */
  truncateAdded(length: number): void
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
  /** What the running function reads, if it can wait. */
  #reads: HookReads | null = null

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

  waitFor(promise: Promise<unknown>): never {
    if (this.#reads !== null && this.#owner !== null) return this.#reads.waitFor(promise)
    throw codedError(
      'LEVEL_NOT_SUPPORTED',
      'This hook function cannot wait: it must finish before it returns'
    )
  }

  /** Like {@link run}, for a function that may have to wait for what it reads. It is called again then. */
  *runInSteps(
    reads: HookReads,
    run: PrewriteFunction,
    owner: Database,
    hooked: HookedOperation,
    method: string,
    depth = 0
  ): Steps {
    for (let calls = 1; !this.#runOnce(reads, run, owner, hooked, method, depth); calls++) {
      if (calls === MAX_CALLS) {
        const cause = codedError(
          'LEVEL_HOOK_RECURSION',
          `A prewrite hook function read ${MAX_CALLS} values one at a time for one operation: read fewer`
        )
        throw hookError(method, cause)
      }
      yield
    }
  }

  /** Calls a function. If it has to wait, undoes what it did, and returns false. */
  #runOnce(
    reads: HookReads,
    run: PrewriteFunction,
    owner: Database,
    hooked: HookedOperation,
    method: string,
    depth: number
  ): boolean {
    const { addedLength } = this.#adder
    const saved = hooked.saved()
    this.#reads = reads
    reads.isWaiting = false

    try {
      this.run(run, owner, hooked, method, depth)
    } catch (error) {
      if (!reads.isWaiting) throw error
    } finally {
      this.#reads = null
    }

    if (!reads.isWaiting) return true
    this.#adder.truncateAdded(addedLength)
    hooked.restore(saved)
    return false
  }

  /** Calls a function. If it throws, the called method fails with LEVEL_HOOK_ERROR, or with the error of the operation itself. */
  run(run: PrewriteFunction, owner: Database, hooked: HookedOperation, method: string, depth = 0): void {
    this.#owner = owner
    this.#depth = depth

    try {
      const result = run(hooked.operation, this) as unknown
      if (typeof (result as PromiseLike<unknown> | undefined)?.then === 'function') refusePromise(result)
      hooked.normalize()
    } catch (cause) {
      throw ownError(hooked, cause) ?? hookError(method, cause)
    } finally {
      this.#owner = null
    }
  }
}

/**
 * The error of an operation whose key or value cannot be stored. A function that encodes them runs into it first; the write then
 * fails in the same way as without that function.
 */
function ownError(hooked: HookedOperation, cause: unknown): unknown {
  const code = (cause as Partial<CodedError> | null | undefined)?.code
  if (code !== 'LEVEL_INVALID_KEY' && code !== 'LEVEL_INVALID_VALUE') return undefined
  try {
    hooked.encode()
    return undefined
  } catch (error) {
    return error
  }
}

function hookError(method: string, cause: unknown): CodedError {
  // A clear deletes in several writes.
  const outcome = method === 'clear' ? '' : ', so nothing was written'
  const message = `A prewrite hook function failed in ${method}()${outcome}: see cause`
  return Object.assign(codedError('LEVEL_HOOK_ERROR', message), { cause })
}

function refusePromise(result: unknown): never {
  // How that promise settles does not matter.
  Promise.resolve(result).catch(() => {})
  throw new TypeError('A prewrite hook function must not return a promise: it must finish before it returns')
}
