/**
 * The hook function that all indexes of a database or sublevel share, and what it reads there. It is one for all, so that an
 * operation that one index refuses leaves no trace of another, and the old value is read once.
 */

import { asideOf } from '../aside.js'
import { byteString, bytesOf, type Encoded, type Encoding, type Format } from '../encoded.js'
import { addHook, deleteHook, keyInRoot, type Operation, type PrewriteBatch, prefixOf } from '../hooks.js'
import { type KeySpace, keySpaceOf } from '../key-space.js'
import type { AnyLevel } from '../level-like.js'
import { openViewOf } from '../open-views.js'
import { beneath, viewOf } from '../view.js'
import type { EntryWriter } from './entry-writer.js'
import { Earlier, type Reads } from './reads.js'
import { type StoredForm, storedFormOf } from './stored-form.js'
import { endOfSublevel } from './sublevel-keys.js'

const hooks = new WeakMap<AnyLevel, Map<string, IndexHook>>()

/** The hook of `db`, the same for each object of a sublevel and for views of it; `db` will run its function. */
export function indexHookOf(db: AnyLevel): IndexHook {
  const space = keySpaceOf(db)
  const { root, prefix } = space
  let ofRoot = hooks.get(root)
  if (ofRoot === undefined) {
    ofRoot = new Map()
    hooks.set(root, ofRoot)
  }
  let hook = ofRoot.get(prefix)
  if (hook === undefined) {
    hook = new IndexHook(space)
    ofRoot.set(prefix, hook)
  }
  return hook
}

/** Forgets a hook that has no index any more. */
function forget({ space }: IndexHook): void {
  hooks.get(space.root)?.delete(space.prefix)
}

export class IndexHook {
  /** Where the records are. */
  readonly space: KeySpace
  /**
   * Whether hook functions see every write, and in `getSync` all that was written before, so that no entry is ever stale.
   * Terrace's do; for others see the guide.
   */
  readonly isExact: boolean
  /** The sublevel with the states of all its indexes. */
  readonly states: AnyLevel
  readonly keyEncoding: Encoding
  readonly valueEncoding: Encoding
  readonly #asStored: StoredForm
  /** By the names of indexes that are there, or are being dropped: what to call when the database is opened again. */
  readonly #openings = new Map<string, () => void>()
  /** Of each index, by its name. */
  readonly #writers = new Map<string, EntryWriter>()
  /** The objects that run the hook function. */
  readonly #hooked = new Set<AnyLevel>()
  /** What batches have in them, where `getSync` does not tell. */
  readonly #earlier = new WeakMap<PrewriteBatch, Earlier>()
  readonly #committed: Reads

  /** @param space - Of a database or a view, whose encodings count. */
  constructor(space: KeySpace) {
    this.space = space
    this.states = asideOf(space.given, 'index')
    this.isExact = space.isExact
    this.keyEncoding = space.keyEncoding()
    this.valueEncoding = space.valueEncoding()
    this.#asStored = storedFormOf(this.valueEncoding)
    this.#committed = {
      value: (key) => this.#valueOf(key),
      shownValue: (key) => (this.isHidden(key) ? undefined : this.#valueOf(key)),
      entry: (writer, key) => writer.read(key)
    }
  }

  has(name: string): boolean {
    return this.#openings.has(name)
  }

  /** Whether `db`, another object of the same sublevel perhaps, reads keys and values in the same way. */
  hasEncodingsOf(db: AnyLevel): boolean {
    const { keyEncoding, valueEncoding } = this
    return (
      db.keyEncoding().commonName === keyEncoding.commonName &&
      db.valueEncoding().commonName === valueEncoding.commonName
    )
  }

