/**
 * An ordered feed of the changes of a database, and watchers and counts, which are built on it.
 *
 * @packageDocumentation
 */

export type { Change } from './change.js'
export { type Count, count } from './count.js'
export type { CountDifference, CountOptions } from './count-options.js'
export type { FeedError, FeedErrorCode } from './errors.js'
export { type Feed, type FeedOptions, feed, type ReadChangesOptions } from './feed.js'
export type { CountedRange, Groups } from './grouping.js'
export type { KeyRange } from './range.js'
export type { RetentionLimits } from './retention.js'
export { type WatchEvent, type Watched, type WatchOptions, watch } from './watch.js'
