/** What a feed or a count keeps beside the database or sublevel it is of. */

import { asideOf } from '../aside.js'
import type { Encoding } from '../encoded.js'
import type { Operation, PrewriteBatch, PrewriteHook } from '../hooks.js'
import { type EncodedRange, type KeySpace, keySpaceOf, rawEncodings } from '../key-space.js'
import type { AnyLevel } from '../level-like.js'
import { feedError } from './errors.js'

/** By root: the prefixes of all that is open. */
const opened = new WeakMap<AnyLevel, Map<string, Buffer>>()

/** Keys and values, as bytes, beside a database or sublevel. */
export class AuxiliaryStore {
  readonly #space: KeySpace
  readonly #encoding: Encoding
  readonly #used: Map<string, Buffer>

  /**
   * @param of - The keys that this is beside of.
   * @param suffix - Of the name, in ASCII.
   */
  constructor(of: KeySpace, suffix: string) {
    this.#space = keySpaceOf(asideOf(of.db, suffix))
    this.#encoding = encodingOfBytes(this.#space)

    this.#used = opened.get(of.root) ?? new Map()
    opened.set(of.root, this.#used)
    const { prefix } = this.#space
    if (this.#used.has(prefix)) throw feedError('FEED_IN_USE', `'${suffix}' is open on these keys already`)
    this.#used.set(prefix, Buffer.from(prefix))
  }

  /** Whether a key of `of` is of what some feed or count keeps aside, also of one that is not open. */
  static holds(of: KeySpace, key: Buffer): boolean {
    return holdsByName(key) || holdsOpened(of, key)
  }

  /** Adds a put to the write of a hook. */
  put(batch: PrewriteBatch, key: Buffer, value: Buffer): void {
    const encoding = this.#encoding
    const sublevel = this.#space.db
    batch.add({ type: 'put', sublevel, key, keyEncoding: encoding, value, valueEncoding: encoding })
  }

  /** Adds a del to the write of a hook. */
  del(batch: PrewriteBatch, key: Buffer): void {
    batch.add(this.deletion(key))
  }

  /** An operation that deletes a key, which the hook of these keys sees. */
  deletion(key: Buffer): object {
    return { type: 'del', sublevel: this.#space.db, key, keyEncoding: this.#encoding }
  }

  /** A value as it is stored now; see `KeySpace.storedValue`. */
  get(key: Buffer): Buffer | undefined {
    return this.#space.storedValue(key)
  }

  /** A key as one of the root. */
  inRoot(key: Buffer): Buffer {
    return this.#space.inRoot(key)
  }

  /** A key of the root as one of these. */
  fromRoot(key: Buffer): Buffer {
    return this.#space.fromRoot(key) as Buffer
  }

  /** Options to iterate in the root over these keys. */
  iteratorOptions(range: EncodedRange & { gte: Buffer; lt: Buffer }, more?: object): object {
    const { gt, gte, lt, lte } = range
    return {
      ...rawEncodings,
      ...(gt === undefined ? { gte: this.inRoot(gte) } : { gt: this.inRoot(gt) }),
      ...(lte === undefined ? { lt: this.inRoot(lt) } : { lte: this.inRoot(lte) }),
      ...more
    }
  }

  /** Has `hook` see every write of these keys while they are open. */
  addHook(hook: PrewriteHook): void {
    this.#space.addHook(hook)
  }

  deleteHook(hook: PrewriteHook): void {
    this.#space.deleteHook(hook)
  }

  /** Opens them, after the root was opened again. */
  async open(): Promise<void> {
    await this.#space.db.open()
  }

  /** An operation of a hook as the key that it is on. */
  keyOf(operation: Operation): Buffer | undefined {
    return this.#space.keyOf(operation)
  }

  /** Another may have the name from now on. */
  release(): void {
    this.#used.delete(this.#space.prefix)
  }
}

function encodingOfBytes(space: KeySpace): Encoding {
  try {
    return space.keyEncoding('buffer')
  } catch (cause) {
    throw feedError(
      'FEED_NOT_SUPPORTED',
      'The database keeps text alone: keys of bytes would lose their order',
      {
        cause
      }
    )
  }
}

const SEPARATOR = 0x21
const ASIDE = /^(?:.*\.)?(?:feed|count)\.[A-Za-z0-9_-]+$/

/** Whether one of the sublevels that a key is in has the name of what is kept aside. */
function holdsByName(key: Buffer): boolean {
  for (let start = 0; key[start] === SEPARATOR; ) {
    const end = key.indexOf(SEPARATOR, start + 1)
    if (end < 0) return false
    if (ASIDE.test(key.toString('latin1', start + 1, end))) return true
    start = end + 1
  }
  return false
}

/** Sublevels may have separators of their own. */
function holdsOpened(of: KeySpace, key: Buffer): boolean {
  const used = opened.get(of.root)
  if (used === undefined) return false

  for (const [prefix, bytes] of used) {
    if (!prefix.startsWith(of.prefix)) continue
    const from = of.prefix.length
    const length = bytes.length - from
    if (key.length >= length && key.compare(bytes, from, bytes.length, 0, length) === 0) return true
  }
  return false
}
