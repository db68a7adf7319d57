/**
 * How many bytes a server holds for its clients. Each session has a budget, within that of its user, within that of the server:
 *
 * ```text
 *   server ──┬── user ──┬── session      work: messages that are being received, requests, results that have not left
 *            │          └── session      kept: what is held until the client says that it has it
 *            └── session of a client without a user
 * ```
 *
 * Work that has no room waits, and connections are not read meanwhile. What would be kept and has no room is refused: only messages
 * of the client release it, so nothing may wait for that. Each has half of a budget, so that neither takes the other's room.
 */

/** What each session may have in work, and what it may keep, however much others hold: what is small never waits for them. */
export const SMALL_BYTES = 64 * 1024

/** Waits for room. */
export interface Waiter {
  /** There may be room now. */
  look(): void
}

export class Budget {
  /** This one and those above it. */
  readonly levels: readonly Budget[]
  readonly #maxBytes: number
  #workBytes = 0
  #keptBytes = 0
  readonly #waiting = new Set<Waiter>()
  readonly #waitingToKeep = new Set<Waiter>()
  #isWaking = false
  /** Who may go on although there is no room. Without one, those who wait for each other would do so for ever. */
  #exempt: Waiter | undefined

  /**
   * @param maxBytes - Half of it is for work, half for what is kept.
   * @param parent - Holds what this one holds, and that of others.
   */
  constructor(maxBytes: number, parent?: Budget) {
    this.#maxBytes = maxBytes / 2
    this.levels = [this, ...(parent?.levels ?? [])]
  }

  get heldBytes(): number {
    return this.#workBytes + this.#keptBytes
  }

  /** How many wait here for room. */
  get waiters(): number {
    return this.#waiting.size + this.#waitingToKeep.size
  }

  /** Whether so many bytes more may be in work. */
  hasRoom(bytes = 0): boolean {
    return this.#workBytes + bytes < SMALL_BYTES || !this.levels.some((level) => level.#isFull)
  }

  /**
   * Lets one go on although there is no room, if no other one does. Otherwise it is called once there may be room.
   *
   * @returns Whether it may go on, until it calls {@link leave}.
   */
  exempts(waiter: Waiter): boolean {
    const full = this.levels.filter((level) => level.#isFull)
    const obstacle = full.find((level) => level.#isFor(waiter) === false)
    if (obstacle !== undefined) {
      obstacle.#waiting.add(waiter)
      return false
    }
    for (const level of full) level.#exempt = waiter
    return true
  }

  /** Whether others wait for one that is exempt. */
  isDelayedBy(waiter: Waiter): boolean {
    return this.levels.some((level) => level.#exempt === waiter && level.#waiting.size > 0)
  }

  /** Forgets one that waits or is exempt. */
  leave(waiter: Waiter): void {
    for (const level of this.levels) {
      level.#waiting.delete(waiter)
      level.#waitingToKeep.delete(waiter)
      if (level.#exempt !== waiter) continue
      level.#exempt = undefined
      level.#wakeSoon()
    }
  }

  /** Notes that so much more is in work, or less. */
  work(bytes: number): void {
    for (const level of this.levels) {
      level.#workBytes += bytes
      if (bytes < 0) level.#wakeSoon()
    }
  }

  /** Whether so many bytes more may be kept. */
  hasRoomToKeep(bytes: number): boolean {
    return this.keepsLittle(bytes) || this.levels.every((level) => level.takes(bytes))
  }

  /** Whether this session keeps so little that it may whatever others do. */
  keepsLittle(bytes: number): boolean {
    return this.#keptBytes + bytes <= SMALL_BYTES
  }

  /** Whether this level has room to keep so many bytes. If it keeps little, one thing may be larger. */
  takes(bytes: number): boolean {
    return this.#keptBytes <= SMALL_BYTES || this.#keptBytes + bytes <= this.#maxBytes
  }

  /** Notes that so much more is kept, or less. */
  keep(bytes: number): void {
    for (const level of this.levels) level.keepHere(bytes)
  }

  /** Like {@link keep}, for this level alone. */
  keepHere(bytes: number): void {
    this.#keptBytes += bytes
    if (bytes < 0) this.#wakeSoon()
  }

  /** Calls one when less is kept. It looks again whether there is room. */
  waitToKeep(waiter: Waiter): void {
    for (const level of this.levels) level.#waitingToKeep.add(waiter)
  }

  get #isFull(): boolean {
    return this.#workBytes >= this.#maxBytes
  }

  /** Whether this one may be exempt here. Those who have waited are called first. */
  #isFor(waiter: Waiter): boolean {
    if (this.#exempt !== undefined) return this.#exempt === waiter
    return this.#waiting.size === 0 || this.#waiting.has(waiter)
  }

  #wakeSoon(): void {
    if (this.#isWaking || this.waiters === 0) return
    this.#isWaking = true
    setImmediate(() => {
      this.#isWaking = false
      const waiting = [...this.#waiting, ...this.#waitingToKeep]
      this.#waiting.clear()
      this.#waitingToKeep.clear()
      for (const waiter of waiting) waiter.look()
    })
  }
}

/**
 * Bytes that several sessions keep, as the values of a write of which all of them hear. Each level has them once, however many sessions
 * below it keep all or parts of them.
 */
export class SharedBytes {
  readonly #bytes: number
  /** How much the levels below each one keep of them, each on its own. */
  readonly #sums = new Map<Budget, number>()

  /** @param bytes - All of them. */
  constructor(bytes: number) {
    this.#bytes = bytes
  }

  /** Whether a session may keep some of these, and some of its own. */
  hasRoom(budget: Budget, bytes: number, ownBytes: number): boolean {
    if (budget.keepsLittle(bytes + ownBytes)) return true
    let more = bytes
    return budget.levels.every((level) => {
      more = this.#more(level, more)
      return level.takes(more + ownBytes)
    })
  }

  /** Notes that a session keeps so much more of them, or less. */
  keep(budget: Budget, bytes: number): void {
    let more = bytes
    for (const level of budget.levels) {
      const here = this.#more(level, more)
      const sum = (this.#sums.get(level) ?? 0) + more
      if (sum === 0) this.#sums.delete(level)
      else this.#sums.set(level, sum)
      level.keepHere(here)
      more = here
    }
  }

  /** How much more a level has if those below it keep so much more. */
  #more(level: Budget, bytes: number): number {
    const sum = this.#sums.get(level) ?? 0
    return Math.min(sum + bytes, this.#bytes) - Math.min(sum, this.#bytes)
  }
}
