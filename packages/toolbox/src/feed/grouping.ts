/** The groups in which an entry is counted. */

import type { Buffer } from '../buffer.js'
import { decodedBy, type Encoding } from '../encoded.js'
import type { EncodedRange, KeySpace } from '../key-space.js'
import { type FeedError, feedError, invalidOption } from './errors.js'
import { encodeRange, isWithin, type KeyRange } from './range.js'

/** The group or groups of an entry. An entry without a group is not counted. */
export type Groups = string | readonly string[] | undefined

/** A range of keys that is counted under a name. */
export interface CountedRange<K = string> extends KeyRange<K> {
  /** The name of the group. */
  name: string
}

/** The groups of an entry, as bytes. */
export interface Grouping {
  groupsOf(key: Buffer, value: Buffer): string[]
}

/** Groups entries by a function. */
class GroupingByFunction implements Grouping {
  readonly #of: (key: unknown, value: unknown) => unknown
  readonly #key: Encoding
  readonly #value: Encoding | undefined

  constructor(space: KeySpace, of: (key: unknown, value: unknown) => unknown, seesValues: boolean) {
    this.#of = of
    this.#key = space.keyEncoding()
    this.#value = seesValues ? space.valueEncoding() : undefined
  }

  groupsOf(key: Buffer, value: Buffer): string[] {
    const found = this.#groupsOf(key, value)
    const groups = found == null ? [] : Array.isArray(found) ? found : [found]
    if (groups.every(isGroup)) return groups.length < 2 ? groups : [...new Set(groups)]
    throw feedError('COUNT_GROUP_INVALID', "'of' must return a string of Unicode text, strings, or undefined")
  }

  #groupsOf(key: Buffer, value: Buffer): unknown {
    try {
      const decoded = this.#value === undefined ? undefined : decodedBy(this.#value, value)
      return this.#of(decodedBy(this.#key, key), decoded)
    } catch (cause) {
      throw feedError('COUNT_GROUP_INVALID', "'of' failed", { cause: cause as FeedError })
    }
  }
}

/** Groups entries by ranges of keys. */
class GroupingByRange implements Grouping {
  readonly #ranges: ReadonlyArray<{ name: string; range: EncodedRange }>

  constructor(space: KeySpace, ranges: ReadonlyArray<CountedRange<unknown>>) {
    for (const { name } of ranges) {
      if (!isGroup(name)) throw invalidOption("Each range of 'of' must have a name")
    }
    if (new Set(ranges.map(({ name }) => name)).size < ranges.length) {
      throw invalidOption("Each range of 'of' must have a name of its own")
    }
    this.#ranges = ranges.map(({ name, ...range }) => ({ name, range: encodeRange(space, range) }))
  }

  groupsOf(key: Buffer): string[] {
    return this.#ranges.filter(({ range }) => isWithin(range, key)).map(({ name }) => name)
  }
}

/** Makes the grouping for a user's option `of`. */
export function groupingOf(space: KeySpace, of: unknown, seesValues: boolean): Grouping {
  if (Array.isArray(of)) return new GroupingByRange(space, of)
  if (typeof of === 'function') return new GroupingByFunction(space, of as never, seesValues)
  throw invalidOption("The option 'of' must be a function or a list of ranges")
}

function isGroup(value: unknown): value is string {
  return typeof value === 'string' && (value as unknown as { isWellFormed(): boolean }).isWellFormed()
}
