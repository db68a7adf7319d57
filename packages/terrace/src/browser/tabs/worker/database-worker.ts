import type { Channel } from '../channel/channel.js'
import { describe, type Failure } from '../channel/failure.js'
import { type Carrier, Link } from '../channel/link.js'
import { holdLock } from '../channel/locks.js'
import type { BrokerAnswer, ControlMessage, FromWorker, Introduce, ToBroker } from '../channel/messages.js'
import { controlChannel, epochLock, linkChannel, tabLock } from '../channel/names.js'
import { workerChannel } from '../channel/worker-memory-channel.js'
import { whenUnlocked } from './when-unlocked.js'

/** An open database that tabs share. */
export interface Hosted {
  /** Serves a tab. When the tab is gone, its channel is lost. */
  host(channel: Channel): void

  /** Answers what has been received over all channels, and closes the database. Nothing is hosted from then on. */
  close(): Promise<void>
}

/**
 * Opens a database for tabs.
 *
 * @param onLost - Called when the browser has removed it.
 */
export type OpenHosted = (
  location: string,
  options: object,
  onLost: (error: Error) => void
) => Promise<Hosted>

/** A connection to a broker. */
interface Line {
  readonly broker: string
  readonly port: MessagePort
}

/** Signals only that a broadcast channel is in use. */
const GREETING = 'hello'

/** The worker of a leader: opens the database, announces that, and gives a channel to each tab that wants one. */
export class DatabaseWorker {
  readonly #location: string
  readonly #epoch: number
  readonly #tellPage: (message: FromWorker) => void
  readonly #control: BroadcastChannel
  /** Resolves when opening has succeeded or failed. */
  readonly #opening: Promise<void>
  #hosted: Hosted | undefined
  #isClosing = false
  /** The channels of tabs. */
  readonly #links = new Map<string, Link>()
  /** The links of those that are broadcast channels. */
  readonly #broadcasts = new Set<string>()
  #line: Promise<Line | undefined>
  #onLine: (port: MessagePort | undefined) => void = () => {}

  /** Starts to open the database. */
  constructor(
    location: string,
    epoch: number,
    open: (onLost: (error: Error) => void) => Promise<Hosted>,
    tellPage: (message: FromWorker) => void
  ) {
    this.#location = location
    this.#epoch = epoch
    this.#tellPage = tellPage
    this.#control = new BroadcastChannel(controlChannel(location))
    this.#line = this.#wantLine()
    this.#opening = this.#open(open)
  }

  /**
   * Gives a tab a channel, in place of the one that it had.
   *
   * @param shared - Memory that the tab shares with this worker.
   */
  admit(tab: string, carrier: Carrier, shared?: SharedArrayBuffer): void {
    if (this.#isClosing) carrier.close()
    else this.#serve(tab, carrier, shared)
  }

  /** Takes the connection to a broker that was requested; undefined if there is none. */
  takeLine(port: MessagePort | undefined): void {
    this.#onLine(port)
  }

  /** Closes the database after everything received has been answered. */
  async close(): Promise<void> {
    this.#isClosing = true
    await this.#opening
    this.#control.close()
    let failure: Failure | undefined
    try {
      await this.#hosted?.close()
    } catch (error) {
      failure = describe(error)
    }
    for (const link of this.#links.values()) link.close()
    this.#tellPage({ kind: 'closed', failure })
  }

  async #open(open: (onLost: (error: Error) => void) => Promise<Hosted>): Promise<void> {
    const onLost = (error: Error) => this.#fail(error)
    try {
      const opening = whenUnlocked(
        () => open(onLost),
        () => this.#isClosing
      )
      const [hosted] = await Promise.all([opening, this.#holdEpoch()])
      this.#hosted = hosted
    } catch (error) {
      this.#fail(error)
      return
    }
    this.#control.onmessage = ({ data }) => this.#hear(data)
    this.#tellPage({ kind: 'opened' })
    this.#announce()
  }

  #fail(error: unknown): void {
    this.#tellPage({ kind: 'failed', failure: describe(error) })
  }

  /** Takes the lock that shows tabs that this worker lives. It is free, and held until the worker ends. */
  #holdEpoch(): Promise<void> {
    return new Promise((resolve, reject) => {
      const isHeld = () => {
        this.#tellPage({ kind: 'lives' })
        resolve()
      }
      holdLock(epochLock(this.#location, this.#epoch), new AbortController().signal, isHeld).catch(reject)
    })
  }

  #announce(): void {
    this.#control.postMessage({ kind: 'leader', epoch: this.#epoch } satisfies ControlMessage)
  }

  #hear(message: ControlMessage): void {
    if (this.#isClosing) return
    if (message.kind === 'ask') this.#announce()
    if (message.kind === 'introduce' && message.epoch === this.#epoch) void this.#introduce(message)
  }

  async #introduce({ tab, link, broker }: Introduce): Promise<void> {
    const line = broker === undefined ? undefined : await this.#lineTo(broker)
    // The tab may have asked again meanwhile, and already have its channel.
    if (this.#isClosing || this.#broadcasts.has(link)) return
    if (line === undefined) {
      const carrier = new BroadcastChannel(linkChannel(link))
      carrier.postMessage(GREETING)
      this.#broadcasts.add(link)
      void this.#serve(tab, carrier).ended.then(() => this.#broadcasts.delete(link))
    } else {
      const { port1, port2 } = new MessageChannel()
      line.port.postMessage({ kind: 'deliver', link } satisfies ToBroker, [port2])
      this.#serve(tab, port1)
    }
  }

  #serve(tab: string, carrier: Carrier, shared?: SharedArrayBuffer): Link {
    // A port may have reached the tab although it has asked again.
    this.#links.get(tab)?.giveUp()
    const link = new Link(carrier, tabLock(tab))
    this.#links.set(tab, link)
    void link.ended.then(() => {
      if (this.#links.get(tab) === link) this.#links.delete(tab)
    })
    this.#hosted?.host(workerChannel(link, shared))
    return link
  }

  /**
   * The connection to this broker. If it is a different one than before, the former has died, unless it belongs to another version
   * of the site.
   */
  async #lineTo(broker: string): Promise<Line | undefined> {
    const former = this.#line
    if ((await former)?.broker === broker) return former
    if (this.#line === former) this.#line = this.#wantLine()
    const line = await this.#line
    return line?.broker === broker ? line : undefined
  }

  /** Only the page can connect to a broker. */
  #wantLine(): Promise<Line | undefined> {
    this.#tellPage({ kind: 'line-wanted' })
    return new Promise((resolve) => {
      this.#onLine = (port) => {
        if (port === undefined) {
          resolve(undefined)
          return
        }
        port.onmessage = ({ data }: MessageEvent<Exclude<BrokerAnswer, null>>) => {
          resolve({ broker: data.broker, port })
        }
        port.postMessage({ kind: 'hello' } satisfies ToBroker)
      }
    })
  }
}
