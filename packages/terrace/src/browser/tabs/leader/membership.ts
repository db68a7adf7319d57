import type { Channel } from '../channel/channel.js'
import { describe, revive } from '../channel/failure.js'
import { type Carrier, Link, whatHasArrived } from '../channel/link.js'
import { holdLock, isHeld } from '../channel/locks.js'
import type { ControlMessage } from '../channel/messages.js'
import { controlChannel, epochLock, leaderLock, leadingLock, nextLock, tabLock } from '../channel/names.js'
import { pageChannel } from '../channel/page-memory-channel.js'
import type { WorkerHandle } from '../start-worker.js'
import { whenEnded } from '../worker-end.js'
import { Handshake } from './handshake.js'
import { Leadership } from './leadership.js'

/** A leader gives the other tabs channels long before this time, unless it is slow to open the database. */
const RESCUE_MS = 2000

export interface MembershipEvents {
  startWorker(): WorkerHandle
  /** The options with which this tab opens the database, if it does so now. */
  openOptions(): object
  onChannel(channel: Channel, isOwn: boolean): void
  /** An attempt to open the database has failed: that of this tab, whose membership thereby ends, or that of another. */
  onFailure(error: Error, isOwn: boolean): void
  /** The worker of this tab was lost while the tab was leading. The membership has ended. */
  onWorkerGone(): void
}

/**
 * A tab among those that share a database, from when it joins to when it leaves, is hidden away or is gone:
 *
 * ```text
 *            ┌── hears of a leader ──▶ handshake ─────▶ has a channel ──┐
 *   joins ──▶┤                              ▲                           │ lost
 *            │                              └───────────────────────────┘
 *            └── in the queue ──▶ is next: has a worker ready ──▶ leads: the worker opens the database
 * ```
 */
export class Membership {
  readonly #location: string
  readonly #events: MembershipEvents
  readonly #tab = crypto.randomUUID()
  /** Everything that the tab holds or waits for ends with it. */
  readonly #ended = new AbortController()
  readonly #control: BroadcastChannel
  /** Ends when this tab is no longer next, because it leads or has left. */
  readonly #waiting = new AbortController()
  /** Resolves when the leader's lock is free, or is no longer wanted. */
  #unlocked: Promise<void> = Promise.resolve()
  /** The epoch of the leader to which this tab has a channel, or is being introduced; 0 if there is none. */
  #epoch = 0
  /** The last epoch that this tab has heard of. */
  #lastEpoch = 0
  #handshake: Handshake | undefined
  #link: Link | undefined
  #isNext = false
  /** A worker that waits for this tab to lead, which it has once it is next and has a channel. */
  #standby: WorkerHandle | undefined
  #leadership: Leadership | undefined
  #isLeaving = false
  #rescue: ReturnType<typeof setTimeout> | undefined

  constructor(location: string, events: MembershipEvents) {
    this.#location = location
    this.#events = events
    this.#control = new BroadcastChannel(controlChannel(location))
    this.#control.onmessage = ({ data }) => this.#hear(data)
    const failed = (error: unknown) => this.#fail(error)
    // A leader that learns of this tab must find its lock held.
    holdLock(tabLock(this.#tab), this.#signal, () => {
      holdLock(nextLock(location), this.#waiting.signal, () => this.#becomeNext()).catch(failed)
      this.#ask()
    }).catch(failed)
    this.#expectChannel()
  }

  /** Whether this tab holds the lock: its worker has opened the database, or is about to. */
  get isLeader(): boolean {
    return this.#leadership !== undefined
  }

  /** Leaves in order: a leader's worker closes the database first. Resolves when another tab can lead. */
  async leave(): Promise<void> {
    this.#isLeaving = true
    try {
      await this.#closeDatabase()
    } finally {
      this.#link?.close()
      this.end()
      await this.#unlocked.catch(() => {})
    }
  }

  /** Leaves at once. The channel is lost. */
  end(): void {
    if (this.#signal.aborted) return
    this.#leadership?.terminate()
    this.#dismissStandby()
    clearTimeout(this.#rescue)
    this.#waiting.abort()
    this.#ended.abort()
    this.#control.close()
    this.#handshake?.cancel()
    this.#link?.lose()
  }

  async #closeDatabase(): Promise<void> {
    const leadership = this.#leadership
    if (leadership === undefined) return
    await leadership.close()
    // The worker's last messages to this tab may arrive after its message that it has closed.
    await this.#link?.ended
  }

  get #signal(): AbortSignal {
    return this.#ended.signal
  }

  #post(message: ControlMessage): void {
    if (!this.#signal.aborted) this.#control.postMessage(message)
  }

  /** Has the leader, if there is one, announce itself again. */
  #ask(): void {
    this.#post({ kind: 'ask' })
  }

  #hear(message: ControlMessage): void {
    if (message.kind !== 'leader' && message.kind !== 'failed') return
    this.#lastEpoch = Math.max(this.#lastEpoch, message.epoch)
    const isNewer = message.epoch > this.#epoch
    if (message.kind === 'failed') {
      // This tab may have been granted the lock before this message arrived.
      if (isNewer || this.#link === undefined) this.#events.onFailure(revive(message.failure), false)
    } else if (isNewer && !this.isLeader) {
      // A leader knows that all others are former ones.
      this.#follow(message.epoch)
    }
  }

