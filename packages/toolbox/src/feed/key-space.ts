/** The keys of one database or sublevel, as bytes, and its operations in those terms. */

import type { AnyLevel } from '../aside.js'
import { type EncodedRange, encodeRange, type KeyRange, rangeOfPrefix } from './range.js'

/**
 * A database or sublevel of abstract-level. (By its own types no sublevel is an `AbstractLevel<any, any,
 * any>`: their hooks differ.)
 */
export type AnyDatabase = Pick<AnyLevel, 'status' | 'supports' | 'get' | 'close'>

/** An encoding of abstract-level: its format is the form of what it encodes to. */
export interface Encoding {
  readonly format: 'utf8' | 'buffer' | 'view'
  encode(value: unknown): string | Uint8Array
  decode(encoded: unknown): unknown
}

/** An operation as a prewrite hook gets it. */
export interface Operation {
  type: 'put' | 'del'
  key: unknown
  value?: unknown
  keyEncoding: Encoding
  valueEncoding?: Encoding
  sublevel?: AnyLevel | null
}

/** What a prewrite hook adds operations to. */
export interface PrewriteBatch {
  add(operation: object): unknown
}

/** A prewrite hook of abstract-level. */
export type PrewriteHook = (operation: Operation, batch: PrewriteBatch) => void

/** What is used of databases and is not in abstract-level's types, or not as it is used here. */
export interface HookedDatabase {
  readonly hooks: {
    readonly prewrite: { add(hook: PrewriteHook, options: object): void; delete(hook: PrewriteHook): void }
  }
  readonly prefix?: string
  readonly db?: AnyLevel
  keyEncoding(encoding?: unknown): Encoding
  valueEncoding(encoding?: unknown): Encoding
}

/** Encoded data as bytes. Bytes are not copied. */
export function bytesOf(encoded: string | Uint8Array): Buffer {
  if (typeof encoded === 'string') return Buffer.from(encoded)
  return Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength)
}

/** Decodes bytes with an encoding of any format. */
export function decodeBytes(encoding: Encoding, bytes: Buffer): unknown {
  if (encoding.format === 'utf8') return encoding.decode(bytes.toString())
  if (encoding.format === 'buffer') return encoding.decode(bytes)
  return encoding.decode(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength))
}

const NOTHING = Buffer.alloc(0)

/** The keys of one database or sublevel. */
export class KeySpace {
  readonly db: AnyLevel
  /** The database that `db` is in, or `db` itself. */
  readonly root: AnyLevel
  /** What the keys of `db` begin with in the root. */
  readonly prefix: string
  readonly #prefixBytes: Buffer

  constructor(database: AnyDatabase) {
    const db = database as AnyLevel
    const { db: root, prefix } = db as unknown as HookedDatabase
    this.db = db
    this.root = root ?? db
    this.prefix = prefix ?? ''
    this.#prefixBytes = Buffer.from(this.prefix)
  }

  /**
   * Has `hook` see every write of these keys; on databases other than Terrace those that are made with `db`.
   */
  addHook(hook: PrewriteHook): void {
    ;(this.db as unknown as HookedDatabase).hooks.prewrite.add(hook, { everyWrite: true })
  }

  deleteHook(hook: PrewriteHook): void {
    ;(this.db as unknown as HookedDatabase).hooks.prewrite.delete(hook)
  }

  /** The encoding of keys that is meant by an option, or the database's own. */
  keyEncoding(encoding?: unknown): Encoding {
    return (this.db as unknown as HookedDatabase).keyEncoding(encoding)
  }

  /** The encoding of values that is meant by an option, or the database's own. */
  valueEncoding(encoding?: unknown): Encoding {
    return (this.db as unknown as HookedDatabase).valueEncoding(encoding)
  }

  /** The key of an operation as bytes, in the terms of `db`; undefined if it is not a key of `db`. */
  keyOf({ key, keyEncoding, sublevel }: Operation): Buffer | undefined {
    const encoded = keyEncoding.encode(key)
    if (sublevel == null || sublevel === this.db) return bytesOf(encoded)

    const prefix = (sublevel as unknown as HookedDatabase).prefix ?? ''
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
