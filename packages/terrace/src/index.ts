/**
 * An embedded, ordered key/value database in LevelDB's file format, with the API of
 * [abstract-level](https://github.com/Level/abstract-level).
 *
 * @packageDocumentation
 */

import { Level } from './level.js'

export type { LeftOutLog, LevelStats, RepairReport, Stats } from './binding.js'
export { ChainedBatch, type ChainedBatchWriteOptions } from './chained-batch.js'
export type { LevelError, LevelErrorCode } from './errors.js'
export type {
  Hooks,
  PrewriteBatch,
  PrewriteFunction,
  PrewriteHook,
  PrewriteOptions
} from './key-space.js'
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
  StartEndOptions,
  ValueIterator,
  ValueIteratorOptions,
  WriteOptions
} from './operation-options.js'
export type { DatabaseOptions, OpenOptions, RepairOptions } from './options.js'
export type { Snapshot } from './snapshot.js'
export { Sublevel, type SublevelOptions } from './sublevel.js'
export { Level, Level as ClassicLevel }

/** For programs that take the default export of classic-level, which is a CommonJS module. */
export default { Level, ClassicLevel: Level }
