/** A database or sublevel, as the files here see one another's: what they need of it, and its keys. */

import type { Transcoder } from 'abstract-level'
import type { Bytes } from './backend.js'
import type { PrewriteFunction } from './prewrite.js'

export type Encoder = Pick<Transcoder.Encoding<unknown, Bytes, unknown>, 'encode' | 'decode' | 'format'>

/** What of a database or sublevel is used here; the types of abstract-level lack some of it. */
export interface Database {
  /** Only those of this package have it. */
  readonly namespace?: {
    readonly spaces: readonly HookedSpace[]
    readonly store: { readonly refusal: unknown }
  }
  /** Of a sublevel: the database that it is in. */
  readonly db?: unknown
  /** Of a sublevel: what it was made from. */
  readonly parent?: Database | null
  /** Of a sublevel. */
  readonly prefix?: string
  readonly status: string
  readonly hooks: { readonly prewrite: { readonly functions: readonly PrewriteFunction[] } }
  _assertValidKey(key: unknown): void
  _assertValidValue(value: unknown): void
  keyEncoding(encoding: unknown): Encoder
  valueEncoding(encoding: unknown): Encoder
  listenerCount(event: string): number
  emit(event: string, ...args: unknown[]): boolean
  deferAsync<T>(work: () => Promise<T>): Promise<T>
}

/** A function that was added with `everyWrite`. */
export interface Registration {
  readonly run: PrewriteFunction
  /** Grows with each function that is added to the database or one of its sublevels. */
  readonly order: number
  /** The database or sublevel that it was added to. */
  readonly owner: Database
}

/** A key space that has functions with `everyWrite`. */
export interface HookedSpace {
  readonly prefix: string
  readonly functions: readonly Registration[]
}

/** Whether an object is another one, or was made from it. */
export function isWithin(owner: Database, other: Database): boolean {
  for (let at: Database | null | undefined = owner; at != null; at = at.parent) if (at === other) return true
  return false
}

/** A key with a prefix, which is ASCII. */
export function prefixed(prefix: string, key: Bytes, format: string): Bytes {
  if (typeof key === 'string') return prefix + key
  if (prefix === '') return key

  const length = prefix.length + key.byteLength
  const result = format === 'view' ? new Uint8Array(length) : Buffer.allocUnsafe(length)
  for (let i = 0; i < prefix.length; i++) result[i] = prefix.charCodeAt(i)
  result.set(key, prefix.length)
  return result
}
