import type { ByteString } from '../encoded.js'
import { contains, type KeyRange } from './key-range.js'

/**
 * The longest wait for a turn, in milliseconds. Turns only serve fairness: without one, a transaction goes on, and may have to
 * try again.
 */
export const MAX_WAIT_MS = 1000

/** Gives a turn back. */
export type Release = () => void

/**
 * Turns at keys that transactions conflict over. Once a transaction has lost, its next attempt takes the key's turn, and any
 * transaction that starts by reading the key queues after it. In this way each of many that want the same key gets it, in
 * order.
 */
export class Turns {
  /** For each key, those who wait while another has the turn. */
  readonly #queues = new Map<ByteString, Array<() => void>>()

  /** Takes the turn of a key. After {@link MAX_WAIT_MS}, it goes on without the turn. */
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

/** Resolves with true once it is first in the queue, or with false if that takes too long. */
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
