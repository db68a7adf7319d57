/**
 * An embedded, ordered key/value database in LevelDB's file format, with the API of
 * [abstract-level](https://github.com/Level/abstract-level).
 *
 * @packageDocumentation
 */

import './node-version.js'
import { Level } from './level.js'
import { MemoryLevel } from './memory-level.js'

export {
  type AdditionalIteratorOptions,
  type BatchOperation,
  type BatchOptions,
  ChainedBatch,
  type ChainedBatchWriteOptions,
  type ClearedRange,
  type ConditionalOptions,
  type DatabaseManifest,
  type DelOptions,
  type Entry,
  type EventIterator,
  type GetManyOptions,
  type GetOptions,
  type HasManyOptions,
  type HasOptions,
  type Hooks,
  type Iterator,
  type IteratorOptions,
  type KeyIterator,
  type KeyIteratorOptions,
  type PrewriteBatch,
  type PrewriteFunction,
  type PrewriteHook,
  type PrewriteOptions,
  type PutOptions,
  type ReadOptions,
  type Snapshot,
  Sublevel,
  type SublevelOptions,
  type UpdateOptions,
  type ValueIterator,
  type ValueIteratorOptions,
  type WatchedOperation,
  type WatchedWrites,
  type WatchOptions,
  type WriteCondition,
  type WriteOptions
} from 'terrace-core'
export type { LeftOutLog, LevelStats, Stats } from './binding.js'
export type { LevelError, LevelErrorCode } from './errors.js'
export type { MemoryStats } from './memory-database.js'
export type { MemoryDatabaseOptions, MemoryOpenOptions } from './memory-options.js'
export type { DatabaseOptions, OpenOptions, RepairOptions, StartEndOptions } from './options.js'
export type { RepairReport } from './repair-report.js'
export { Level, Level as ClassicLevel, MemoryLevel }

/** For programs that use the default export of classic-level, which is a CommonJS module. */
export default { Level, ClassicLevel: Level, MemoryLevel }
