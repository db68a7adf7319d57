/** The keys of one database or sublevel among those of its root, and operations in terms of these keys. */

import { Buffer } from './buffer.js'
import {
  type ByteString,
  bytesOf,
  decodedBy,
  type Encoded,
  type Encoding,
  encodedValue,
  fromByteString
} from './encoded.js'
import {
  addHook,
  deleteHook,
  isExact,
  keyEncodingOf,
  type Operation,
  type PrewriteHook,
  prefixOf,
  readsAtOnce,
  rootOf,
  valueEncodingOf
} from './hooks.js'
import type { AnyLevel } from './level-like.js'
import { sourceOf, viewOf } from './view.js'

/** A range of encoded keys. `gte` and `lt` mean what they mean in abstract-level. */
export interface EncodedRange {
  gt?: Buffer
  gte?: Buffer
  lt?: Buffer
  lte?: Buffer
}

const NOTHING = Buffer.alloc(0)

const spaces = new WeakMap<object, KeySpace>()

/** Returns the key space of a database, a sublevel or a view. */
export function keySpaceOf(database: AnyLevel): KeySpace {
  let space = spaces.get(database)
  if (space === undefined) {
    space = new KeySpace(database)
    spaces.set(database, space)
  }
  return space
}

/** The keys of one database or sublevel; see {@link keySpaceOf}. */
export class KeySpace {
  /** The object that was given, whose encodings apply. */
  readonly given: AnyLevel
  /** The same, or for a view, the database whose entries it shows. */
  readonly db: AnyLevel
  /** The root database that `db` is in, or `db` itself. */
  readonly root: AnyLevel
  /** The prefix of `db`'s keys in the root; empty for a root. */
  readonly prefix: ByteString
  /** The first key of the root after `db`'s keys; undefined for a root. */
  readonly end: ByteString | undefined
  /** For a view: the prefix of the records of hidden entries. The entry's key follows it. */
  readonly records: ByteString | undefined
  readonly #prefixBytes: Buffer

  constructor(database: AnyLevel) {
    this.given = database
    const db = sourceOf(this.given)
    this.db = db
    this.root = rootOf(db)
    this.prefix = prefixOf(db)
    this.end = endOf(this.prefix)
    this.records = viewOf(this.given)?.recordsPrefix
    this.#prefixBytes = Buffer.from(this.prefix)
  }

  /** Whether hook functions see every write, and can read everything written before; see {@link isExact}. */
  get isExact(): boolean {
    return isExact(this.root)
  }

  /** Makes `hook` see every write to these keys. On databases other than Terrace, it sees the writes made through `db`. */
  addHook(hook: PrewriteHook, prepare?: (operation: Operation) => void): void {
    addHook(this.db, hook, prepare)
  }

  deleteHook(hook: PrewriteHook): void {
    deleteHook(this.db, hook)
  }

  /** The key encoding that an option names, or the database's own. */
  keyEncoding(encoding?: unknown): Encoding {
    return keyEncodingOf(this.given, encoding)
  }

  /** The value encoding that an option names, or the database's own. */
  valueEncoding(encoding?: unknown): Encoding {
    return valueEncodingOf(this.given, encoding)
  }

  /** The key of an operation as bytes, in terms of `db`; undefined if it is not a key of `db`. */
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
    return bytesOf(encodedValue(operation.valueEncoding as Encoding, operation.value, operation.key))
  }

  /** A key of `db` as a key of the root. */
  inRoot(key: Uint8Array): Buffer {
    return this.prefix === '' ? bytesOf(key) : Buffer.concat([this.#prefixBytes, key])
  }

  /** A key of the root as a key of `db`; undefined if it is not one. */
  fromRoot(key: Buffer): Buffer | undefined {
    const length = this.#prefixBytes.length
    if (length === 0) return key
    if (key.length < length || key.compare(this.#prefixBytes, 0, length, 0, length) !== 0) return undefined
    return key.subarray(length)
  }

  /** Whether the given object is a view that hides this key's entry now. */
  isHidden(key: Buffer): boolean | Promise<boolean> {
    return viewOf(this.given)?.isHiddenNow(key) ?? false
  }

  /** A decoded key. */
  decodeKey(bytes: Uint8Array): unknown {
    return decodedBy(this.keyEncoding(), bytes)
  }

  /** A decoded value; undefined if it cannot be decoded. */
  decodeValue(stored: Encoded): unknown {
    try {
      return decodedBy(this.valueEncoding(), stored)
    } catch {
      return undefined
    }
  }

  /** Yields the entries of a range, as bytes. They are read from the root, so `db` itself may be closed. */
  async *entriesWithin(range: EncodedRange, more?: object): AsyncGenerator<[key: Buffer, value: Buffer]> {
    const options = { ...rawEncodings, ...this.#rangeInRoot(range), ...more }
    for await (const [key, value] of this.root.iterator(options)) {
      yield [this.fromRoot(key as unknown as Buffer) as Buffer, value as unknown as Buffer]
    }
  }

  /** Reads a value as bytes. */
  async read(key: Buffer): Promise<Buffer | undefined> {
    return (await this.root.get(this.inRoot(key), rawEncodings)) as Buffer | undefined
  }

  /** Whether {@link storedValue} works everywhere, not only in hooks. */
  get readsAtOnce(): boolean {
    return readsAtOnce(this.root)
  }

  /** Reads the stored value. `orderWrites` determines whether pending writes are visible. */
  storedValue(key: Uint8Array): Buffer | undefined {
    return this.root.getSync(this.inRoot(key), rawEncodings) as Buffer | undefined
  }

  /** A range of `db`'s keys as a range of the root's keys. */
  #rangeInRoot({ gt, gte, lt, lte }: EncodedRange): EncodedRange {
    const inRoot: EncodedRange =
      gt === undefined ? { gte: this.inRoot(gte ?? NOTHING) } : { gt: this.inRoot(gt) }
    if (lt !== undefined) inRoot.lt = this.inRoot(lt)
    else if (lte !== undefined) inRoot.lte = this.inRoot(lte)
    else if (this.end !== undefined) inRoot.lt = fromByteString(this.end)
    return inRoot
  }
}

/** Options to read and write bytes. */
export const rawEncodings = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const

/**
 * The end of a prefix. The prefix ends with the separator, and names have greater bytes, so this is after every key and
 * before all siblings.
 */
export function endOf(prefix: ByteString): ByteString | undefined {
  if (prefix === '') return undefined
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)
}
