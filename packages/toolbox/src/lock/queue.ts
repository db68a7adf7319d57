/** A caller that wants a key. */
export interface Waiter {
  readonly isShared: boolean
  grant(): void
}

/** The holders of a key and the callers that wait for it. */
interface State {
  holders: number
  isShared: boolean
  waiting: Waiter[]
}

/**
 * Keys that are held or waited for, first come, first served. A caller that shares a key joins others that share it, unless an
 * earlier caller waits to hold it exclusively. Keys without a holder take no memory.
 */
export class Queues {
  readonly #states = new Map<string, State>()

  /** The number of keys held. */
  get size(): number {
    return this.#states.size
  }

  /** Puts a waiter into the queue of a key. The key may be granted within the call. */
  enter(key: string, waiter: Waiter): void {
    let state = this.#states.get(key)
    if (state === undefined) {
      state = { holders: 0, isShared: false, waiting: [] }
      this.#states.set(key, state)
    }

    state.waiting.push(waiter)
    admit(state)
  }

  /** Removes a waiter that was not granted the key from its queue. */
  withdraw(key: string, waiter: Waiter): void {
    const state = this.#states.get(key) as State
    state.waiting.splice(state.waiting.indexOf(waiter), 1)
    // The waiters after it may be able to share the key.
    this.#next(key, state)
  }

  /** Releases a key that was granted. */
  leave(key: string): void {
    const state = this.#states.get(key) as State
    state.holders--
    this.#next(key, state)
  }

  #next(key: string, state: State): void {
    admit(state)
    if (state.holders === 0) this.#states.delete(key)
  }
}

function admit(state: State): void {
  let next = state.waiting[0]

  while (next !== undefined && (state.holders === 0 || (state.isShared && next.isShared))) {
    state.waiting.shift()
    state.holders++
    state.isShared = next.isShared
    next.grant()
    next = state.waiting[0]
  }
}
