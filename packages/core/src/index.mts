/**
 * The package as an ES module. It exports what the CommonJS module exports, so there is one `BackendLevel` however it is
 * loaded. Development servers find no names behind `export *` of CommonJS.
 */

export type * from './index.js'
export {
  assertOpen,
  BackendLevel,
  BarrierQueue,
  ChainedBatch,
  clearKeys,
  codedError,
  conflict,
  DirectCalls,
  DirectCursor,
  ForwardingBackend,
  GroupedWrites,
  Handles,
  PackedBuffer,
  PendingCalls,
  Redaction,
  RemoteBackend,
  RemoteCursor,
  RemoteSnapshot,
  redactedUrl,
  StoredRanges,
  Sublevel,
  yieldToEventLoop
} from './index.js'
