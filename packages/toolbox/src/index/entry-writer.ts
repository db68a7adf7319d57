/** The entries of one index: which ones a record has, and which ones a write changes. */

import { Buffer } from '../buffer.js'
import { byteString, bytesOf } from '../encoded.js'
import { keyInRoot, type PrewriteBatch } from '../hooks.js'
import type { KeySpace } from '../key-space.js'
import type { AnyLevel } from '../level-like.js'
import type { Definition } from './definition.js'
import { entryKey, entryOf } from './entry-keys.js'
import { uniqueError, valueError } from './errors.js'
import type { Earlier, Reads, StoredEntries } from './reads.js'

/** The write of one record, as an index sees it. */
export interface RecordWrite {
  /** The primary key. */
  readonly key: Uint8Array
  /** The previous value; undefined if there was none. */
  readonly old: unknown
  /** The new value; undefined if the record is deleted. */
  readonly value: unknown
  /** Whether the entries of `old` exist. That is uncertain if a write may be pending, or if the record has expired. */
  readonly isOldIndexed: boolean
  readonly reads: Reads
}

/** The key of an entry, with its indexed value. */
interface Key {
  readonly bytes: Buffer
  readonly indexed: unknown
}

const NO_VALUES: readonly unknown[] = Object.freeze([])
const NO_KEYS: readonly Key[] = Object.freeze([])

export class EntryWriter implements StoredEntries {
  readonly definition: Definition
  /** The sublevel of the entries. */
  readonly entries: AnyLevel
  readonly #space: KeySpace

  constructor(space: KeySpace, definition: Definition, entries: AnyLevel) {
    this.#space = space
    this.definition = definition
    this.entries = entries
  }

  /** Reads what is stored with an entry: in a unique index, the primary key. */
  read(key: Uint8Array): Uint8Array | undefined {
    const rootKey = keyInRoot(this.entries, key, 'buffer')
    return this.#space.root.getSync(rootKey, { keyEncoding: 'buffer', valueEncoding: 'buffer' }) as
      | Uint8Array
      | undefined
  }

  /**
   * The changes that a write makes.
   *
   * @throws TOOLBOX_INDEX_VALUE if a value cannot be indexed.
   * @throws TOOLBOX_UNIQUE if another key has a value of a unique index.
   */
  changes({ key, old, value, isOldIndexed, reads }: RecordWrite): Changes {
    const values = value === undefined ? NO_VALUES : this.#valuesOf(value, key)
    const oldValues = old === undefined ? NO_VALUES : this.#oldValuesOf(old, key)
    if (isOldIndexed && isSame(values, oldValues)) return NO_CHANGES

    const keys = this.#keysOf(values, key)
    const oldKeys = this.#oldKeysOf(oldValues, key)
    const changes = new Changes(this, key)
    if (this.definition.unique) for (const added of keys) this.#assertFree(added, key, reads)
    // A pending write that `old` does not show may have deleted an entry of `old`.
    for (const { bytes } of isOldIndexed ? without(keys, oldKeys) : keys) changes.added.push(bytes)
    for (const { bytes } of without(oldKeys, keys)) {
      if (this.#isOwn(bytes, key, reads)) changes.removed.push(bytes)
    }
    return changes
  }

  /**
   * The keys of all entries of a record.
   *
   * @throws TOOLBOX_INDEX_VALUE if a value cannot be indexed.
   */
  entriesOf(value: unknown, key: Uint8Array): Uint8Array[] {
    return this.#keysOf(this.#valuesOf(value, key), key).map(({ bytes }) => bytes)
  }

  /** Whether a record has an entry. A record that the definition refuses has none. */
  has(value: unknown, key: Uint8Array, entry: Uint8Array): boolean {
    if (value === undefined) return false
    const { unique } = this.definition
    return this.#oldValuesOf(value, key).some((indexed) => {
      try {
        return bytesOf(entryKey(unique, indexed, key)).equals(bytesOf(entry))
      } catch {
        return false
      }
    })
  }

  /** Whether the entry that is stored under a key is one that no record has. */
  isStray(key: Uint8Array, reads: Reads): boolean {
    const stored = this.read(key)
    if (stored === undefined) return false

    try {
      const { bytes, primary } = entryOf(this.definition.unique, key, stored)
      return !this.has(reads.value(primary), primary, bytes)
    } catch {
      return true
    }
  }

  /** The operation that removes an entry. */
  removal(key: Uint8Array): object {
    return { type: 'del', key, keyEncoding: 'buffer', sublevel: this.entries }
  }

  #assertFree({ bytes, indexed }: Key, key: Uint8Array, reads: Reads): void {
    const holder = reads.entry(this, bytes)
    if (holder === undefined || bytesOf(holder).equals(bytesOf(key))) return
    // The entry may be left over from a record that changed without the index's knowledge, or has expired.
    if (!this.has(reads.shownValue(holder), holder, bytes)) return
    const space = this.#space
    throw uniqueError(this.definition.name, indexed, space.decodeKey(holder), space.decodeKey(key))
  }

  /** Whether an entry belongs to the record. In a unique index it may belong to another one. */
  #isOwn(entry: Uint8Array, key: Uint8Array, reads: Reads): boolean {
    if (!this.definition.unique) return true
    const holder = reads.entry(this, entry)
    return holder !== undefined && bytesOf(holder).equals(bytesOf(key))
  }

  #valuesOf(value: unknown, key: Uint8Array): readonly unknown[] {
    const { name, usesKey, valuesOf } = this.definition
    try {
      return valuesOf(value, usesKey ? this.#space.decodeKey(key) : undefined)
    } catch (cause) {
      throw valueError(name, this.#space.decodeKey(key), cause)
    }
  }

  /** The keys of a record's entries, each once. */
  #keysOf(values: readonly unknown[], key: Uint8Array): readonly Key[] {
    if (values.length === 0) return NO_KEYS
    const { name, unique } = this.definition
    try {
      const keys = values.map((indexed) => ({ bytes: bytesOf(entryKey(unique, indexed, key)), indexed }))
      return keys.length === 1 ? keys : [...new Map(keys.map((key) => [byteString(key.bytes), key])).values()]
    } catch (cause) {
      throw valueError(name, this.#space.decodeKey(key), cause)
    }
  }

  /** The old value may have been written before the index was declared. If the definition refuses it, it has no entries. */
  #oldValuesOf(value: unknown, key: Uint8Array): readonly unknown[] {
    try {
      return this.#valuesOf(value, key)
    } catch {
      return NO_VALUES
    }
  }

  #oldKeysOf(values: readonly unknown[], key: Uint8Array): readonly Key[] {
    try {
      return this.#keysOf(values, key)
    } catch {
      return NO_KEYS
    }
  }
}

