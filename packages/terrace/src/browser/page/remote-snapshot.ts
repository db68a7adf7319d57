/** A snapshot of the worker that has the database open. It ends with that worker. */

import type { BackendSnapshot } from 'terrace-core'
import { Call, CURRENT_STATE } from './calls.js'
import type { Requests, WorkerState } from './requests.js'

export class RemoteSnapshot implements BackendSnapshot, WorkerState {
  readonly #requests: Requests
  readonly #number: number
  #isLost = false

  constructor(requests: Requests) {
    this.#requests = requests
    this.#number = requests.addState(this)
    requests.tell(Call.snapshot, requests.bytes.end, [this.#number])
  }

  /**
   * The number by which the worker knows it.
   *
   * @throws LEVEL_LEADER_LOST if the worker is gone, LEVEL_STORAGE_LOST if the database is.
   */
  get number(): number {
    if (this.#isLost) throw this.#requests.stateLost()
    return this.#number
  }

  close(): void {
    if (this.#isLost) return
    this.#requests.removeState(this.#number)
    this.#requests.tell(Call.closeSnapshot, this.#requests.bytes.end, [this.#number])
  }

  forgotten(): void {
    this.#isLost = true
  }
}

/** The number of a snapshot, or what stands for none. */
export function numberOf(snapshot: RemoteSnapshot | undefined): number {
  return snapshot === undefined ? CURRENT_STATE : snapshot.number
}
