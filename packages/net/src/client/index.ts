/**
 * The client of a served database.
 *
 * @packageDocumentation
 */

export type {
  ClearedRange,
  EventIterator,
  KeyOptions,
  WatchedOperation,
  WatchedWrites,
  WatchOptions
} from 'terrace-core'
export type { NetErrorCode } from '../protocol/errors.js'
export type { ChangesOptions, FeedChange } from './changes.js'
export type { ConnectOptions } from './connect.js'
export type { LinkOptions } from './link.js'
export { NetLevel, type NetLevelOptions } from './net-level.js'
