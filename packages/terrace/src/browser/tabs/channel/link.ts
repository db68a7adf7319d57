import type { Channel } from './channel.js'
import { whenFree } from './locks.js'

/** What carries messages: a port, or a broadcast channel for two, which copies what a port would transfer. */
export type Carrier = MessagePort | BroadcastChannel

/** The message that ends a channel. It comes after all others, which the loss of a lock may overtake. */
const END = undefined

/** A channel. If its other side may outlive this one, that side holds a lock for as long as it runs. */
export class Link implements Channel {
  onMessage: (message: unknown) => void = () => {}
  onLost: () => void = () => {}
  readonly #carrier: Carrier
  readonly #ended = new AbortController()
  readonly #whenLost: () => void

  /**
   * @param peerLock - The name of the lock that the other side holds, if its end is to be noticed.
   * @param whenLost - Called before {@link onLost}.
   */
  constructor(carrier: Carrier, peerLock?: string, whenLost = () => {}) {
    this.#carrier = carrier
    this.#whenLost = whenLost
    carrier.onmessage = ({ data }) => {
      if (data === END) this.lose()
      else this.onMessage(data)
    }
    carrier.onmessageerror = () => this.giveUp()
    if (peerLock === undefined) return
    whenFree(peerLock, this.#ended.signal, () => void whatHasArrived().then(() => this.lose()))
  }

  /** Resolves when this channel was closed or lost. */
  get ended(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#hasEnded) resolve()
      else this.#ended.signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }

  get #hasEnded(): boolean {
    return this.#ended.signal.aborted
  }

  send(message: unknown, transfer: Transferable[] = []): void {
    if (message === END) throw new TypeError('undefined is not a message')
    if (!this.#hasEnded) this.#give(message, transfer)
  }

  close(): void {
    if (!this.#hasEnded) this.#give(END).#end()
  }

  /** Ends the channel for both sides as lost. */
  giveUp(): void {
    if (!this.#hasEnded) this.#give(END).lose()
  }

  /** Treats the other side as gone. */
  lose(): void {
    if (this.#hasEnded) return
    this.#end()
    this.#whenLost()
    this.onLost()
  }

  #give(message: unknown, transfer: Transferable[] = []): this {
    // A broadcast channel ignores the second argument.
    ;(this.#carrier as MessagePort).postMessage(message, transfer)
    return this
  }

  #end(): void {
    this.#ended.abort()
    this.#carrier.onmessage = this.#carrier.onmessageerror = null
    this.#carrier.close()
  }
}

/** Resolves after the messages that have already arrived were delivered. */
export function whatHasArrived(): Promise<void> {
  const { port1, port2 } = new MessageChannel()
  return new Promise((resolve) => {
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(null)
  })
}
