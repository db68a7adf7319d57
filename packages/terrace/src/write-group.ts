/** Calls that are written as one batch. Each has its own result. */

import { keepBytes, type PublicOperation } from './carried-operation.js'
import type { HookedCall, HookedWrites } from './hooked-writes.js'
import { OperationList } from './operation-list.js'
import type { Store } from './store.js'

/** A call of a method that writes. */
export interface WriteCall extends HookedCall {
  /** Copies, which hook functions may change. */
  readonly operations: PublicOperation[]
  readonly flags: number
}

/** A call that waits, and who waits for it. */
export interface WaitingCall {
  readonly call: WriteCall
  resolve(): void
  reject(error: unknown): void
}

export class WriteGroup {
  readonly #calls: WaitingCall[] = []
  readonly #writes: HookedWrites[] = []
  readonly #list = new OperationList()
  #flags: number

  /** @param flags - Of the write, besides those of the calls. */
  constructor(flags: number) {
    this.#flags = flags
  }

  get calls(): readonly WaitingCall[] {
    return this.#calls
  }

  /** What the calls up to now will write; null if that is nothing. */
  get list(): OperationList | null {
    return this.#list.length === 0 ? null : this.#list
  }

  get flags(): number {
    return this.#flags
  }

  add(waiting: WaitingCall, writes: HookedWrites): void {
    this.#list.append(writes.list)
    this.#calls.push(waiting)
    this.#writes.push(writes)
    this.#flags |= waiting.call.flags
  }

  write(store: Store): void | Promise<void> {
    return store.write(this.#list.flat, this.#flags)
  }

  resolve(): void {
    for (const [index, { resolve }] of this.#calls.entries()) {
      this.#writes[index]?.emit()
      resolve()
    }
  }

  reject(error: unknown): void {
    for (const { reject } of this.#calls) reject(error)
  }
}

/** A call whose bytes stay as they are, whatever becomes of the caller's buffers. */
export function kept(call: WriteCall): WriteCall {
  for (const operation of call.operations) keepBytes(operation)
  return call
}

/** A call whose operations functions may change while it stays as it is. */
export function copied(call: WriteCall): WriteCall {
  return { ...call, operations: call.operations.map((operation) => Object.assign({}, operation)) }
}
