/**
 * Removes changes that exceed the limits of a feed. This happens in the background, and also together with writes, so that
 * writers who never yield the event loop cannot outrun it. Hooks that may have to wait for reads leave it to the background. On
 * databases other than Terrace, writes wait while changes are removed.
 */

import { isExact, type PrewriteBatch, readsAtOnce } from '../hooks.js'
import type { AnyLevel } from '../level-like.js'
import { unref } from '../platform.js'
import type { ChangeLog } from './change-log.js'
import { invalidOption } from './errors.js'
import type { StoredChange } from './record.js'

/**
 * Limits on how much of a feed is retained. A change is removed once it exceeds one of the limits. Without limits, all changes
 * are kept.
 */
export interface RetentionLimits {
  /** The maximum number of changes to retain, at least 1. Numbers that were given to refused writes count as well. */
  count?: number
  /** The maximum age of changes, in milliseconds by the machine's clock. It must be above 0. */
  ageMs?: number
  /** The maximum size of the changes, in bytes, at least 1: keys and values before compression. */
  sizeBytes?: number
}

/** At least this many changes beyond a limit of `count` stay until they are removed together. */
const SLACK_COUNT = 100
/** After at least this many changes, a write removes twice as many of the oldest ones. */
const CHANGES_A_LOOK = 100
const SCANNED_AT_ONCE = 10_000
const SHORTEST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 60_000

/** Checks the limits that a user gave. */
export function checkedLimits(limits: RetentionLimits | undefined): RetentionLimits {
  const { count, ageMs, sizeBytes } = limits ?? {}
  const isCount = (value: number) => Number.isSafeInteger(value) && value >= 1

  if (count !== undefined && !isCount(count))
    throw invalidOption("'retention.count' must be an integer, at least 1")
  if (ageMs !== undefined && !(ageMs > 0)) throw invalidOption("'retention.ageMs' must be above 0")
  if (sizeBytes !== undefined && !isCount(sizeBytes)) {
    throw invalidOption("'retention.sizeBytes' must be an integer, at least 1")
  }
  return { count, ageMs, sizeBytes }
}

/** Removes changes that exceed the limits, in whole batches: some changes may stay longer, but no batch is split. */
export class Retention {
  readonly #log: ChangeLog
  readonly #root: AnyLevel
  readonly #limits: RetentionLimits
  /** Whether a write can remove changes: hooks must read a range for that. */
  readonly #canTrimWithin: boolean
  #running: Promise<number> | undefined
  #timer: NodeJS.Timeout | undefined
  #isStopped = true
  /** The sum of bytes at the last check. */
  #checkedOffset = Number.NEGATIVE_INFINITY
  /** The number of the change at which a write checks next, and the number of changes between two checks. */
  #lookAt = 0
  #lookAfter = CHANGES_A_LOOK

  constructor(log: ChangeLog, root: AnyLevel, limits: RetentionLimits) {
    this.#log = log
    this.#root = root
    this.#limits = limits
    this.#canTrimWithin = isExact(root) && readsAtOnce(root)
  }

  /** Call it when the log is loaded. */
  start(): void {
    this.#isStopped = false
    this.#checkedOffset = Number.NEGATIVE_INFINITY
    this.#plan()
  }

