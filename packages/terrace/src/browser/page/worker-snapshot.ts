/** A snapshot of the worker that has the database open. It ends with that worker. */

import { RemoteSnapshot } from 'terrace-core'
import { Call, CURRENT_STATE } from './calls.js'
import type { Requests } from './requests.js'

export class WorkerSnapshot extends RemoteSnapshot {
  readonly #requests: Requests

  constructor(requests: Requests) {
    super(requests.handles)
    this.#requests = requests
    requests.tell(Call.snapshot, requests.bytes.end, [this.handle])
  }

  /** LEVEL_LEADER_LOST if the worker is gone, LEVEL_STORAGE_LOST if the database is. */
  protected lost(): unknown {
    return this.#requests.stateLost()
  }

  protected closeThere(handle: number): void {
    this.#requests.tell(Call.closeSnapshot, this.#requests.bytes.end, [handle])
  }
}

/** The number of a snapshot, or what stands for none. */
export function numberOf(snapshot: WorkerSnapshot | undefined): number {
  return snapshot === undefined ? CURRENT_STATE : snapshot.handle
}
