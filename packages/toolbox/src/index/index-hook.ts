/**
 * The hook function that all indexes of a database or sublevel share, and what it reads there. With a single function, an
 * operation that one index refuses leaves no trace in another, and the old value is read once.
 */

import { auxiliarySublevelOf } from '../auxiliary-sublevel.js'
import { byteString, bytesOf, type Encoded, type Encoding, type Format } from '../encoded.js'
import {
  addHook,
  deleteHook,
  keyInRoot,
  nowhere,
  type Operation,
  type PrewriteBatch,
  prefixOf
} from '../hooks.js'
import { type KeySpace, keySpaceOf } from '../key-space.js'
import type { AnyLevel } from '../level-like.js'
import { openViewOf } from '../open-views.js'
import { sourceOf, viewOf } from '../view.js'
import type { EntryWriter } from './entry-writer.js'
import { Earlier, type Reads } from './reads.js'
import { type StoredForm, storedFormOf } from './stored-form.js'
import { endOfSublevel } from './sublevel-keys.js'

const hooks = new WeakMap<AnyLevel, Map<string, IndexHook>>()

/** The hook of `db`, shared by all objects of a sublevel and by views of it. Its function will run for `db`. */
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

/** Forgets a hook without indexes. */
function forget({ space }: IndexHook): void {
  hooks.get(space.root)?.delete(space.prefix)
}

export class IndexHook {
  /** The key space of the records. */
  readonly space: KeySpace
  /**
   * Whether hook functions see every write, and `getSync` in them sees everything written before, so that no entry is ever
   * stale. This is so on Terrace; for other databases see the guide.
   */
  readonly isExact: boolean
  /** The sublevel that holds the states of all indexes. */
  readonly states: AnyLevel
  readonly keyEncoding: Encoding
  readonly valueEncoding: Encoding
  readonly #asStored: StoredForm
  /** For each index, including those that are being dropped, the function to call when the database is opened again. */
  readonly #openings = new Map<string, () => void>()
  /** The entry writer of each index, by name. */
  readonly #writers = new Map<string, EntryWriter>()
  /** The objects that run the hook function. */
  readonly #hooked = new Set<AnyLevel>()
  /** The contents of each batch, if `getSync` does not show them. */
  readonly #earlier = new WeakMap<PrewriteBatch, Earlier>()
  readonly #committed: Reads

  /** @param space - The key space of a database or a view, whose encodings apply. */
  constructor(space: KeySpace) {
    this.space = space
    this.states = auxiliarySublevelOf(space.given, 'index')
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

  /** Whether `db`, which may be another object of the same sublevel, decodes keys and values in the same way. */
  hasEncodingsOf(db: AnyLevel): boolean {
    const { keyEncoding, valueEncoding } = this
    return (
      db.keyEncoding().commonName === keyEncoding.commonName &&
      db.valueEncoding().commonName === valueEncoding.commonName
    )
  }

  /** Keeps an index in step with the writes of `db`. `onOpen` is called when the database is opened again. */
  add(writer: EntryWriter, given: AnyLevel, onOpen: () => void): void {
    const db = sourceOf(given)
    const { name } = writer.definition
    if (this.#openings.size === 0) this.space.db.on('open', this.#onOpen)
    this.#openings.set(name, onOpen)
    this.#writers.set(name, writer)
    if (this.#hooked.has(db) || (this.isExact && this.#isHooked)) return
    this.#hooked.add(db)
    addHook(db, this.#onOperation, (operation) => this.#onOperation(operation, nowhere))
  }

  /** Whether the function still runs for some object. Terrace runs the functions of all objects that are not closed. */
  get #isHooked(): boolean {
    for (const { status } of this.#hooked) if (status === 'open' || status === 'opening') return true
    return false
  }

  /** Detaches an index from writes. Its name stays taken. */
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

  /** What a write of `batch` finds; without a batch, what the database holds. */
  reads(batch?: PrewriteBatch): Reads {
    return (batch !== undefined && this.#earlier.get(batch)) || this.#committed
  }

  /** Whether an open view hides a record by now, outside hooks. */
  isHiddenNow(key: Uint8Array): boolean | Promise<boolean> {
    const view = openViewOf(this.space.db)
    return (view !== undefined && viewOf(view)?.isHiddenNow(key)) || false
  }

  /** In a hook: whether an open view hides a record. For users of the view the record is gone, and its values are free. */
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
    // The option may give a sublevel. It counts only if it is another object for this very key space.
    if (sublevel != null && sublevel !== this.space.db && !this.#isSame(sublevel)) return
    const encodedKey = keyEncoding.encode(operation.key)
    const key = bytesOf(encodedKey)
    if (endOfSublevel(key) !== undefined) return

    const before = this.reads(batch)
    const old = before === this.#committed ? this.#read(encodedKey, keyEncoding.format) : before.value(key)
    const value = operation.type === 'put' ? this.#storedForm(operation) : undefined
    // With a view, another record may have taken the value of an expired one. The view's hook has already run, so nothing tells
    // whether this record had expired.
    const isOldIndexed = this.isExact && openViewOf(this.space.db) === undefined
    const changes = []
    for (const writer of this.#writers.values())
      changes.push(writer.changes({ key, old, value, isOldIndexed, reads: before }))

    // Nothing was refused.
    const earlier = this.isExact ? undefined : this.#earlierOf(batch)
    earlier?.noteValue(byteString(key), value)
    for (const change of changes) change.addTo(batch, earlier)
  }

  /** The value of an operation as it will be read. It is undefined, and not indexed, if it cannot be read as other values are. */
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

  /** The value of a key. It is read from the root, because a sublevel may not be open yet, and opening each takes time. */
  #read(key: Encoded, format: Format): unknown {
    const rootKey = keyInRoot(this.space.db, key, format)
    const { format: valueFormat } = this.valueEncoding
    const stored = this.space.root.getSync(rootKey, { keyEncoding: format, valueEncoding: valueFormat }) as
      | Encoded
      | undefined
    return stored === undefined ? undefined : this.space.decodeValue(stored)
  }
}
