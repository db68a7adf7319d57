/** Somebody who wants the key. */
export interface Waiter {
  readonly isShared: boolean
  grant(): void
}

/** Who has a key and who waits for it. */
interface State {
  holders: number
  isShared: boolean
  waiting: Waiter[]
}

/**
 * Keys that are held and waited for, first come first served: who shares a key goes in with others that do, unless
 * somebody who wants it alone came earlier. Keys that nobody has take no memory.
 */
export class Queues {
  readonly #states = new Map<string, State>()

  /** How many keys are held. */
  get size(): number {
    return this.#states.size
  }

  /** Puts a waiter in the queue of a key; it may be granted within the call. */
  enter(key: string, waiter: Waiter): void {
    let state = this.#states.get(key)
    if (state === undefined) {
      state = { holders: 0, isShared: false, waiting: [] }
      this.#states.set(key, state)
    }

    state.waiting.push(waiter)
    admit(state)
  }

  /** Takes a waiter that was not granted out of the queue of a key. */
  withdraw(key: string, waiter: Waiter): void {
    const state = this.#states.get(key) as State
    state.waiting.splice(state.waiting.indexOf(waiter), 1)
    // Those behind it may be able to share the key.
    this.#next(key, state)
  }

  /** Gives up a key that was granted once. */
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
