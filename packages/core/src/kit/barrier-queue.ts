/**
 * The order of a back-end's writes, some of which are barriers: a `clear` that reads what it deletes must run after all earlier
 * writes and before all later ones.
 *
 * ```text
 *   run  run  run │ barrier │ run  run │ barrier
 *   └─ overlap ─┘             └ overlap ┘
 * ```
 */

import { Fifo } from '../fifo.js'

/** Work that has not begun. */
interface Waiting {
  readonly isBarrier: boolean
  begin(): void
}

/**
 * Orders the writes of a back-end. Work may overlap, except for barriers, which run after all earlier work and before all later
 * work.
 */
export class BarrierQueue {
  readonly #waiting = new Fifo<Waiting>()
  /** How much work has begun and not settled. */
  #running = 0
  #isBarrierRunning = false
  #refusal: Error | undefined
  #whenIdle: Array<() => void> = []

  /** Whether work that may overlap would begin immediately. */
  get isFree(): boolean {
    return !this.#isBarrierRunning && this.#waiting.length === 0
  }

  /** The error with which work is refused; undefined if work is accepted. */
  get refusal(): Error | undefined {
    return this.#refusal
  }

  /** Refuses all work that has not begun, and all later work. If this is called again, the first reason stays. */
  refuse(reason: Error): void {
    this.#refusal ??= reason
    this.#next()
  }

  /** Runs work that may overlap other such work. It begins immediately unless a barrier is running or waiting. */
  run<T>(work: () => T | Promise<T>): Promise<T> {
    return this.#add(work, false)
  }

  /** Runs work after all earlier work has settled. Later work waits until this has settled. */
  barrier<T>(work: () => T | Promise<T>): Promise<T> {
    return this.#add(work, true)
  }

  /** Delays later work until a promise has settled, whether it resolves or rejects. */
  holdUntil(promise: Promise<unknown>): void {
    const settled = promise.then(nothing, nothing)
    this.#waiting.push({ isBarrier: true, begin: () => void this.#run(() => settled, true) })
    this.#next()
  }

  /** Tracks work that the caller has started itself, because the queue {@link isFree} or within a barrier. */
  track(work: Promise<unknown>): void {
    this.#run(() => work, false)
  }

  /** Resolves when no work is waiting or running. */
  async whenIdle(): Promise<void> {
    while (this.#running > 0 || this.#waiting.length > 0) {
      await new Promise<void>((resolve) => this.#whenIdle.push(resolve))
    }
  }

  #add<T>(work: () => T | Promise<T>, isBarrier: boolean): Promise<T> {
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        if (this.#refusal !== undefined) {
          reject(this.#refusal)
          return
        }
        this.#run(work, isBarrier).then(resolve, reject)
      }
      this.#waiting.push({ isBarrier, begin })
      this.#next()
    })
  }

  #run<T>(work: () => T | Promise<T>, isBarrier: boolean): Promise<T> {
    // Before the work begins, which may add to the queue.
    this.#running++
    if (isBarrier) this.#isBarrierRunning = true
    const result = called(work)
    const ended = (): void => {
      this.#running--
      if (isBarrier) this.#isBarrierRunning = false
      this.#next()
    }
    result.then(ended, ended)
    return result
  }

  #next(): void {
    for (let first = this.#waiting.first; first !== undefined; first = this.#waiting.first) {
      if (this.#isBarrierRunning || (first.isBarrier && this.#running > 0)) return
      this.#waiting.shift()
      first.begin()
    }
    if (this.#running === 0) for (const resolve of this.#whenIdle.splice(0)) resolve()
  }
}

function called<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return Promise.resolve(work())
  } catch (error) {
    return Promise.reject(error)
  }
}

function nothing(): void {}
