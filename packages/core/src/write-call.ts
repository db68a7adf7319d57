/** Calls of methods that write, as the queue of writes has to do with them. */

import type { Bytes, Operations } from './backend.js'
import type { OperationList } from './operation-list.js'

/** Where the queue writes. */
export interface Writer {
  write(operations: Operations, sync: boolean): void | Promise<void>
  writeSync(operations: Operations, sync: boolean): void
}

/** What hook functions read while they run, besides what is stored. */
export interface Overlay {
  /**
   * What a key will be, by the operations up to now: null if it is deleted, undefined if they leave it alone.
   *
   * @param identity - Of the key, by {@link identityOf}.
   */
  find(identity: string): Bytes | null | undefined
}

/** What a call writes. */
export interface Writes extends Overlay {
  /** Has hook functions see the operations. If it throws, none is to be written. */
  take(): void
  /** What is to be written. */
  readonly list: OperationList
  readonly length: number
  /** Whether somebody listens. */
  readonly isHeard: boolean
  /** Emits the event `write`. To be called once they are written. */
  emit(): void
}

/** A call of a method that writes. */
export interface WriteCall {
  /** Its name, for errors. */
  readonly method: string
  /** Whether it is to survive a loss of power before it is acknowledged. */
  readonly sync: boolean
  /** @param before - Operations of other calls that will be written in the same batch, before these. */
  writes(before: OperationList | null): Writes
  /** Makes its bytes stay as they are, whatever becomes of the caller's buffers. */
  keep(): void
  /** A call whose operations functions may change while this stays as it is. */
  copy(): WriteCall
}