/** The changes that a write makes to an index. */
export class Changes {
  readonly added: Uint8Array[] = []
  readonly removed: Uint8Array[] = []
  readonly #writer: EntryWriter | null
  readonly #key: Uint8Array

  constructor(writer: EntryWriter | null, key: Uint8Array) {
    this.#writer = writer
    this.#key = key
  }

  /** The number of entries that change. */
  get length(): number {
    return this.added.length + this.removed.length
  }

  /** Adds the changes to a batch, and notes those of a unique index for later operations of the batch. */
  addTo(batch: PrewriteBatch, earlier: Earlier | undefined): void {
    if (this.#writer === null) return
    const { entries: sublevel, definition } = this.#writer
    const noted = definition.unique ? earlier : undefined
    for (const key of this.removed) {
      noted?.noteEntry(this.#writer, key, undefined)
      batch.add(this.#writer.removal(key))
    }
    const value = definition.unique ? this.#key : NOTHING
    for (const key of this.added) {
      noted?.noteEntry(this.#writer, key, this.#key)
      batch.add({ type: 'put', key, value, keyEncoding: 'buffer', valueEncoding: 'buffer', sublevel })
    }
  }
}

const NOTHING = Buffer.alloc(0)
const NO_CHANGES = new Changes(null, NOTHING)

/** Whether both are the same single value: a cheap check that finds most writes that change nothing. */
function isSame(values: readonly unknown[], oldValues: readonly unknown[]): boolean {
  if (values.length !== oldValues.length || values.length > 1) return false
  const [value] = values
  return (
    values.length === 0 ||
    (value === oldValues[0] && (typeof value === 'string' || typeof value === 'number'))
  )
}

/** The keys that are not among the others. */
function without(keys: readonly Key[], others: readonly Key[]): readonly Key[] {
  if (others.length === 0) return keys
  if (others.length === 1) return keys.filter(({ bytes }) => !bytes.equals((others[0] as Key).bytes))
  const identities = new Set(others.map(({ bytes }) => byteString(bytes)))
  return keys.filter(({ bytes }) => !identities.has(byteString(bytes)))
}
