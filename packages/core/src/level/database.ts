/** A database or sublevel as the files of this package see it: what they need of it, and its keys. */

import type { Transcoder } from 'abstract-level'
import type { Bytes } from '../backend.js'
import { Buffer } from '../buffer.js'
import { codedError } from '../errors.js'
import type { PrepareFunction, PrewriteFunction } from '../hooks/prewrite.js'

export type Encoder = Pick<Transcoder.Encoding<unknown, Bytes, unknown>, 'encode' | 'decode' | 'format'>

/** What {@link Database.keyEncoding} and {@link Database.valueEncoding} return; see `exact-encoding`. */
export interface ExactEncoding extends Encoder {
  /** @throws LEVEL_INVALID_KEY or LEVEL_INVALID_VALUE if the data cannot be stored, or not read again. */
  encode(data: unknown): Bytes
  /** Encodes the value of a key, which an error names. */
  encodeValue(value: unknown, key: unknown): Bytes
}

/** The members of a database or sublevel that this package uses. The types of abstract-level lack some of them. */
export interface Database {
  /** Only databases and sublevels of this package have it. */
  readonly namespace?: {
    readonly spaces: readonly HookedSpace[]
    readonly store: { readonly refusal: unknown }
  }
  /** For a sublevel: the root database that it belongs to. */
  readonly db?: unknown
  /** For a sublevel: the object that it was made from. */
  readonly parent?: Database | null
  /** For a sublevel: what its keys begin with in the root. */
  readonly prefix?: string
  readonly status: string
  readonly hooks: { readonly prewrite: { readonly functions: readonly PrewriteFunction[] } }
  _assertValidKey(key: unknown): void
  keyEncoding(encoding: unknown): ExactEncoding
  valueEncoding(encoding: unknown): ExactEncoding
  listenerCount(event: string): number
  emit(event: string, ...args: unknown[]): boolean
  deferAsync<T>(work: () => Promise<T>): Promise<T>
}

/** A function that was added with `everyWrite`. */
export interface Registration {
  readonly run: PrewriteFunction
  readonly prepare: PrepareFunction | undefined
  /** Increases with each function that is added to the database or one of its sublevels. */
  readonly order: number
  /** The database or sublevel that the function was added to. */
  readonly owner: Database
}

/** A key space that has functions with `everyWrite`. */
export interface HookedSpace {
  readonly prefix: string
  readonly functions: readonly Registration[]
}

/** Whether `owner` is `other`, or was made from it. */
export function isWithin(owner: Database, other: Database): boolean {
  for (let at: Database | null | undefined = owner; at != null; at = at.parent) if (at === other) return true
  return false
}

/**
 * Checks the database that an operation or a condition of a call of `owner` is for.
 *
 * @throws LEVEL_INVALID_ARGUMENT if it is neither `owner` nor the root, nor a sublevel of the root.
 */
export function assertOwnSublevel(target: Database, owner: Database, root: Database): void {
  if (target !== owner && target !== root && target.db !== root) {
    throw codedError('LEVEL_INVALID_ARGUMENT', "The option 'sublevel' must be a sublevel of this database")
  }
}

/** The key with the prefix, which is ASCII, before it. */
export function prefixed(prefix: string, key: Bytes, format: string): Bytes {
  if (typeof key === 'string') return prefix + key
  if (prefix === '') return key

  const length = prefix.length + key.byteLength
  const result = format === 'view' ? new Uint8Array(length) : Buffer.allocUnsafe(length)
  for (let i = 0; i < prefix.length; i++) result[i] = prefix.charCodeAt(i)
  result.set(key, prefix.length)
  return result
}
