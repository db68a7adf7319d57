/** An operation on its way from the key space that it was given to up to the root, and in whose terms it is. */

import type { Bytes } from './binding.js'
import { type Database, type Encoder, prefixed } from './place.js'

/** An operation as users pass it. */
export interface PublicOperation {
  type: string
  key: unknown
  value?: unknown
  keyEncoding?: unknown
  valueEncoding?: unknown
  sublevel?: Database | null | undefined
}

/** By whom an operation comes. */
export interface Origin {
  /** Functions without `everyWrite` see it in the key spaces around this one. */
  readonly via: string
  /** The key space whose function added it; that one's functions do not see it. */
  readonly addedBy: string | null
  /** How many functions added operations for each other up to this one. */
  readonly depth: number
}

export class CarriedOperation {
  readonly operation: PublicOperation
  readonly type: string
  readonly origin: Origin
  /** Whether it was given with the option `sublevel`. */
  readonly isDelegated: boolean
  /** Whose encodings count. */
  #target: Database
  /** Of the key space in whose terms it is. */
  #prefix: string
  #key: Bytes | undefined
  #value: Bytes | undefined

  /**
   * Checks an operation, and makes objects of its encodings.
   *
   * @param owner - Whose it is, if it does not name a sublevel.
   */
  constructor(operation: PublicOperation, owner: Database, origin: Origin) {
    const { type, sublevel } = operation
    const isDelegated = sublevel !== undefined && sublevel !== null
    const target = isDelegated ? sublevel : owner

    target._assertValidKey(operation.key)
    if (type === 'put') target._assertValidValue(operation.value)
    else if (type !== 'del') {
      throw new TypeError("A batch operation must have a type property that is 'put' or 'del'")
    }

    this.operation = operation
    this.type = type
    this.origin = origin
    this.isDelegated = isDelegated
    this.#target = target
    this.#prefix = target.prefix ?? ''
    this.normalize()
  }

  get target(): Database {
    return this.#target
  }

  get prefix(): string {
    return this.#prefix
  }

  /** Whether it is as it was given, with its sublevel. */
  get isGiven(): boolean {
    return this.isDelegated && this.operation.sublevel === this.#target
  }

  /** To be called when a function may have changed it. */
  normalize(): void {
    const { operation, type } = this
    operation.type = type
    operation.keyEncoding = this.#target.keyEncoding(operation.keyEncoding)
    if (type === 'put') operation.valueEncoding = this.#target.valueEncoding(operation.valueEncoding)
    this.#key = this.#value = undefined
  }

  /** Brings it into the terms of a key space around its own: encoded, and with what remains of the prefix. */
  rebase(prefix: string, target: Database): void {
    const { operation } = this
    const { format } = operation.keyEncoding as Encoder
    const key = prefixed(this.#prefix.slice(prefix.length), this.key, format)
    operation.key = key
    operation.keyEncoding = target.keyEncoding(format)

    if (this.type === 'put') {
      operation.value = this.value
      operation.valueEncoding = target.valueEncoding((operation.valueEncoding as Encoder).format)
    }

    if (this.isDelegated) operation.sublevel = null
    this.#key = key
    this.#prefix = prefix
    this.#target = target
  }

  /** The key, encoded, as it is in the root. */
  get rootKey(): Bytes {
    const { key } = this
    return this.#prefix === ''
      ? key
      : prefixed(this.#prefix, key, (this.operation.keyEncoding as Encoder).format)
  }

  /** The key, encoded. */
  get key(): Bytes {
    this.#key ??= (this.operation.keyEncoding as Encoder).encode(this.operation.key)
    return this.#key
  }

  /** The value, encoded; null if it deletes. */
  get value(): Bytes | null {
    if (this.type !== 'put') return null
    this.#value ??= (this.operation.valueEncoding as Encoder).encode(this.operation.value)
    return this.#value
  }
}

/** Replaces buffers of an operation by copies. */
export function keepBytes(operation: PublicOperation): void {
  const { key, value } = operation
  if (key instanceof Uint8Array) operation.key = copyOf(key)
  if (value instanceof Uint8Array) operation.value = copyOf(value)
}

function copyOf(bytes: Uint8Array): Uint8Array {
  return Buffer.isBuffer(bytes) ? Buffer.from(bytes) : new Uint8Array(bytes)
}
