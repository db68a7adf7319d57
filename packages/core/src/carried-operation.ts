/** An operation on its way from the object that it was given to up to the root, in the terms of one of them. */

import type { Bytes } from './backend.js'
import { type Database, type Encoder, isWithin, prefixed } from './database.js'
import { codedError } from './errors.js'
import { copyOf, identityOf, inFormat } from './operation-list.js'

/** An operation as users pass it. */
export interface PublicOperation {
  type: string
  key: unknown
  value?: unknown
  keyEncoding?: unknown
  valueEncoding?: unknown
  sublevel?: Database | null | undefined
}

/** Which function with `everyWrite` an operation was added by. */
export interface Origin {
  /** The key space of the function, whose functions do not see it; null if none of those added it. */
  readonly addedBy: string | null
  /** How many functions added operations for each other up to this one. */
  readonly depth: number
}

const asInput: Origin = Object.freeze({ addedBy: null, depth: 0 })

/** Each is in one form: {@link inTermsOf} and the like make others of it. */
export class CarriedOperation {
  /** What functions see, and may change; {@link normalize} is to be called then. */
  readonly operation: PublicOperation
  readonly type: string
  readonly origin: Origin
  /** Whose encodings count, and whose prefix the key lacks. */
  readonly target: Database
  /** The first form. */
  readonly given: CarriedOperation
  /** The option, for as long as it counts. */
  readonly #sublevel: Database | null | undefined
  #key: Bytes | undefined
  #value: Bytes | undefined

  private constructor(
    operation: PublicOperation,
    type: string,
    target: Database,
    origin: Origin,
    given?: CarriedOperation
  ) {
    this.operation = operation
    this.type = type
    this.target = target
    this.origin = origin
    this.given = given ?? this
    this.#sublevel = operation.sublevel
  }

  /**
   * Checks an operation, and makes objects of its encodings.
   *
   * @param owner - Whose it is, if it does not name a sublevel.
   */
  static of(
    operation: PublicOperation,
    owner: Database,
    root: Database,
    origin: Origin = asInput
  ): CarriedOperation {
    const { type, sublevel } = operation
    const target = sublevel ?? owner

    if (target !== owner && target !== root && target.db !== root) {
      throw codedError('LEVEL_INVALID_ARGUMENT', "The option 'sublevel' must be a sublevel of this database")
    }

    target._assertValidKey(operation.key)
    if (type === 'put') target._assertValidValue(operation.value)
    else if (type !== 'del') {
      throw new TypeError("A batch operation must have a type property that is 'put' or 'del'")
    }

    const carried = new CarriedOperation(operation, type, target, origin)
    carried.normalize()
    return carried
  }

  /** What the key lacks. */
  get prefix(): string {
    return this.target.prefix ?? ''
  }

  /** Whether it names its sublevel. */
  get isDelegated(): boolean {
    return this.#sublevel !== undefined && this.#sublevel !== null
  }

  /** To be called when a function may have changed it. */
  normalize(): void {
    const { operation, type } = this
    operation.type = type
    if (operation.sublevel !== this.#sublevel) operation.sublevel = this.#sublevel
    operation.keyEncoding = this.target.keyEncoding(operation.keyEncoding)
    if (type === 'put') operation.valueEncoding = this.target.valueEncoding(operation.valueEncoding)
    this.#key = this.#value = undefined
  }

  /**
   * As an object sees it to which it is forwarded. As in abstract-level one that names a sublevel keeps that until it has come
   * by an object from which the sublevel was made.
   *
   * @param below - The object by which it came last.
   */
  forwarded(owner: Database, below: Database): CarriedOperation {
    return this.isDelegated && !isWithin(this.target, below)
      ? this.#encoded('', this.target, this.#sublevel)
      : this.inTermsOf(owner)
  }

  /** Encoded, with what remains of the prefix. */
  inTermsOf(owner: Database): CarriedOperation {
    if (owner === this.target && !this.isDelegated) return this
    return this.#encoded(this.prefix.slice((owner.prefix ?? '').length), owner, null)
  }

  /** As it was given, with all that functions have made of it since. */
  restored(): CarriedOperation {
    const { given } = this
    if (given === this) return this
    const key = withoutPrefix(this.rootKey, given.prefix)
    if (key === undefined) return this

    try {
      const operation = Object.assign({}, this.operation, { keyEncoding: given.operation.keyEncoding })
      operation.key = isSame(key, given.key)
        ? given.operation.key
        : decoded(given.operation.keyEncoding as Encoder, key)
      if (given.#sublevel !== undefined) operation.sublevel = given.#sublevel

      if (this.type === 'put') {
        const { value, valueEncoding } = given.operation
        operation.valueEncoding = valueEncoding
        operation.value = isSame(this.value as Bytes, given.value as Bytes)
          ? value
          : decoded(valueEncoding as Encoder, this.value as Bytes)
      }

      return new CarriedOperation(operation, this.type, given.target, this.origin, given)
    } catch {
      // It became something that the first encoding does not know.
      return this
    }
  }

  /** The key, encoded, as it is in the root. */
  get rootKey(): Bytes {
    const { key, prefix } = this
    return prefix === '' ? key : prefixed(prefix, key, (this.operation.keyEncoding as Encoder).format)
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

  #encoded(prefix: string, target: Database, sublevel: Database | null | undefined): CarriedOperation {
    const { key, value, type } = this
    const operation = Object.assign({}, this.operation)
    const { format } = operation.keyEncoding as Encoder
    operation.key = prefixed(prefix, key, format)
    operation.keyEncoding = target.keyEncoding(format)

    if (type === 'put') {
      operation.value = value
      operation.valueEncoding = target.valueEncoding((operation.valueEncoding as Encoder).format)
    }

    if (this.isDelegated) operation.sublevel = sublevel
    return new CarriedOperation(operation, type, target, this.origin, this.given)
  }
}

/** Replaces buffers of an operation by copies. */
export function keepBytes(operation: PublicOperation): void {
  const { key, value } = operation
  if (key instanceof Uint8Array) operation.key = copyOf(key)
  if (value instanceof Uint8Array) operation.value = copyOf(value)
}

/** A key of the root without a prefix; undefined if it has another one. */
export function withoutPrefix(key: Bytes, prefix: string): Bytes | undefined {
  if (prefix === '') return key
  if (typeof key === 'string') return key.startsWith(prefix) ? key.slice(prefix.length) : undefined
  for (let i = 0; i < prefix.length; i++) if (key[i] !== prefix.charCodeAt(i)) return undefined
  return key.subarray(prefix.length)
}

/** Whether bytes are the same, in whatever format. */
export function isSame(a: Bytes, b: Bytes): boolean {
  return a === b || (typeof a === 'string' && typeof b === 'string' ? false : identityOf(a) === identityOf(b))
}

/** What an encoding reads in bytes of whatever format. */
export function decoded(encoding: Encoder, bytes: Bytes): unknown {
  return encoding.decode(inFormat(bytes, encoding.format))
}
