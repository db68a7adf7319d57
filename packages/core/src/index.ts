/**
 * An [abstract-level](https://github.com/Level/abstract-level) database over any ordered store.
 *
 * @packageDocumentation
 */

export type {
  Backend,
  BackendBatch,
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
  RangeDeletion
} from './backend.js'
export { ChainedBatch, type ChainedBatchWriteOptions } from './chained-batch.js'
export { type CodedError, type CoreErrorCode, codedError } from './errors.js'
export type { Hooks, PrewriteHook } from './key-space.js'
export { BarrierQueue } from './kit/barrier-queue.js'
export { ForwardingBackend } from './kit/forwarding-backend.js'
export { GroupedWrites, type Grouping } from './kit/grouped-writes.js'
export { type KeyStorage, type StoredBound, type StoredRange, StoredRanges } from './kit/stored-ranges.js'
export { BackendLevel } from './level.js'
export type { DatabaseManifest } from './manifest.js'
export type {
  AdditionalIteratorOptions,
  BatchOperation,
  BatchOptions,
  DelOptions,
  GetManyOptions,
  GetOptions,
  HasManyOptions,
  HasOptions,
  Iterator,
  IteratorOptions,
  KeyIterator,
  KeyIteratorOptions,
  PutOptions,
  ReadOptions,
  SyncIterable,
  ValueIterator,
  ValueIteratorOptions,
  WriteOptions
} from './operation-options.js'
export { Pieces } from './pieces.js'
export type { PrepareFunction, PrewriteBatch, PrewriteFunction, PrewriteOptions } from './prewrite.js'
export { Redaction, redactedUrl, type Shown } from './redaction.js'
export { Handles, type RemoteState } from './remote/handles.js'
export type { FarPage, TextAt, TextsOf } from './remote/page-rest.js'
export { PagedCursor } from './remote/paged-cursor.js'
export { type Fate, type LossErrors, type PendingCall, PendingCalls } from './remote/pending-calls.js'
export { RemoteSnapshot } from './remote/remote-snapshot.js'
export type { Snapshot } from './snapshot.js'
export { assertOpen } from './space-writes.js'
export { Sublevel, type SublevelOptions } from './sublevel.js'
export { turn } from './turn.js'
export type {
  ClearedRange,
  Encodings,
  EventIterator,
  KeyOptions,
  WatchedOperation,
  WatchedWrites,
  WatchOptions
} from './watch.js'
