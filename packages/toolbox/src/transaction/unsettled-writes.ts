import type { SeenWrite } from './seen-write.js'

/** The youngest writes are held strongly for this many writes, or this long, and then once more. */
const WRITES_A_GENERATION = 1024
const GENERATION_MS = 100

/**
 * The writes that are still running. Nothing tells that one has failed. A running write, however, is held by the event that it
 * will emit, and a failed one by nothing. So slow writes are held weakly here, and are gone once they are garbage.
 */
export class UnsettledWrites {
  #young = new Set<SeenWrite>()
  #old = new Set<SeenWrite>()
  #slow = new Set<WeakRef<SeenWrite>>()
  #dropAt = WRITES_A_GENERATION
  #added = 0
  #since = performance.now()

  add(write: SeenWrite): void {
    this.#young.add(write)
    if (++this.#added === WRITES_A_GENERATION) this.#age()
  }

  delete(write: SeenWrite): void {
    if (!this.#young.delete(write)) this.#old.delete(write)
  }

  list(): SeenWrite[] {
    if (this.#young.size === 0 && this.#old.size === 0 && this.#slow.size === 0) return []
    if (performance.now() - this.#since > GENERATION_MS) this.#age()
    return [...this.#slowOnes(), ...this.#old, ...this.#young]
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
    this.#slow.clear()
  }

  #age(): void {
    for (const write of this.#old) this.#slow.add(new WeakRef(write))
    this.#old = this.#young
    this.#young = new Set()
    this.#added = 0
    this.#since = performance.now()

    if (this.#slow.size > this.#dropAt) {
      this.#slowOnes()
      this.#dropAt = Math.max(WRITES_A_GENERATION, this.#slow.size * 2)
    }
  }

  /** The slow writes that are still running, as far as is known. The others are dropped. */
  #slowOnes(): SeenWrite[] {
    const writes = []

    for (const reference of this.#slow) {
      const write = reference.deref()
      if (write === undefined || write.isSettled) this.#slow.delete(reference)
      else writes.push(write)
    }

    return writes
  }
}
