/** The keys and values that a feed or a count stores for a database or sublevel. */

import { auxiliarySublevelOf } from '../auxiliary-sublevel.js'
import { Buffer } from '../buffer.js'
import type { Encoding } from '../encoded.js'
import { type Operation, type PrewriteBatch, type PrewriteHook, readsInHooks } from '../hooks.js'
import { type EncodedRange, type KeySpace, keySpaceOf, rawEncodings } from '../key-space.js'
import type { AnyLevel } from '../level-like.js'
import { feedError } from './errors.js'

/** For each root, the prefixes of all stores that are open. */
const opened = new WeakMap<AnyLevel, Map<string, Buffer>>()

/** Keys and values, as bytes, in the auxiliary sublevel of a database or sublevel. */
export class AuxiliaryStore {
  readonly #space: KeySpace
  readonly #encoding: Encoding
  readonly #used: Map<string, Buffer>

  /**
   * @param of - The keys that the feed or count is about.
   * @param suffix - The end of the sublevel's name, in ASCII.
   */
  constructor(of: KeySpace, suffix: string) {
    assertReads(of.root)
    this.#space = keySpaceOf(auxiliarySublevelOf(of.db, suffix))
    this.#encoding = encodingOfBytes(this.#space)

    this.#used = opened.get(of.root) ?? new Map()
    opened.set(of.root, this.#used)
    const { prefix } = this.#space
    if (this.#used.has(prefix)) {
      const message = `The feed or count '${suffix}' is already open on these keys: use that object, or close it`
      throw feedError('FEED_IN_USE', message)
    }
    this.#used.set(prefix, Buffer.from(prefix))
  }

  /** Whether a key of `of` belongs to the store of any feed or count, open or not. */
  static holds(of: KeySpace, key: Buffer): boolean {
    return holdsByName(key) || holdsOpened(of, key)
  }

  /** Adds a put to the write that a hook sees. */
  put(batch: PrewriteBatch, key: Buffer, value: Buffer): void {
    const encoding = this.#encoding
    const sublevel = this.#space.db
    batch.add({ type: 'put', sublevel, key, keyEncoding: encoding, value, valueEncoding: encoding })
  }

  /** Adds a del to the write that a hook sees. */
  del(batch: PrewriteBatch, key: Buffer): void {
    batch.add(this.deletion(key))
  }

  /** An operation that deletes a key, and that the hook of this store sees. */
  deletion(key: Buffer): object {
    return { type: 'del', sublevel: this.#space.db, key, keyEncoding: this.#encoding }
  }

  /** Reads a value as it is stored now; see `KeySpace.storedValue`. */
  get(key: Buffer): Buffer | undefined {
    return this.#space.storedValue(key)
  }

  /** Reads a value, outside hooks. */
  read(key: Buffer): Promise<Buffer | undefined> {
    return this.#space.read(key)
  }

  /** A key of this store as a key of the root. */
  inRoot(key: Buffer): Buffer {
    return this.#space.inRoot(key)
  }

  /** A key of the root as a key of this store. */
  fromRoot(key: Buffer): Buffer {
    return this.#space.fromRoot(key) as Buffer
  }

  /** Options to iterate in the root over keys of this store. */
  iteratorOptions(range: EncodedRange & { gte: Buffer; lt: Buffer }, more?: object): object {
    const { gt, gte, lt, lte } = range
    return {
      ...rawEncodings,
      ...(gt === undefined ? { gte: this.inRoot(gte) } : { gt: this.inRoot(gt) }),
      ...(lte === undefined ? { lt: this.inRoot(lt) } : { lte: this.inRoot(lte) }),
      ...more
    }
  }

  /** Makes `hook` see every write to this store while the store is open. */
  addHook(hook: PrewriteHook): void {
    this.#space.addHook(hook)
  }

  deleteHook(hook: PrewriteHook): void {
    this.#space.deleteHook(hook)
  }

  /** Opens the store after the root was opened again. */
  async open(): Promise<void> {
    await this.#space.db.open()
  }

  /** The key that an operation writes, if it is a key of this store. */
  keyOf(operation: Operation): Buffer | undefined {
    return this.#space.keyOf(operation)
  }

  /** Frees the name for others. */
  release(): void {
    this.#used.delete(this.#space.prefix)
  }
}

/** Checks that hooks can read what is stored. */
function assertReads(root: AnyLevel): void {
  if (readsInHooks(root)) return
  throw feedError('FEED_NOT_SUPPORTED', 'Hooks of the database cannot read: it has no getSync()')
}

function encodingOfBytes(space: KeySpace): Encoding {
  try {
    return space.keyEncoding('buffer')
  } catch (cause) {
    throw feedError(
      'FEED_NOT_SUPPORTED',
      'The database stores only text: keys of arbitrary bytes would lose their order',
      {
        cause
      }
    )
  }
}

const SEPARATOR = 0x21
const STORE_NAME = /^(?:.*\.)?(?:feed|count)\.[A-Za-z0-9_-]+$/

/** Whether one of the sublevels that contain a key is named like the store of a feed or count. */
function holdsByName(key: Buffer): boolean {
  for (let start = 0; key[start] === SEPARATOR; ) {
    const end = key.indexOf(SEPARATOR, start + 1)
    if (end < 0) return false
    if (STORE_NAME.test(key.toString('latin1', start + 1, end))) return true
    start = end + 1
  }
  return false
}

/** Whether an open store contains a key. Sublevels may use custom separators, so names do not suffice. */
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
