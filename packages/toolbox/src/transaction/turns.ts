import type { ByteString } from '../encoded.js'
import { contains, type KeyRange } from './key-range.js'

/**
 * The longest wait for a turn, in milliseconds. Turns only provide fairness: without one, a transaction proceeds, and may have
 * to retry.
 */
export const MAX_WAIT_MS = 1000

/** Ends a turn. */
export type Release = () => void

/**
 * Turns at keys that transactions conflict over. After a transaction has lost a conflict, its next attempt takes the key's
 * turn. Any transaction that starts by reading the key queues behind it. Thus each of many transactions that want the same key
 * gets it, in order.
 */
export class Turns {
  /** For each key with a turn in progress, the waiting transactions. */
  readonly #queues = new Map<ByteString, Array<() => void>>()

  /** Takes the turn of a key. After {@link MAX_WAIT_MS}, the caller proceeds without the turn. */
  async take(key: ByteString): Promise<Release> {
    const queue = this.#queues.get(key)

    if (queue === undefined) {
      this.#queues.set(key, [])
      return this.#release(key)
    }

    return (await waitIn(queue)) ? this.#release(key) : () => {}
  }

  /** The key with a queue that a reader of the key or range should join; undefined if there is none. */
  contended(read: ByteString | KeyRange): ByteString | undefined {
    if (this.#queues.size === 0) return undefined
    if (typeof read === 'string') return this.#queues.has(read) ? read : undefined

    for (const key of this.#queues.keys()) if (contains(read, key)) return key
    return undefined
  }

  #release(key: ByteString): Release {
    let isReleased = false

    return () => {
      if (isReleased) return
      isReleased = true
      const next = this.#queues.get(key)?.shift()
      if (next === undefined) this.#queues.delete(key)
      else next()
    }
  }
}

/** Resolves to true once it is first in the queue, or to false if that takes too long. */
function waitIn(queue: Array<() => void>): Promise<boolean> {
  return new Promise((resolve) => {
    const go = (): void => {
      clearTimeout(timer)
      resolve(true)
    }
    const timer = setTimeout(() => {
      queue.splice(queue.indexOf(go), 1)
      resolve(false)
    }, MAX_WAIT_MS)

    queue.push(go)
  })
}
