/**
 * leveldown's API over Terrace.
 *
 * @packageDocumentation
 */

import type { LevelDownError as FailedCall } from './errors.js'
import { LevelDOWN } from './leveldown.js'
import type * as types from './types.js'

const leveldown: types.LevelDownConstructor = LevelDOWN

declare namespace leveldown {
  export type Bytes = types.Bytes
  export type ErrorCallback = types.ErrorCallback
  export type ErrorValueCallback<V> = types.ErrorValueCallback<V>
  export type ErrorKeyValueCallback<K, V> = types.ErrorKeyValueCallback<K, V>
  export type ErrorSizeCallback = types.ErrorSizeCallback
  export type Status = types.Status
  export type LevelDownOpenOptions = types.LevelDownOpenOptions
  export type LevelDownGetOptions = types.LevelDownGetOptions
  export type LevelDownPutOptions = types.LevelDownPutOptions
  export type LevelDownDelOptions = types.LevelDownDelOptions
  export type LevelDownBatchOptions = types.LevelDownBatchOptions
  export type LevelDownClearOptions = types.LevelDownClearOptions
  export type LevelDownIteratorOptions = types.LevelDownIteratorOptions
  export type LevelDownBatchOperation = types.LevelDownBatchOperation
  export type LevelDownChainedBatch = types.LevelDownChainedBatch
  export type LevelDownIterator = types.LevelDownIterator
  export type LevelDownManifest = types.LevelDownManifest
  export type AbstractLevelDown = types.AbstractLevelDown
  export type LevelDown = types.LevelDown
  export type LevelDownConstructor = types.LevelDownConstructor
  export type MemDownConstructor = types.MemDownConstructor
  export type LevelDownError = FailedCall
}

export = leveldown
