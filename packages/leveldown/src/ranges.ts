/** The options of ranges, in abstract-leveldown's form and in Terrace's. */

import type { DirectCursorOptions, DirectData, DirectRange } from 'terrace-core'

type Options = Record<string, unknown>

const BOUNDS = ['gte', 'gt', 'lte', 'lt'] as const

/** The database of a range, as far as the range needs it. */
export interface RangeHost {
  _serializeKey(key: unknown): DirectData
}

/** Options with bounds that are serialized, whatever they are: null and undefined are bounds as well, as in leveldown. */
export function rangeOptions(db: RangeHost, options: Options): Options {
  const result: Options = {}
  for (const name in options) {
    if (!Object.hasOwn(options, name)) continue
    if (name === 'gte' || name === 'gt' || name === 'lte' || name === 'lt') {
      result[name] = db._serializeKey(options[name])
    } else if (name === 'start' || name === 'end') {
      throw new Error('Legacy range options ("start" and "end") have been removed')
    } else {
      result[name] = options[name]
    }
  }
  result.reverse = !!options.reverse
  result.limit = 'limit' in options ? options.limit : -1
  return result
}

/** Options of `iterator()`, as abstract-leveldown passes them to `_iterator()`. */
export function iteratorOptions(db: RangeHost, options: Options): Options {
  const result = rangeOptions(db, withoutLegacy(options))
  result.keys = options.keys !== false
  result.values = options.values !== false
  result.keyAsBuffer = options.keyAsBuffer !== false
  result.valueAsBuffer = options.valueAsBuffer !== false
  return result
}

/** The range of options whose bounds are serialized. */
export function rangeOf(options: Options, ignoresEmptyBounds: boolean): DirectRange {
  const boundOf = (bound: unknown): DirectData | undefined => {
    const data = bound as DirectData | undefined
    return ignoresEmptyBounds && data?.length === 0 ? undefined : data
  }
  const { limit, reverse } = options
  return {
    gte: boundOf(options.gte),
    gt: boundOf(options.gt),
    lte: boundOf(options.lte),
    lt: boundOf(options.lt),
    reverse: !!reverse,
    limit: typeof limit === 'number' && limit >= 0 ? limit : -1
  }
}

/** The options of a cursor, from those of `_iterator()`. */
export function cursorOptions(options: Options, ignoresEmptyBounds: boolean): DirectCursorOptions {
  const { gte, gt, lte, lt, reverse, limit } = rangeOf(options, ignoresEmptyBounds)
  return {
    gte,
    gt,
    lte,
    lt,
    reverse,
    limit,
    keys: options.keys !== false,
    values: options.values !== false,
    keyForm: options.keyAsBuffer === false ? 'utf8' : 'buffer',
    valueForm: options.valueAsBuffer === false ? 'utf8' : 'buffer',
    fillCache: options.fillCache === true,
    highWaterMarkBytes: bytesOf(options.highWaterMark ?? options.highWaterMarkBytes)
  }
}

/** The bounds of a range that are given, changed by `change`. */
export function boundsOf<T>(range: DirectRange, change: (bound: DirectData) => T): Record<string, T> {
  const bounds: Record<string, T> = {}
  for (const name of BOUNDS) {
    const bound = range[name]
    if (bound !== undefined) bounds[name] = change(bound)
  }
  return bounds
}

/**
 * Options with the bounds of leveldown before 5, `start` and `end`, under today's names. A bound that is given under one of those
 * names replaces that of the same side; an empty one is none.
 */
export function withoutLegacy(options: Options): Options {
  if (!('start' in options || 'end' in options)) return options
  const { start, end, ...others } = options
  const [lower, upper] = options.reverse ? [end, start] : [start, end]
  return {
    ...(isBound(lower) && !('gt' in others || 'gte' in others) && { gte: lower }),
    ...(isBound(upper) && !('lt' in others || 'lte' in others) && { lte: upper }),
    ...others
  }
}

function isBound(bound: unknown): boolean {
  return bound !== undefined && bound !== null && (bound as { length?: unknown }).length !== 0
}

function bytesOf(mark: unknown): number | undefined {
  return typeof mark === 'number' && mark >= 0 ? mark : undefined
}
