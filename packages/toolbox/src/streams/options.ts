import type { AbstractBatchOptions, AbstractIteratorOptions } from 'abstract-level'
import { codedError } from '../errors.js'

/** Options of readable streams: those of abstract-level's iterators, and a few more. */
export interface ReadableOptions<K, V>
  extends Omit<AbstractIteratorOptions<K, V>, 'keys' | 'values' | 'gt' | 'gte' | 'lt' | 'lte'> {
  /** The lower bound, exclusive. */
  gt?: NoInfer<K> | undefined
  /** The lower bound, inclusive. */
  gte?: NoInfer<K> | undefined
  /** The upper bound, exclusive. */
  lt?: NoInfer<K> | undefined
  /** The upper bound, inclusive. */
  lte?: NoInfer<K> | undefined
  /**
   * The maximum number of items to read ahead, 1 to 2^20.
   *
   * @defaultValue `256`
   */
  highWaterMark?: number | undefined
}

/** Options of writable streams: those of abstract-level's `batch()`, and a few more. */
export interface WritableOptions<K, V> extends AbstractBatchOptions<K, V> {
  /**
   * The maximum number of entries in one batch, and of those that wait meanwhile: 1 to 2^20.
   *
   * @defaultValue `1000`
   */
  batchSize?: number | undefined
}

const DEFAULT_HIGH_WATER_MARK = 256
const DEFAULT_BATCH_SIZE = 1000
const MAX_COUNT = 2 ** 20

/** Separates the number of items to read ahead from the options of the iterator. */
export function splitReadableOptions(options: object): { highWaterMark: number; range: object } {
  const { highWaterMark = DEFAULT_HIGH_WATER_MARK, ...range } = options as { highWaterMark?: unknown }
  return { highWaterMark: countOf('highWaterMark', highWaterMark), range }
}

/** Separates the number of entries in a batch from the options of the batch. */
export function splitWritableOptions(options: object): { batchSize: number; batch: object } {
  const { batchSize = DEFAULT_BATCH_SIZE, ...batch } = options as { batchSize?: unknown }
  return { batchSize: countOf('batchSize', batchSize), batch }
}

function countOf(name: string, count: unknown): number {
  if (typeof count !== 'number' || !Number.isInteger(count) || count < 1 || count > MAX_COUNT) {
    throw codedError(
      'STREAM_INVALID_OPTION',
      `The option '${name}' must be an integer from 1 to ${MAX_COUNT}`
    )
  }
  return count
}
