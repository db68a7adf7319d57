import { codedError } from 'terrace-core'
import type { LevelErrorCode } from '../../../error-codes.js'
import type { Channel } from '../channel/channel.js'
import type { WorkerHandle } from '../start-worker.js'
import { Membership } from './membership.js'

export interface TabsOptions {
  /** The name of the database. Tabs of a site that name the same one share it. */
  readonly location: string

  /** Starts a worker that serves tabs. Called when this tab has become the leader. */
  startWorker(): WorkerHandle

  /**
   * Called with a channel to the worker that owns the database: the first time, and again after each loss.
   *
   * @param isOwn - Whether it is this tab's worker.
   */
  onChannel(channel: Channel, isOwn: boolean): void

  /**
   * Called if an attempt to open the database has failed.
   *
   * @param isOwn - Whether it was this tab's attempt. Then this tab no longer takes part, until it joins again. Otherwise this tab
   *   still waits for its turn, or for a channel: its options may succeed.
   */
  onFailure(error: Error, isOwn: boolean): void
}

/**
 * The tabs of a browser that share a database. One of them leads: its worker owns the database, and all tabs have a channel to that
 * worker. When the leader is gone, another tab leads, and the others get channels to its worker.
 *
 * A page that the browser freezes, or keeps in its back/forward cache, takes no part until it resumes.
 */
export class Tabs {
  readonly #options: TabsOptions
  /** Undefined while this tab does not take part. */
  #openOptions: (() => object) | undefined
  #takeoverOptions: () => object = () => ({})
  #membership: Membership | undefined

  constructor(options: TabsOptions) {
    this.#options = options
  }

  /** Whether this tab leads: its worker has opened the database, or is about to. */
  get isLeader(): boolean {
    return this.#membership?.isLeader === true
  }

  /**
   * Begins to take part.
   *
   * @param openOptions - For opening the database if this tab is the first to lead.
   * @param takeoverOptions - For opening it after this tab has had a channel, so that the database exists.
   */
  join(openOptions: object, takeoverOptions: () => object = () => openOptions): void {
    if (this.#openOptions !== undefined || this.#membership !== undefined) {
      throw new Error('This tab takes part already')
    }
    if (globalThis.navigator?.locks === undefined) {
      this.#options.onFailure(noLocks(), true)
      return
    }
    this.#openOptions = () => openOptions
    this.#takeoverOptions = takeoverOptions
    listen(addEventListener, this)
    this.#enter()
  }

  /**
   * Leaves in order. If this tab leads, its worker first answers what it has received, and closes the database.
   *
   * @throws What closing the database throws. This tab has left nevertheless.
   */
  async leave(): Promise<void> {
    this.#openOptions = undefined
    try {
      await this.#membership?.leave()
    } finally {
      this.#out()
    }
  }

  /** @internal The listener of the page's events. */
  handleEvent({ type }: Event): void {
    if (type === 'pageshow' || type === 'resume') this.#enter()
    else this.#exit()
  }

  #enter(): void {
    if (this.#openOptions === undefined) return
    this.#membership ??= new Membership(this.#options.location, {
      startWorker: () => this.#options.startWorker(),
      openOptions: () => this.#openOptions?.() ?? {},
      onChannel: (channel, isOwn) => {
        this.#openOptions = this.#takeoverOptions
        this.#options.onChannel(channel, isOwn)
      },
      onFailure: (error, isOwn) => {
        if (isOwn) this.#out()
        this.#options.onFailure(error, isOwn)
      },
      onWorkerGone: () => {
        this.#membership = undefined
        this.#enter()
      }
    })
  }

  /** Nothing of this page runs from now on, so it must hold nothing. */
  #exit(): void {
    const membership = this.#membership
    this.#membership = undefined
    membership?.end()
  }

  #out(): void {
    listen(removeEventListener, this)
    this.#openOptions = this.#membership = undefined
  }
}

function listen(change: typeof addEventListener, tabs: Tabs): void {
  for (const event of ['pagehide', 'pageshow']) change(event, tabs)
  // These are dispatched to the document, and do not bubble.
  for (const event of ['freeze', 'resume']) change(event, tabs, true)
}

function noLocks(): Error {
  return codedError<LevelErrorCode>(
    'LEVEL_NOT_SUPPORTED',
    'navigator.locks is missing, as in pages that are not a secure context, so tabs cannot share a database'
  )
}
