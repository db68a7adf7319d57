import { openBrokerLine } from '../channel/broker-line.js'
import type { Carrier } from '../channel/link.js'
import { whenFree } from '../channel/locks.js'
import type { BrokerAnswer, Introduce, ToBroker } from '../channel/messages.js'
import { epochLock, linkChannel } from '../channel/names.js'

/** A broker that was there a moment ago may have died since. */
const RETRY_MS = 1000

interface Events {
  /** Sends a message to the leader. */
  post(message: Introduce): void
  onCarrier(carrier: Carrier): void
  /** The leader has gone before it answered. */
  onGone(): void
}

/** A tab's way to the worker of a leader: a port that the broker passes on, or else a broadcast channel of these two. */
export class Handshake {
  readonly #link = crypto.randomUUID()
  readonly #epoch: number
  readonly #tab: string
  readonly #events: Events
  readonly #ended = new AbortController()
  readonly #broadcast: BroadcastChannel
  readonly #line: MessagePort | undefined
  readonly #retry: ReturnType<typeof setInterval>

  constructor(location: string, epoch: number, tab: string, events: Events) {
    this.#epoch = epoch
    this.#tab = tab
    this.#events = events
    whenFree(epochLock(location, epoch), this.#ended.signal, () => {
      this.cancel()
      events.onGone()
    })
    // The leader decides, so both are there beforehand.
    const broadcast = new BroadcastChannel(linkChannel(this.#link))
    broadcast.onmessage = () => this.#receive(broadcast)
    this.#broadcast = broadcast
    this.#line = this.#connect()
    this.#retry = setInterval(() => this.#ask(undefined), RETRY_MS)
  }

  cancel(): void {
    this.#end(undefined)
  }

  #connect(): MessagePort | undefined {
    const line = openBrokerLine(() => this.#ask(undefined), this.#ended.signal)
    if (line === undefined) {
      this.#ask(undefined)
      return undefined
    }
    line.onmessage = ({ data, ports }: MessageEvent<BrokerAnswer>) => {
      if (data === null) this.#receive(ports[0] as MessagePort)
      else this.#ask(data.broker)
    }
    line.postMessage({ kind: 'receive', link: this.#link, tab: this.#tab } satisfies ToBroker)
    return line
  }

  #ask(broker: string | undefined): void {
    if (this.#ended.signal.aborted) return
    this.#events.post({ kind: 'introduce', epoch: this.#epoch, tab: this.#tab, link: this.#link, broker })
  }

  #receive(carrier: Carrier): void {
    if (this.#ended.signal.aborted) return
    this.#end(carrier)
    this.#events.onCarrier(carrier)
  }

  #end(kept: Carrier | undefined): void {
    this.#ended.abort()
    clearInterval(this.#retry)
    this.#line?.close()
    if (this.#broadcast !== kept) this.#broadcast.close()
  }
}