  #follow(epoch: number): void {
    this.#forsake()
    // The listener that was notified of the loss may have left.
    if (this.#signal.aborted) return
    this.#epoch = epoch
    this.#handshake = new Handshake(this.#location, epoch, this.#tab, {
      post: (message) => this.#post(message),
      onCarrier: (carrier) => {
        this.#handshake = undefined
        this.#events.onChannel(this.#connect(carrier), false)
      },
      onGone: () => this.#lose()
    })
  }

  #connect(carrier: Carrier): Link {
    const link = new Link(carrier, epochLock(this.#location, this.#epoch), () => {
      if (this.#link === link) this.#lose()
    })
    this.#link = link
    clearTimeout(this.#rescue)
    this.#prepare()
    return link
  }

  /** Abandons the former leader. */
  #forsake(): void {
    const link = this.#link
    this.#handshake?.cancel()
    this.#handshake = this.#link = undefined
    link?.lose()
    this.#expectChannel()
  }

  /** The leader has gone. There may be another already. */
  #lose(): void {
    this.#handshake = this.#link = undefined
    this.#epoch = 0
    if (this.#signal.aborted || this.#isLeaving) return
    if (this.#leadership === undefined) {
      this.#expectChannel()
      this.#ask()
    } else this.#abdicate()
  }

  /** Checks for a leader if no channel has arrived after some time. */
  #expectChannel(): void {
    clearTimeout(this.#rescue)
    if (!this.#signal.aborted) this.#rescue = setTimeout(() => void this.#lookAfterLeader(), RESCUE_MS)
  }

  /**
   * Leads if no other tab can. A page that is frozen in the moment in which it is granted a lock keeps the lock without knowing.
   * Stealing the lock of a leader that is merely slow does no harm: it has not opened the database yet, or still holds its files.
   */
  async #lookAfterLeader(): Promise<void> {
    const isLed = await isHeld(leadingLock(this.#location)).catch(() => true)
    if (this.#link !== undefined || this.#waiting.signal.aborted) return
    if (isLed) this.#expectChannel()
    else this.#takeLead(true)
  }

  #takeLead(steal: boolean): void {
    this.#unlocked = holdLock(leaderLock(this.#location), this.#signal, () => void this.#lead(), steal)
    this.#unlocked.catch((error) => {
      if (error.name === 'AbortError') this.#abdicate()
      else this.#fail(error)
    })
  }

  async #watchWorker(): Promise<void> {
    const { error, isFinal } = await whenEnded(epochLock(this.#location, this.#epoch), this.#signal)
    if (this.#link === undefined || isFinal) this.#fail(error)
    else this.#abdicate()
  }

  /** The worker of this tab has died, or there is no channel to it any more, or another tab has taken over. */
  #abdicate(): void {
    if (this.#signal.aborted) return
    this.end()
    if (!this.#isLeaving) this.#events.onWorkerGone()
  }

  #becomeNext(): void {
    this.#isNext = true
    this.#prepare()
    this.#takeLead(false)
  }

  /** Starts a worker in advance, so that leading takes no more than opening the database. The first of all tabs leads at once. */
  #prepare(): void {
    if (!this.#isNext || this.#link === undefined || this.#standby !== undefined) return
    try {
      this.#standby = this.#events.startWorker()
      this.#standby.onFailure = () => this.#dismissStandby()
    } catch {
      // It is tried again when this tab leads, which then reports the failure.
    }
  }

  #dismissStandby(): void {
    this.#standby?.terminate()
    this.#standby = undefined
  }

  /** The worker that is ready, or a new one. */
  #takeWorker(): WorkerHandle {
    const worker = this.#standby ?? this.#events.startWorker()
    this.#standby = undefined
    return worker
  }

  async #lead(): Promise<void> {
    if (this.#waiting.signal.aborted) return
    this.#isNext = false
    this.#waiting.abort()
    holdLock(leadingLock(this.#location), this.#signal, () => {}).catch(() => {})
    // The last messages of the former leader.
    await whatHasArrived()
    this.#forsake()
    if (this.#signal.aborted) return
    // The lock orders the epochs; a clock that was set back must not break that order.
    this.#epoch = this.#lastEpoch = Math.max(Date.now(), this.#lastEpoch + 1)
    const leader = {
      location: this.#location,
      epoch: this.#epoch,
      tab: this.#tab,
      options: this.#events.openOptions()
    }
    try {
      this.#leadership = new Leadership(this.#takeWorker(), leader, {
        onLives: () => void this.#watchWorker(),
        onOpened: (port, memory) => {
          if (this.#isLeaving) return
          const link = this.#connect(port)
          this.#events.onChannel(pageChannel(link, memory), true)
        },
        onFailed: (error) => this.#fail(error)
      })
    } catch (error) {
      this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    if (this.#signal.aborted) return
    this.#post({ kind: 'failed', epoch: this.#epoch, failure: describe(error) })
    // Waiting calls fail with this error rather than with the loss of their channel.
    if (!this.#isLeaving) this.#events.onFailure(error as Error, true)
    this.end()
  }
}