  /** Call it when the database closes. Resolves when nothing is running. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    this.#timer = undefined
    await this.#running?.catch(() => 0)
  }

  /** Call it after each change that is added to the write that a hook sees. */
  onAppended(batch: PrewriteBatch): void {
    if (this.#isStopped || !this.#hasLimits) return
    if (this.#canTrimWithin) this.#trimWithin(batch)
    else if (this.#running === undefined && this.#isBeyond) this.trim().catch(ignore)
    if (this.#timer === undefined) this.#plan()
  }

  get #hasLimits(): boolean {
    const { count, ageMs, sizeBytes } = this.#limits
    return count !== undefined || ageMs !== undefined || sizeBytes !== undefined
  }

  /** Makes a write remove some changes, if a check is due. */
  #trimWithin(batch: PrewriteBatch): void {
    const { head, trimmed } = this.#log
    if (head.last < this.#lookAt) return

    const now = Date.now()
    const removed = this.#log.removeWithin(
      batch,
      (change) => this.#isExpired(change, now),
      2 * CHANGES_A_LOOK
    )
    // Nothing was removed, so check less often, but before much more is added.
    const most = Math.max(CHANGES_A_LOOK, (head.last - trimmed) / 8)
    this.#lookAfter = removed > 0 ? CHANGES_A_LOOK : Math.min(2 * this.#lookAfter, most)
    this.#lookAt = head.last + this.#lookAfter
  }

  /** Removes what exceeds the limits now. Returns how many changes were removed. */
  trim(): Promise<number> {
    // A running removal may have checked the limits before the last changes.
    const before = this.#running ?? Promise.resolve(0)
    const running = before
      .then(
        () => this.#attached(),
        () => this.#attached()
      )
      .finally(() => {
        if (this.#running === running) this.#running = undefined
      })
    this.#running = running
    return running
  }

  /** Trims as a resource of the database, which therefore waits for it when it closes. */
  async #attached(): Promise<number> {
    let finish = () => {}
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    const close = () => finished
    const resource = { close, [Symbol.asyncDispose]: close }
    this.#root.attachResource(resource)

    try {
      return await this.#trim()
    } finally {
      finish()
      this.#root.detachResource(resource)
    }
  }

  async #trim(): Promise<number> {
    const isStopped = () => this.#root.status !== 'open'
    this.#checkedOffset = this.#log.head.offset
    let removed = this.#log.mayHaveRest ? await this.#removeRest(isStopped) : 0

    while (!isStopped() && (await this.#hasExpired())) {
      // Other writes wait, unless the database itself keeps writes in order.
      const some = await this.#log.order.exclusively(async (write) => {
        const last = await this.#lastExpired(isStopped)
        return last > this.#log.trimmed ? this.#log.remove(last, write, isStopped) : 0
      })
      if (some === 0) break
      removed += some
    }
    return removed
  }

  /** Removes the remains of an interrupted removal. Only their keys show that they exist. */
  #removeRest(isStopped: () => boolean): Promise<number> {
    return this.#log.order.exclusively((write) => this.#log.remove(this.#log.trimmed, write, isStopped))
  }

  /** Whether the oldest change is beyond a limit. */
  async #hasExpired(): Promise<boolean> {
    for await (const change of this.#log.oldest) return this.#isExpired(change, Date.now())
    return false
  }

  /** The last change of the last batch to remove, of those that are checked at once. */
  async #lastExpired(isStopped: () => boolean): Promise<number> {
    const now = Date.now()
    const { trimmed } = this.#log
    let last = trimmed
    let scanned = 0

    for await (const change of this.#log.oldest) {
      const before = Math.max(trimmed, change.batch - 1)
      if (isStopped() || !this.#isExpired(change, now)) return before
      if (++scanned >= SCANNED_AT_ONCE && before > trimmed) return before
      last = change.sequence
    }
    return last
  }

  #isExpired({ sequence, time, offset }: StoredChange, now: number): boolean {
    const { count = Infinity, ageMs = Infinity, sizeBytes = Infinity } = this.#limits
    const { head } = this.#log
    return sequence <= head.last - count || now - time > ageMs || head.offset - offset > sizeBytes
  }

  /** Sets the timer for the next check, if there will be something to check. */
  #plan(): void {
    const pauseMs = this.#pauseMs()
    if (pauseMs === undefined) return

    this.#timer = setTimeout(() => {
      const look = () => {
        this.#timer = undefined
        if (!this.#isStopped) this.#plan()
      }
      // After a failure, the next change triggers another attempt.
      const giveUp = () => {
        this.#timer = undefined
      }
      this.trim().then(look, giveUp)
    }, pauseMs)
    unref(this.#timer)
  }

  /** Whether enough exceeds a limit to remove it at once. */
  get #isBeyond(): boolean {
    const { count, sizeBytes } = this.#limits
    const { head, trimmed } = this.#log
    const held = head.last - trimmed
    if (count !== undefined && held > count + Math.max(SLACK_COUNT, count / 10)) return true
    return sizeBytes !== undefined && held > 0 && head.offset - this.#checkedOffset > sizeBytes / 10
  }

  #pauseMs(): number | undefined {
    const { ageMs } = this.#limits
    const { head, trimmed } = this.#log
    const held = head.last - trimmed
    if (this.#isBeyond) return 0
    if (ageMs === undefined || held === 0) return undefined
    return Math.min(Math.max(ageMs / 4, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS)
  }
}

function ignore(): void {}
