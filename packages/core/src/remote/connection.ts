/**
 * What a {@link RemoteBackend} needs of the way to the other side: a codec, which makes calls of what is asked, and a connection, which
 * brings them there. Only those two know what else a call has. A call is given to the connection before the codec makes another one.
 */

import type { Bytes, CursorOptions, CursorParts, Operations, RangeDeletion } from '../backend.js'
import type { Handles } from './handles.js'
import type { FarPage, TextsOf } from './page-rest.js'
import type { Fate } from './pending-calls.js'

/** A call as it travels. */
export interface RemoteCall<Result = unknown> {
  /** Makes the result of an answer. */
  readonly read: (answer: never) => Result
}

export interface RemoteConnection {
  /** The cursors and snapshots that the other side has for this one. */
  readonly handles: Handles

  /**
   * Asks for something.
   *
   * @param fate - What becomes of the call if the other side is lost.
   */
  ask<Result>(fate: Fate, call: RemoteCall<Result>): Promise<Result>

  /**
   * Says something about a cursor or snapshot of the other side, which means nothing to another side. Nobody waits for it.
   *
   * @param failed - Called if it has failed, and the other side is not lost. A side that reports that later, when the cursor or snapshot
   *   is used, need not call it.
   */
  tell(call: RemoteCall, failed?: (error: unknown) => void): void

  /** The error of reads from a cursor or snapshot that was lost with the other side. */
  stateLost(): unknown

  /** Whether an error is that of such a read, and another side can be asked for the current state. */
  isStateLost(error: unknown): boolean
}

/**
 * Makes the calls. The arguments belong to the caller again when the call was given to the connection. A snapshot is the handle of one;
 * undefined stands for the current state.
 */
export interface RemoteCodec {
  /** Makes text of the bytes of a page. */
  readonly textsOf: TextsOf

  get(key: Bytes, format: string | undefined, snapshot?: number): RemoteCall<Bytes | undefined>
  getMany(keys: Bytes[], format: string | undefined, snapshot?: number): RemoteCall<Array<Bytes | undefined>>
  has(key: Bytes, snapshot?: number): RemoteCall<boolean>
  hasMany(keys: Bytes[], snapshot?: number): RemoteCall<boolean[]>
  write(operations: Operations, sync: boolean): RemoteCall<void>
  clear(range: RangeDeletion, snapshot?: number): RemoteCall<void>

  /** Reads the next page of a cursor. Pages are counted from 0, so that a repeated call can be told from the next one. */
  read(cursor: number, page: number, size: number, highWaterMarkBytes: number): RemoteCall<FarPage>

  // These are told.
  cursor(cursor: number, range: CursorOptions, parts: CursorParts, snapshot?: number): RemoteCall
  seek(cursor: number, target: Uint8Array): RemoteCall
  closeCursor(cursor: number): RemoteCall
  snapshot(snapshot: number): RemoteCall
  closeSnapshot(snapshot: number): RemoteCall
}
