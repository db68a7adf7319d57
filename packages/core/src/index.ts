/**
 * An [abstract-level](https://github.com/Level/abstract-level) database over any ordered store.
 *
 * @packageDocumentation
 */

export type {
  Backend,
  BackendBatch,
  BackendCondition,
  BackendCursor,
  BackendManifest,
  BackendReadOptions,
  BackendSnapshot,
  Bytes,
  CursorOptions,
  CursorParts,
  Format,
  Operations,
  Page,
  Range,
  RangeDeletion,
  VersionedValue
} from './backend.js'
export {
  DirectCalls,
  DirectCursor,
  type DirectCursorOptions,
  type DirectData,
  type DirectForm,
  type DirectRange
} from './direct-calls.js'
export { type CodedError, type ConflictError, type CoreErrorCode, codedError, conflict } from './errors.js'
export { yieldToEventLoop } from './event-loop.js'
export type { PrepareFunction, PrewriteBatch, PrewriteFunction, PrewriteOptions } from './hooks/prewrite.js'
export { BarrierQueue } from './kit/barrier-queue.js'
export { clearKeys } from './kit/clear-keys.js'
export { ForwardingBackend } from './kit/forwarding-backend.js'
export { GroupedWrites, type Grouping } from './kit/grouped-writes.js'
export { type KeyStorage, type StoredBound, type StoredRange, StoredRanges } from './kit/stored-ranges.js'
export { BackendLevel } from './level/level.js'
export type { DatabaseManifest } from './level/manifest.js'
export type {
  AdditionalIteratorOptions,
  BatchOperation,
  BatchOptions,
  ConditionalOptions,
  DelOptions,
  Entry,
  GetManyOptions,
  GetOptions,
  HasManyOptions,
  HasOptions,
  Iterator,
  IteratorOptions,
  KeyCondition,
  KeyIterator,
  KeyIteratorOptions,
  PutOptions,
  RangeCondition,
  ReadOptions,
  SyncIterable,
  UpdateOptions,
  ValueIterator,
  ValueIteratorOptions,
  WriteCondition,
  WriteOptions
} from './level/operation-options.js'
export type {
  ClearedRange,
  Encodings,
  EventIterator,
  KeyOptions,
  WatchedOperation,
  WatchedWrites,
  WatchOptions
} from './level/watch.js'
export { PackedBuffer } from './read/packed-buffer.js'
export type { Snapshot } from './read/snapshot.js'
export { Redaction, redactedUrl, type Shown } from './redaction.js'
export type { RemoteCall, RemoteCodec, RemoteCondition, RemoteConnection } from './remote/connection.js'
export { Handles, type RemoteState } from './remote/handles.js'
export type { FarPage, TextAt, TextsOf } from './remote/page-rest.js'
export { type Fate, type LossErrors, type PendingCall, PendingCalls } from './remote/pending-calls.js'
export { RemoteBackend } from './remote/remote-backend.js'
export { RemoteCursor } from './remote/remote-cursor.js'
export { RemoteSnapshot } from './remote/remote-snapshot.js'
export type { Hooks, PrewriteHook } from './sublevel/key-space.js'
export { Sublevel, type SublevelOptions } from './sublevel/sublevel.js'
export { ChainedBatch, type ChainedBatchWriteOptions } from './write/chained-batch.js'
export { assertOpen } from './write/write-api.js'
