/** Removes changes that are beyond the limits of a feed, in the background. */

import type { AnyLevel } from '../level-like.js'
import type { ChangeLog } from './change-log.js'
import { invalidOption } from './errors.js'
import type { StoredChange } from './record.js'

/** What is retained of a feed. A change goes once one of the limits is passed; without limits all stay. */
export interface RetentionLimits {
  /** How many changes are retained, at most. Numbers of refused writes count. At least 1. */
  count?: number
  /** How old changes may become, in milliseconds by the clock of the machine. Above 0. */
  ageMs?: number
  /** How many bytes the changes may take, keys and values before compression. At least 1. */
  sizeBytes?: number
}

/** So many changes above a limit of `count` are let be, at least, before they are removed together. */
const SLACK_COUNT = 100
const SCANNED_AT_ONCE = 10_000
const SHORTEST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 60_000

/** Checks limits that a user gave. */
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

/** Removes what is beyond the limits, and by whole batches: some may stay longer, but none is cut. */
export class Retention {
  readonly #log: ChangeLog
  readonly #root: AnyLevel
  readonly #limits: RetentionLimits
  #running: Promise<number> | undefined
  #timer: NodeJS.Timeout | undefined
  #isStopped = true
  /** The bytes that had been added when it last looked at their sum. */
  #checkedOffset = Number.NEGATIVE_INFINITY

  constructor(log: ChangeLog, root: AnyLevel, limits: RetentionLimits) {
    this.#log = log
    this.#root = root
    this.#limits = limits
  }

  /** To be called when the log is loaded. */
  start(): void {
    this.#isStopped = false
    this.#checkedOffset = Number.NEGATIVE_INFINITY
    this.#plan()
  }

  /** To be called when the database closes. Done when nothing is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    this.#timer = undefined
    await this.#running?.catch(() => 0)
  }

  /** To be called after each change that is added. */
  onAppended(): void {
    if (this.#timer === undefined && !this.#isStopped) this.#plan()
  }

  /** Removes what is beyond the limits now. How many changes were removed. */
  trim(): Promise<number> {
    // What is under way may have looked at the limits before the last changes.
    const before = this.#running ?? Promise.resolve(0)
    const running = before.then(
      () => this.#attached(),
      () => this.#attached()
    )
    this.#running = running
    return running
  }

  /** Trims while the database waits for it when it closes. */
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
    let removed = 0

    while (!isStopped()) {
      const last = await this.#lastExpired(isStopped)
      if (last <= this.#log.trimmed) break
      removed += await this.#log.remove(last, isStopped)
    }
    return removed
  }

  /** The last change of the last batch that is to go, of those that are looked at in one go. */
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

  /** Sets the timer for the next look, if there is something to look for. */
  #plan(): void {
    const pauseMs = this.#pauseMs()
    if (pauseMs === undefined) return

    this.#timer = setTimeout(() => {
      const look = () => {
        this.#timer = undefined
        if (!this.#isStopped) this.#plan()
      }
      // What fails now is tried again after the next change.
      const giveUp = () => {
        this.#timer = undefined
      }
      this.trim().then(look, giveUp)
    }, pauseMs)
    this.#timer.unref()
  }

  #pauseMs(): number | undefined {
    const { count, ageMs, sizeBytes } = this.#limits
    const { head, trimmed } = this.#log
    const held = head.last - trimmed

    if (count !== undefined && held > count + Math.max(SLACK_COUNT, count / 10)) return 0
    if (sizeBytes !== undefined && held > 0 && head.offset - this.#checkedOffset > sizeBytes / 10) return 0
    if (ageMs === undefined || held === 0) return undefined
    return Math.min(Math.max(ageMs / 4, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS)
  }
}
