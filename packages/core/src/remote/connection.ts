/**
 * What a {@link RemoteBackend} needs to reach the other side: a codec, which turns requests into calls, and a connection, which
 * delivers them. Only those two know what else a call holds. Each call is given to the connection before the codec makes the next.
 */

import type {
  BackendCondition,
  Bytes,
  CursorOptions,
  CursorParts,
  Operations,
  Range,
  RangeDeletion,
  VersionedValue
} from '../backend.js'
import type { Handles } from './handles.js'
import type { FarPage, TextsOf } from './page-rest.js'
import type { Fate } from './pending-calls.js'

/** A call in the form in which it is sent. */
export interface RemoteCall<Result = unknown> {
  /** Turns an answer into the result. */
  readonly read: (answer: never) => Result
}

/** A condition of a write. `snapshot` is the handle of a snapshot. */
export type RemoteCondition =
  | Exclude<BackendCondition, { readonly kind: 'unchanged' }>
  | { readonly kind: 'unchanged'; readonly range: Range; readonly snapshot: number }

/** A connection to the other side. It delivers the calls that a {@link RemoteCodec} makes. */
export interface RemoteConnection {
  /** The cursors and snapshots that the other side holds for this one. */
  readonly handles: Handles

  /**
   * Sends a call and resolves to its result.
   *
   * @param fate - What happens to the call if the other side is lost.
   */
  ask<Result>(fate: Fate, call: RemoteCall<Result>): Promise<Result>

  /**
   * Sends a call about a cursor or snapshot of the other side, without an answer. The call means nothing to any other side.
   *
   * @param failed - Called if the call has failed and the other side is not lost. A connection whose other side reports the
   *   failure later, when the cursor or snapshot is used, need not call it.
   */
  tell(call: RemoteCall, failed?: (error: unknown) => void): void

  /** Returns the error for reads from a cursor or snapshot that was lost with the other side. */
  stateLost(): unknown

  /** Returns whether an error is that of such a read, and another side can serve the current state. */
  isStateLost(error: unknown): boolean
}

/**
 * Turns requests into calls. The caller may reuse the arguments once the call has been passed to the connection. `snapshot` is
 * the handle of a snapshot; undefined stands for the current state.
 */
export interface RemoteCodec {
  /** Decodes the bytes of a page as text. */
  readonly textsOf: TextsOf

  get(key: Bytes, format: string | undefined, snapshot?: number): RemoteCall<Bytes | undefined>
  /**
   * Missing if no other side has versions.
   *
   * @throws LEVEL_NOT_SUPPORTED if this one has none.
   */
  getEntry?(key: Bytes, format: string | undefined, snapshot?: number): RemoteCall<VersionedValue | undefined>
  getMany(keys: Bytes[], format: string | undefined, snapshot?: number): RemoteCall<Array<Bytes | undefined>>
  has(key: Bytes, snapshot?: number): RemoteCall<boolean>
  hasMany(keys: Bytes[], snapshot?: number): RemoteCall<boolean[]>
  write(operations: Operations, sync: boolean): RemoteCall<void>

  /**
   * Writes operations if all conditions hold. If one does not, the call fails with LEVEL_CONFLICT.
   *
   * @throws LEVEL_NOT_SUPPORTED if the other side cannot write under conditions. It must never write without them.
   */
  writeIf(conditions: readonly RemoteCondition[], operations: Operations, sync: boolean): RemoteCall<void>

  clear(range: RangeDeletion, snapshot?: number): RemoteCall<void>

  /** Reads the next page of a cursor. Pages are numbered from 0, which distinguishes a repeated call from the next one. */
  read(cursor: number, page: number, size: number, highWaterMarkBytes: number): RemoteCall<FarPage>

  // The calls for {@link RemoteConnection.tell}.
  cursor(cursor: number, range: CursorOptions, parts: CursorParts, snapshot?: number): RemoteCall
  seek(cursor: number, target: Uint8Array): RemoteCall
  closeCursor(cursor: number): RemoteCall
  snapshot(snapshot: number): RemoteCall
  closeSnapshot(snapshot: number): RemoteCall
}
