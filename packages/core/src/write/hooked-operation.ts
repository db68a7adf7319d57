/**
 * An operation on its way up, from the object that it was given to as far as the root, in terms of one of the objects on that
 * way.
 */

import type { Bytes } from '../backend.js'
import {
  assertOwnSublevel,
  type Database,
  type Encoder,
  type ExactEncoding,
  isWithin,
  prefixed
} from '../level/database.js'
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

/** Where an operation came from: which function with `everyWrite` added it, if any. */
export interface Origin {
  /** The key space of the function that added the operation. Functions of that key space do not see it. Null if none added it. */
  readonly addedBy: string | null
  /** How many functions in a chain, each adding an operation for the last, led to this one. */
  readonly depth: number
}

const asInput: Origin = Object.freeze({ addedBy: null, depth: 0 })

/** Each object holds one form of the operation. {@link inTermsOf} and similar methods make others from it. */
export class HookedOperation {
  /** What functions see and may change. Call {@link normalize} after each. */
  readonly operation: PublicOperation
  readonly type: string
  readonly origin: Origin
  /** The object whose encodings apply, and whose prefix the key lacks. */
  readonly target: Database
  /** The form in which the operation was first given. */
  readonly given: HookedOperation
  /** The option `sublevel`, while it still applies. */
  readonly #sublevel: Database | null | undefined
  #key: Bytes | undefined
  #value: Bytes | undefined

  private constructor(
    operation: PublicOperation,
    type: string,
    target: Database,
    origin: Origin,
    given?: HookedOperation
  ) {
    this.operation = operation
    this.type = type
    this.target = target
    this.origin = origin
    this.given = given ?? this
    this.#sublevel = operation.sublevel
  }

  /**
   * Checks an operation, and resolves its encodings to objects.
   *
   * @param owner - The object that the operation belongs to, unless it names a sublevel.
   */
  static of(
    operation: PublicOperation,
    owner: Database,
    root: Database,
    origin: Origin = asInput
  ): HookedOperation {
    const { type, sublevel } = operation
    const target = sublevel ?? owner
    assertOwnSublevel(target, owner, root)

    target._assertValidKey(operation.key)
    if (type === 'put') assertValue(operation, target)
    else if (type !== 'del') {
      throw new TypeError("A batch operation must have a type property that is 'put' or 'del'")
    }

    const hooked = new HookedOperation(operation, type, target, origin)
    hooked.normalize()
    return hooked
  }

  /** What {@link restore} needs to undo what a function changes. */
  saved(): PublicOperation {
    return { ...this.operation }
  }

  /** Gives the operation back the properties that it had. */
  restore(saved: PublicOperation): void {
    const operation = this.operation as unknown as Record<string, unknown>
    for (const name of Object.keys(operation)) if (!(name in saved)) delete operation[name]
    Object.assign(operation, saved)
    this.normalize()
  }

  /** The prefix that the key lacks. */
  get prefix(): string {
    return this.target.prefix ?? ''
  }

  /** Whether the operation names its sublevel. */
  get isDelegated(): boolean {
    return this.#sublevel !== undefined && this.#sublevel !== null
  }

  /** Updates this operation after a function may have changed it. */
  normalize(): void {
    const { operation, type } = this
    operation.type = type
    if (operation.sublevel !== this.#sublevel) operation.sublevel = this.#sublevel
    operation.keyEncoding = this.target.keyEncoding(operation.keyEncoding)
    if (type === 'put') operation.valueEncoding = this.target.valueEncoding(operation.valueEncoding)
    this.#key = this.#value = undefined
  }

  /**
   * The form that the object sees to which the operation is forwarded. As in abstract-level, an operation that names a sublevel
   * keeps it until it has passed an object from which the sublevel was made.
   *
   * @param below - The object that the operation passed last.
   */
  forwarded(owner: Database, below: Database): HookedOperation {
    return this.isDelegated && !isWithin(this.target, below)
      ? this.#encoded('', this.target, this.#sublevel)
      : this.inTermsOf(owner)
  }

  /** The encoded form, with the rest of the prefix. */
  inTermsOf(owner: Database): HookedOperation {
    if (owner === this.target && !this.isDelegated) return this
    return this.#encoded(this.prefix.slice((owner.prefix ?? '').length), owner, null)
  }

  /** The form in which the operation was given, with all changes that functions have made since. */
  restored(): HookedOperation {
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

      return new HookedOperation(operation, this.type, given.target, this.origin, given)
    } catch {
      // A function made something of it that the first encoding cannot decode.
      return this
    }
  }

  /**
   * Encodes the key and the value.
   *
   * @throws LEVEL_INVALID_KEY or LEVEL_INVALID_VALUE if they cannot be stored.
   */
  encode(): [key: Bytes, value: Bytes | null] {
    return [this.key, this.value]
  }

  /** The encoded key, as it is in the root. */
  get rootKey(): Bytes {
    const { key, prefix } = this
    return prefix === '' ? key : prefixed(prefix, key, (this.operation.keyEncoding as Encoder).format)
  }

  /** The encoded key. */
  get key(): Bytes {
    this.#key ??= (this.operation.keyEncoding as Encoder).encode(this.operation.key)
    return this.#key
  }

  /** The encoded value; null if the operation deletes. */
  get value(): Bytes | null {
    if (this.type !== 'put') return null
    const { key, value, valueEncoding } = this.operation
    this.#value ??= (valueEncoding as ExactEncoding).encodeValue(value, key)
    return this.#value
  }

  #encoded(prefix: string, target: Database, sublevel: Database | null | undefined): HookedOperation {
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
    return new HookedOperation(operation, type, target, this.origin, this.given)
  }
}

/** Nothing is no value, whatever a function would make of it. */
function assertValue({ key, value, valueEncoding }: PublicOperation, target: Database): void {
  if (value === null || value === undefined) target.valueEncoding(valueEncoding).encodeValue(value, key)
}

/** Replaces buffers and other views of an operation by copies. */
export function keepBytes(operation: PublicOperation): void {
  const { key, value } = operation
  if (ArrayBuffer.isView(key)) operation.key = copyOfView(key)
  if (ArrayBuffer.isView(value)) operation.value = copyOfView(value)
}

/** A copy of the same kind, so that functions see what was given. */
function copyOfView(view: ArrayBufferView): ArrayBufferView {
  try {
    if (view instanceof Uint8Array) return copyOf(view) as Uint8Array
    if ('slice' in view) return (view as Float32Array).slice()
    return new DataView(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength))
  } catch {
    // Its memory was transferred. The encoding refuses it.
    return view
  }
}

/** A key of the root without this prefix; undefined if the key has another one. */
export function withoutPrefix(key: Bytes, prefix: string): Bytes | undefined {
  if (prefix === '') return key
  if (typeof key === 'string') return key.startsWith(prefix) ? key.slice(prefix.length) : undefined
  for (let i = 0; i < prefix.length; i++) if (key[i] !== prefix.charCodeAt(i)) return undefined
  return key.subarray(prefix.length)
}

/** Whether two keys or values have the same bytes, in whatever format. */
export function isSame(a: Bytes, b: Bytes): boolean {
  return a === b || (typeof a === 'string' && typeof b === 'string' ? false : identityOf(a) === identityOf(b))
}

/** What an encoding decodes from bytes in any format. */
export function decoded(encoding: Encoder, bytes: Bytes): unknown {
  return encoding.decode(inFormat(bytes, encoding.format))
}
