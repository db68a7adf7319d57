import { type ByteString, byteString } from '../encoded.js'
import { keyEncodingOf } from '../hooks.js'
import { keySpaceOf } from '../key-space.js'
import type { AnyLevel } from '../level-like.js'
import type { KeyRange } from './key-range.js'

/** An operation as prewrite hooks of the root see it, and as databases change it afterwards. */
export interface HookedOperation {
  key: unknown
  keyEncoding: unknown
  sublevel?: AnyLevel | null
}

/** A write of one key, from the time its hooks ran; or a completed `clear()`. */
export class SeenWrite {
  /** Increases in the order in which the hooks of writes ran. */
  readonly sequence: number
  /** The batch of a transaction that contains the write, if there is one. */
  readonly batch: object | undefined
  /** The keys that a `clear()` may have deleted. */
  range: KeyRange | undefined
  #operation: HookedOperation | undefined
  #key: ByteString | undefined
  #whenSettled: { promise: Promise<void>; resolve: () => void } | undefined

  constructor(sequence: number, operation?: HookedOperation, batch?: object) {
    this.sequence = sequence
    this.batch = batch
    this.#operation = operation
  }

  /** Whether the write has taken effect or failed. */
  get isSettled(): boolean {
    return this.#operation === undefined
  }

  /** Marks the write as done, with the key that it wrote, if there is one and it is needed. */
  settle(key: ByteString | undefined): void {
    this.#key = key
    this.#operation = undefined
    this.#whenSettled?.resolve()
  }

  /** The key in terms of the root, if there is one. */
  key(root: AnyLevel): ByteString | undefined {
    return this.#operation === undefined ? this.#key : keyOf(root, this.#operation)
  }

  /** Resolves when the write is done. The promise does not reference the write, so a failed one can be collected. */
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
 * The key of an operation, before or after the database has encoded it in place. It is not computed within the hook, because
 * later hooks may change the key.
 */
function keyOf(root: AnyLevel, operation: HookedOperation): ByteString | undefined {
  const db = operation.sublevel ?? root

  try {
    return keySpaceOf(db).prefix + byteString(keyEncodingOf(db, operation.keyEncoding).encode(operation.key))
  } catch {
    // The write failed for the same reason.
    return undefined
  }
}
