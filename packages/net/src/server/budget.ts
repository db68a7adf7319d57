/**
 * How many bytes a server holds for its clients. Each session has a budget, within that of its user, within that of the server:
 *
 * ```text
 *   server ──┬── user ──┬── session      work: messages that are being received, requests, unsent results
 *            │          └── session      kept: what is held until the client acknowledges it
 *            └── session of a client without a user
 * ```
 *
 * Work that has no room waits, and its connection is not read meanwhile. Data to be kept that has no room is refused: only messages
 * of the client release it, so waiting for that could block forever. Each kind has half of a budget, so that neither takes the
 * other's room.
 */

/**
 * How much each session may use for work, and how much it may keep, regardless of other sessions: small amounts never wait for
 * them.
 */
export const SMALL_BYTES = 64 * 1024

/** Waits for room. */
export interface Waiter {
  /** There may be room now. */
  look(): void
}

export class Budget {
  /** This budget and those above it. */
  readonly levels: readonly Budget[]
  readonly #maxBytes: number
  #workBytes = 0
  #keptBytes = 0
  readonly #waiting = new Set<Waiter>()
  readonly #waitingToKeep = new Set<Waiter>()
  #isWaking = false
  /** Proceeds although there is no room. Without such an exemption, waiters could wait for each other forever. */
  #exempt: Waiter | undefined

  /**
   * @param maxBytes - Half of it is for work, half for what is kept.
   * @param parent - The budget that includes this one.
   */
  constructor(maxBytes: number, parent?: Budget) {
    this.#maxBytes = maxBytes / 2
    this.levels = [this, ...(parent?.levels ?? [])]
  }

  get heldBytes(): number {
    return this.#workBytes + this.#keptBytes
  }

  /** How many waiters wait for room in this budget. */
  get waiters(): number {
    return this.#waiting.size + this.#waitingToKeep.size
  }

  /** Whether this many more bytes of work fit. */
  hasRoom(bytes = 0): boolean {
    return this.#workBytes + bytes < SMALL_BYTES || !this.levels.some((level) => level.#isFull)
  }

  /**
   * Lets a waiter proceed although there is no room, if no other one does. Otherwise, the waiter is called once there may be room.
   *
   * @returns Whether it may proceed, until it calls {@link leave}.
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

  /** Whether others wait for this exempt waiter. */
  isDelayedBy(waiter: Waiter): boolean {
    return this.levels.some((level) => level.#exempt === waiter && level.#waiting.size > 0)
  }

  /** Removes a waiter, or ends its exemption. */
  leave(waiter: Waiter): void {
    for (const level of this.levels) {
      level.#waiting.delete(waiter)
      level.#waitingToKeep.delete(waiter)
      if (level.#exempt !== waiter) continue
      level.#exempt = undefined
      level.#wakeSoon()
    }
  }

  /** Adds bytes of work; a negative number releases them. */
  work(bytes: number): void {
    for (const level of this.levels) {
      level.#workBytes += bytes
      if (bytes < 0) level.#wakeSoon()
    }
  }

  /** Whether this many more bytes may be kept. */
  hasRoomToKeep(bytes: number): boolean {
    return this.keepsLittle(bytes) || this.levels.every((level) => level.takes(bytes))
  }

  /** Whether the session keeps so little that it needs no room. */
  keepsLittle(bytes: number): boolean {
    return this.#keptBytes + bytes <= SMALL_BYTES
  }

  /** Whether this level has room to keep this many bytes. While it keeps little, it accepts one item of any size. */
  takes(bytes: number): boolean {
    return this.#keptBytes <= SMALL_BYTES || this.#keptBytes + bytes <= this.#maxBytes
  }

  /** Adds kept bytes; a negative number releases them. */
  keep(bytes: number): void {
    for (const level of this.levels) level.keepHere(bytes)
  }

  /** Like {@link keep}, for this level alone. */
  keepHere(bytes: number): void {
    this.#keptBytes += bytes
    if (bytes < 0) this.#wakeSoon()
  }

  /** Calls a waiter when less is kept. The waiter then checks again whether there is room. */
  waitToKeep(waiter: Waiter): void {
    for (const level of this.levels) level.#waitingToKeep.add(waiter)
  }

  get #isFull(): boolean {
    return this.#workBytes >= this.#maxBytes
  }

  /** Whether a waiter may be exempt at this level. Earlier waiters take precedence. */
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
 * Bytes that several sessions keep, such as the values of a write that all of them receive. Each level counts them once, no matter
 * how many sessions below it keep all or parts of them.
 */
export class SharedBytes {
  readonly #bytes: number
  /** How much of them the budgets directly below each level keep, summed. */
  readonly #sums = new Map<Budget, number>()

  /** @param bytes - The size of all of them. */
  constructor(bytes: number) {
    this.#bytes = bytes
  }

  /** Whether a session may keep some of these bytes, and some that it does not share. */
  hasRoom(budget: Budget, bytes: number, ownBytes: number): boolean {
    if (budget.keepsLittle(bytes + ownBytes)) return true
    let more = bytes
    return budget.levels.every((level) => {
      more = this.#more(level, more)
      return level.takes(more + ownBytes)
    })
  }

  /** Adds bytes of these that a session keeps; a negative number releases them. */
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

  /** How much more a level keeps if the budgets below it keep this much more. */
  #more(level: Budget, bytes: number): number {
    const sum = this.#sums.get(level) ?? 0
    return Math.min(sum + bytes, this.#bytes) - Math.min(sum, this.#bytes)
  }
}