  /** Has the writes of `db` keep an index in step. `onOpen` is called when the database is opened again. */
  add(writer: EntryWriter, given: AnyLevel, onOpen: () => void): void {
    const db = beneath(given)
    const { name } = writer.definition
    if (this.#openings.size === 0) this.space.db.on('open', this.#onOpen)
    this.#openings.set(name, onOpen)
    this.#writers.set(name, writer)
    if (this.#hooked.has(db) || (this.isExact && this.#isHooked)) return
    this.#hooked.add(db)
    addHook(db, this.#onOperation)
  }

  /** Whether one of the objects counts: Terrace runs the functions of all that are not closed. */
  get #isHooked(): boolean {
    for (const { status } of this.#hooked) if (status === 'open' || status === 'opening') return true
    return false
  }

  /** Has writes leave an index alone. Its name stays taken. */
  remove(name: string): void {
    this.#writers.delete(name)
    if (this.#writers.size > 0) return
    for (const db of this.#hooked) deleteHook(db, this.#onOperation)
    this.#hooked.clear()
  }

  /** Frees the name of an index. */
  release(name: string): void {
    this.#openings.delete(name)
    if (this.#openings.size > 0) return
    this.space.db.off('open', this.#onOpen)
    forget(this)
  }

  /** What is there before a write of `batch`. Without a batch: what the database holds. */
  reads(batch?: PrewriteBatch): Reads {
    return (batch !== undefined && this.#earlier.get(batch)) || this.#committed
  }

  /** Whether a view that is open hides a record: to everybody who uses the view it is gone, and its values are free. */
  isHidden(key: Uint8Array): boolean {
    const view = openViewOf(this.space.db)
    return view !== undefined && viewOf(view)?.isHidden(key) === true
  }

  readonly #onOpen = (): void => {
    for (const onOpen of this.#openings.values()) onOpen()
  }

  /** The hook function. */
  readonly #onOperation = (operation: Operation, batch: PrewriteBatch): void => {
    const { keyEncoding, sublevel } = operation
    // A sublevel given by the option: only if it is another object for this very key space.
    if (sublevel != null && sublevel !== this.space.db && !this.#isSame(sublevel)) return
    const encodedKey = keyEncoding.encode(operation.key)
    const key = bytesOf(encodedKey)
    if (endOfSublevel(key) !== undefined) return

    const before = this.reads(batch)
    const old = before === this.#committed ? this.#read(encodedKey, keyEncoding.format) : before.value(key)
    const value = operation.type === 'put' ? this.#storedForm(operation) : undefined
    // Where there is a view, another record may have got the value of an expired one. That view's hook has run by now, so that
    // nothing tells whether this record had expired.
    const isOldIndexed = this.isExact && openViewOf(this.space.db) === undefined
    const changes = []
    for (const writer of this.#writers.values())
      changes.push(writer.changes({ key, old, value, isOldIndexed, reads: before }))

    // Nothing was refused.
    const earlier = this.isExact ? undefined : this.#earlierOf(batch)
    earlier?.noteValue(byteString(key), value)
    for (const change of changes) change.addTo(batch, earlier)
  }

  /** The value of an operation as it will be read; undefined if it cannot be read as others are: it is not indexed then. */
  #storedForm({ value, valueEncoding }: Operation): unknown {
    try {
      return this.#asStored(value, valueEncoding as Encoding)
    } catch {
      return undefined
    }
  }

  #earlierOf(batch: PrewriteBatch): Earlier {
    let earlier = this.#earlier.get(batch)
    if (earlier === undefined) {
      earlier = new Earlier(this.#committed)
      this.#earlier.set(batch, earlier)
    }
    return earlier
  }

  #isSame(sublevel: AnyLevel): boolean {
    const { prefix } = this.space
    return prefix !== '' && prefixOf(sublevel) === prefix
  }

  #valueOf(key: Uint8Array): unknown {
    return this.#read(key, 'buffer')
  }

  /** The value of a key, read from the root: a sublevel may not be open yet, and each takes its time. */
  #read(key: Encoded, format: Format): unknown {
    const rootKey = keyInRoot(this.space.db, key, format)
    const { format: valueFormat } = this.valueEncoding
    const stored = this.space.root.getSync(rootKey, { keyEncoding: format, valueEncoding: valueFormat }) as
      | Encoded
      | undefined
    return stored === undefined ? undefined : this.space.decodeValue(stored)
  }
}
