import type { AnyLevel } from '../aside.js'
import { type ByteString, byteString, type Encoded } from './byte-string.js'
import type { KeyRange } from './key-range.js'
import { keyEncodingOf, keySpaceOf } from './key-space.js'

/** An operation as prewrite hooks of the root see it, and as abstract-level changes it afterwards. */
export interface HookedOperation {
  key: unknown
  keyEncoding: unknown
  sublevel?: AnyLevel | null
}

/** A batch of writes, a single one among them, from when its hooks ran. */
export class SeenWrite {
  /** Rises with the order in which the hooks of writes ran. */
  readonly sequence: number
  /** The keys that a `clear()` may have deleted. */
  readonly range: KeyRange | undefined
  #operations: HookedOperation[] = []
  #keys: ByteString[] | undefined
  #whenSettled: { promise: Promise<void>; resolve: () => void } | undefined

  constructor(sequence: number, range?: KeyRange) {
    this.sequence = sequence
    this.range = range
    if (range !== undefined) this.#keys = []
  }

  /** Whether it has taken effect, or failed. */
  get isSettled(): boolean {
    return this.#keys !== undefined
  }

  /** How many keys it has written so far. */
  get length(): number {
    return this.#keys?.length ?? this.#operations.length
  }

  addOperation(operation: HookedOperation): void {
    this.#operations.push(operation)
  }

  /** Notes that it is done, and which keys it wrote in all. */
  settle(keys: ByteString[]): void {
    this.#keys = keys
    this.#operations = []
    this.#whenSettled?.resolve()
  }

  /** The keys as the root has them. */
  keys(root: AnyLevel): ByteString[] {
    if (this.#keys !== undefined) return this.#keys
    return this.#operations.map((operation) => keyOf(root, operation)).filter((key) => key !== undefined)
  }

  /** Resolves when it is done. The promise does not hold it, so that it can be garbage if it failed. */
  whenSettled(): Promise<void> {
    if (this.#whenSettled === undefined) {
      let resolve = (): void => {}
      const promise = new Promise<void>((settle) => {
        resolve = settle
      })
      this.#whenSettled = { promise, resolve }
    }

    return this.#whenSettled.promise
  }
}

/**
 * The key of an operation, before or after abstract-level has encoded it in place. Other hooks may change the key after
 * ours ran, so this is not asked within the hook.
 */
function keyOf(root: AnyLevel, operation: HookedOperation): ByteString | undefined {
  const db = operation.sublevel ?? root

  try {
    const encoded: Encoded = keyEncodingOf(db, operation.keyEncoding).encode(operation.key)
    return keySpaceOf(db).prefix + byteString(encoded)
  } catch {
    // Its write has failed for the same reason.
    return undefined
  }
}
