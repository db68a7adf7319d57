import type { ByteString } from '../encoded.js'
import { contains, type KeyRange } from './key-range.js'

/**
 * Nobody waits longer than this for a turn. Turns are for fairness alone: without one, a transaction goes on and may
 * have to try again.
 */
export const MAX_WAIT_MS = 1000

/** Gives a turn back. */
export type Release = () => void

/**
 * Turns at keys that transactions fall out over. Once a transaction has lost, its next attempt takes the key's turn, and
 * whoever starts by reading that key queues behind it: so each of many that want one key gets it, in order.
 */
export class Turns {
  /** By key: who waits while another has the turn. */
  readonly #queues = new Map<ByteString, Array<() => void>>()

  /** Takes the turn of a key, at the latest after {@link MAX_WAIT_MS} without having it. */
  async take(key: ByteString): Promise<Release> {
    const queue = this.#queues.get(key)

    if (queue === undefined) {
      this.#queues.set(key, [])
      return this.#release(key)
    }

    return (await waitIn(queue)) ? this.#release(key) : () => {}
  }

  /** The key that has a queue, which a reader of the key or range should join; undefined if there is none. */
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

/** Resolves with true once it is first in the queue, with false if that takes too long. */
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
