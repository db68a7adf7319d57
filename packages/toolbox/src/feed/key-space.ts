/** The keys of one database or sublevel, as bytes, and its operations in those terms. */

import { bytesOf, type Encoding } from '../encoded.js'
import {
  addHook,
  deleteHook,
  keyEncodingOf,
  type Operation,
  type PrewriteHook,
  prefixOf,
  rootOf,
  valueEncodingOf
} from '../hooks.js'
import type { AnyLevel } from '../level-like.js'
import { beneath, viewOf } from '../view.js'
import { type EncodedRange, encodeRange, type KeyRange, rangeOfPrefix } from './range.js'

/**
 * A database or sublevel of abstract-level. (By its own types no sublevel is an `AbstractLevel<any, any,
 * any>`: their hooks differ.)
 */
export type AnyDatabase = Pick<AnyLevel, 'status' | 'supports' | 'get' | 'close'>

const NOTHING = Buffer.alloc(0)

/** The keys of one database or sublevel. */
export class KeySpace {
  /** What was given: its encodings count. */
  readonly given: AnyLevel
  /** The same; of a view, what is beneath. */
  readonly db: AnyLevel
  /** The database that `db` is in, or `db` itself. */
  readonly root: AnyLevel
  /** What the keys of `db` begin with in the root. */
  readonly prefix: string
  readonly #prefixBytes: Buffer

  constructor(database: AnyDatabase) {
    this.given = database as AnyLevel
    const db = beneath(this.given)
    this.db = db
    this.root = rootOf(db)
    this.prefix = prefixOf(db)
    this.#prefixBytes = Buffer.from(this.prefix)
  }

  /**
   * Has `hook` see every write of these keys; on databases other than Terrace those that are made with `db`.
   */
  addHook(hook: PrewriteHook): void {
    addHook(this.db, hook)
  }

  deleteHook(hook: PrewriteHook): void {
    deleteHook(this.db, hook)
  }

  /** The encoding of keys that is meant by an option, or the database's own. */
  keyEncoding(encoding?: unknown): Encoding {
    return keyEncodingOf(this.given, encoding)
  }

  /** The encoding of values that is meant by an option, or the database's own. */
  valueEncoding(encoding?: unknown): Encoding {
    return valueEncodingOf(this.given, encoding)
  }

  /** The key of an operation as bytes, in the terms of `db`; undefined if it is not a key of `db`. */
  keyOf({ key, keyEncoding, sublevel }: Operation): Buffer | undefined {
    const encoded = keyEncoding.encode(key)
    if (sublevel == null || sublevel === this.db) return bytesOf(encoded)

    const prefix = prefixOf(sublevel)
    if (!prefix.startsWith(this.prefix)) return undefined
    const rest = prefix.slice(this.prefix.length)
    return rest === '' ? bytesOf(encoded) : Buffer.concat([Buffer.from(rest), bytesOf(encoded)])
  }

  /** The value of a put as bytes. */
  valueOf(operation: Operation): Buffer {
    return bytesOf((operation.valueEncoding as Encoding).encode(operation.value))
  }

  /** A key of `db` as a key of the root. */
  inRoot(key: Uint8Array): Buffer {
    return this.prefix === '' ? bytesOf(key) : Buffer.concat([this.#prefixBytes, key])
  }

  /** A key of the root as one of `db`; undefined if it is none. */
  fromRoot(key: Buffer): Buffer | undefined {
    const length = this.#prefixBytes.length
    if (length === 0) return key
    if (key.length < length || key.compare(this.#prefixBytes, 0, length, 0, length) !== 0) return undefined
    return key.subarray(length)
  }

  /** Whether the entry of a key is not to be seen: what was given is a view, which hides it. */
  isHidden(key: Buffer): boolean {
    return viewOf(this.given)?.isHidden(key) === true
  }

  /** A range of `db`'s keys as bytes. */
  range(range: KeyRange | undefined, encoding?: unknown): EncodedRange {
    const keyEncoding = this.keyEncoding(encoding)
    return encodeRange(range, (key) => bytesOf(keyEncoding.encode(key)))
  }

  /** The entries of a range, as bytes. They are read from the root, so that `db` itself may be closed. */
  async *entriesWithin(range: EncodedRange, more?: object): AsyncGenerator<[key: Buffer, value: Buffer]> {
    const options = { ...rawEncodings, ...this.#rangeInRoot(range), ...more }
    for await (const [key, value] of this.root.iterator(options)) {
      yield [this.fromRoot(key as unknown as Buffer) as Buffer, value as unknown as Buffer]
    }
  }

  /** A value as bytes. */
  async read(key: Buffer): Promise<Buffer | undefined> {
    return (await this.root.get(this.inRoot(key), rawEncodings)) as Buffer | undefined
  }

  /** A value as it is stored now. What is pending shows as `orderWrites` says. */
  storedValue(key: Uint8Array): Buffer | undefined {
    return this.root.getSync(this.inRoot(key), rawEncodings) as Buffer | undefined
  }

  /** A range of `db`'s keys as one of the root's. */
  #rangeInRoot({ gt, gte, lt, lte }: EncodedRange): EncodedRange {
    const inRoot: EncodedRange =
      gt === undefined ? { gte: this.inRoot(gte ?? NOTHING) } : { gt: this.inRoot(gt) }
    if (lt !== undefined) inRoot.lt = this.inRoot(lt)
    else if (lte !== undefined) inRoot.lte = this.inRoot(lte)
    else if (this.prefix !== '') inRoot.lt = rangeOfPrefix(this.#prefixBytes).lt
    return inRoot
  }
}

/** Options to read and write bytes. */
export const rawEncodings = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
