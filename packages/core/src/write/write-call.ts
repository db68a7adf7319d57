/** Calls of methods that write, as the write queue handles them. */

import type { Bytes, Operations } from '../backend.js'
import type { Ask, HookReads, Steps } from '../hooks/hook-reads.js'
import type { OperationList } from './operation-list.js'

/** Where the queue writes to. */
export interface Writer {
  write(operations: Operations, sync: boolean): void | Promise<void>
  writeSync(operations: Operations, sync: boolean): void
}

/** What hook functions read while they run, in addition to what is stored. */
export interface Overlay {
  /**
   * The value that a key will have after the operations so far: null if they delete it, undefined if they do not touch it.
   *
   * @param identity - The key's identity; see {@link identityOf}.
   */
  find(identity: string): Bytes | null | undefined
}

/** The writes of one call. */
export interface Writes extends Overlay {
  /** Shows the operations to the hook functions. If this throws, none may be written. */
  take(): void
  /** Like {@link take}, for functions that may have to wait for what they read. */
  takeInSteps(reads: HookReads): Steps
  /** The operations to write. */
  readonly list: OperationList
  readonly length: number
  /** Whether there are listeners. */
  readonly hasListeners: boolean
  /** Emits the event `write`. Call it once the operations are written. */
  emit(): void
}

/** A call of a method that writes. */
export interface WriteCall {
  /** The name of the method, for errors. */
  readonly method: string
  /** Whether the call must survive a loss of power before it is acknowledged. */
  readonly sync: boolean
  /** @param before - Operations of other calls that will be written in the same batch, before these. */
  writes(before: OperationList | null): Writes
  /** What to read ahead, because functions will read it for these operations. */
  asks(): Ask[]
  /** Copies its bytes, so that they stay the same whatever the caller does with its buffers. */
  keep(): void
  /** Returns a copy whose operations functions may change; this call stays unchanged. */
  copy(): WriteCall
}
