/**
 * What a user may do. Every request is checked here, and nowhere else: single keys are refused, ranges are cut to what is
 * allowed.
 */

import type { ReceivedCondition } from '../protocol/conditions.js'
import { netError } from '../protocol/errors.js'
import type { WireRange } from '../protocol/parts.js'
import {
  contains,
  everything,
  type Interval,
  includes,
  intersection,
  intervalOf,
  intervalOfPrefix,
  isEmpty,
  union
} from './key-range.js'

/**
 * A kind of operation: `write` stands for puts and deletes, `clear` for `clear()`, and `watch` for receiving the writes
 * of all clients and processes.
 */
export type Right = 'read' | 'write' | 'clear' | 'watch'

/** A range of keys, and the operations allowed on them. Without `sublevel` and bounds, it covers all keys. */
export interface Grant {
  readonly allow: Right | readonly Right[] | 'all'
  /** The name of a sublevel of the served database, or the path of names to it. */
  readonly sublevel?: string | readonly string[]
  /** A bound on the keys, within the sublevel if there is one. Strings are encoded as UTF-8. */
  readonly gte?: string | Uint8Array
  readonly gt?: string | Uint8Array
  readonly lte?: string | Uint8Array
  readonly lt?: string | Uint8Array
}

/** The permissions of a user. Anything that is not listed is denied. */
export interface Permissions {
  readonly keys: readonly Grant[] | 'all'
  /** The names of the methods that may be called. */
  readonly methods?: readonly string[] | 'all'
  /** The names of the feeds that may be read. The user receives only the changes of keys with the right `watch`. */
  readonly feeds?: readonly string[] | 'all'
}

export class Guard {
  /** For each right the keys that have it, in order. Null stands for all keys. */
  readonly #allowed: Readonly<Record<Right, readonly Interval[] | null>>
  readonly #methods: ReadonlySet<string> | 'all'
  readonly #feeds: ReadonlySet<string> | 'all'

  /** @param permissions - Checked by `permissionsOf()`. */
  constructor({ keys, methods = [], feeds = [] }: Permissions) {
    const grants: readonly Grant[] = keys === 'all' ? [{ allow: 'all' }] : keys
    const of = (right: Right): readonly Interval[] | null => {
      const intervals = union(grants.filter((grant) => allows(grant, right)).map(keysOf))
      const [first] = intervals
      return first !== undefined && first.start.length === 0 && first.end === null ? null : intervals
    }
    this.#allowed = { read: of('read'), write: of('write'), clear: of('clear'), watch: of('watch') }
    this.#methods = methods === 'all' ? 'all' : new Set(methods)
    this.#feeds = feeds === 'all' ? 'all' : new Set(feeds)
  }

  /** Whether a user may do this with a key. */
  allows(right: Right, key: Uint8Array): boolean {
    const intervals = this.#allowed[right]
    return intervals === null || intervals.some((each) => contains(each, key))
  }

  /**
   * Checks that a user may do this with a key.
   *
   * @throws NET_DENIED
   */
  check(right: Right, key: Uint8Array): void {
    if (!this.allows(right, key)) throw denied(`may not ${right} this key`)
  }

  /** Like {@link check}, for each of the keys. */
  checkAll(right: Right, keys: readonly Uint8Array[]): void {
    if (this.#allowed[right] !== null) for (const key of keys) this.check(right, key)
  }

  /** Like {@link check}, for the keys of operations, in which keys and values take turns. */
  checkOperations(operations: ReadonlyArray<Uint8Array | null>): void {
    if (this.#allowed.write === null) return
    for (let i = 0; i < operations.length; i += 2) this.check('write', operations[i] as Uint8Array)
  }

  /**
   * Checks that a user may read all that conditions are about: each key, and each range as a whole. Otherwise, a conflict would
   * reveal what the user may not read.
   *
   * @throws NET_DENIED
   */
  checkConditions(conditions: readonly ReceivedCondition[]): void {
    const intervals = this.#allowed.read
    if (intervals === null) return
    for (const condition of conditions) {
      if (!('range' in condition)) {
        this.check('read', condition.key)
        continue
      }
      const wanted = intervalOf(condition.range)
      if (isEmpty(wanted)) this.checkAny('read')
      else if (!intervals.some((each) => includes(each, wanted))) {
        throw denied('may not read all of this range')
      }
    }
  }

  /** The parts of a range with which a user may do this, in order. */
  clip(right: Right, range: WireRange): Interval[] {
    const wanted = intervalOf(range)
    if (isEmpty(wanted)) return []
    const intervals = this.#allowed[right] ?? [everything]
    return intervals.map((each) => intersection(each, wanted)).filter((each) => !isEmpty(each))
  }

  /**
   * Checks that a user has this right on some keys at least.
   *
   * @throws NET_DENIED
   */
  checkAny(right: Right): void {
    if (this.#allowed[right]?.length === 0) throw denied(`may not ${right} any key`)
  }

  /** Whether a user may do this with every key. */
  allowsAll(right: Right): boolean {
    return this.#allowed[right] === null
  }

  /** @throws NET_DENIED */
  checkFeed(name: string): void {
    if (this.#feeds !== 'all' && !this.#feeds.has(name)) throw denied(`may not read the feed '${name}'`)
  }

  allowsMethod(name: string): boolean {
    return this.#methods === 'all' || this.#methods.has(name)
  }

  /** @throws NET_DENIED */
  checkMethod(name: string): void {
    if (!this.allowsMethod(name)) throw denied(`may not call '${name}'`)
  }
}

/** May do everything. */
export const allPermissions: Permissions = { keys: 'all', methods: 'all', feeds: 'all' }

function allows({ allow }: Grant, right: Right): boolean {
  return allow === 'all' || allow === right || (Array.isArray(allow) && allow.includes(right))
}

function keysOf({ sublevel, gte, gt, lte, lt }: Grant): Interval {
  const prefix = bytesOf(sublevel === undefined ? '' : prefixOf(sublevel))
  const bound = (value: string | Uint8Array | undefined): Uint8Array | null =>
    value === undefined ? null : Buffer.concat([prefix, bytesOf(value)])
  const range = intervalOf([bound(gte), bound(gt), bound(lte), bound(lt)])
  return intersection(intervalOfPrefix(prefix), range)
}

function prefixOf(sublevel: string | readonly string[]): string {
  const names = typeof sublevel === 'string' ? [sublevel] : sublevel
  return names.map((name) => `!${name}!`).join('')
}

function bytesOf(value: string | Uint8Array): Uint8Array {
  return typeof value === 'string' ? Buffer.from(value) : value
}

function denied(what: string): Error {
  return netError('NET_DENIED', `This user ${what}`)
}
