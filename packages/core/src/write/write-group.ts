/** Calls that are written as one batch. Each gets its own result. */

import { OperationList } from './operation-list.js'
import type { WriteCall, Writer, Writes } from './write-call.js'

/** A waiting call, and the promise that it settles. */
export interface WaitingCall {
  readonly call: WriteCall
  resolve(): void
  reject(error: unknown): void
}

export class WriteGroup {
  readonly #calls: WaitingCall[] = []
  readonly #writes: Writes[] = []
  readonly #list = new OperationList()
  readonly #isBlocking: boolean
  #sync = false

  /** @param isBlocking - Whether to write within the call. */
  constructor(isBlocking: boolean) {
    this.#isBlocking = isBlocking
  }

  get calls(): readonly WaitingCall[] {
    return this.#calls
  }

  /** What the calls so far will write; null if that is nothing. */
  get list(): OperationList | null {
    return this.#list.length === 0 ? null : this.#list
  }

  /** Whether one of the calls must survive a loss of power. */
  get sync(): boolean {
    return this.#sync
  }

  add(waiting: WaitingCall, writes: Writes): void {
    this.#list.append(writes.list)
    this.#calls.push(waiting)
    this.#writes.push(writes)
    this.#sync ||= waiting.call.sync
  }

  write(writer: Writer): void | Promise<void> {
    if (!this.#isBlocking) return writer.write(this.#list.flat, this.#sync)
    writer.writeSync(this.#list.flat, this.#sync)
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
