/**
 * Sends messages. Those of one turn of the event loop leave together. A large message leaves in parts, as fast as the peer takes
 * them.
 */

import type { Transport } from '../transport/transport.js'
import { concat } from './bytes.js'
import { Parts } from './frame.js'
import { MAX_BUFFERED_BYTES, PART_BYTES } from './limits.js'

/** Whether messages may overtake a large one. What a client asks for must arrive in order; answers need not. */
export type Overtaking = 'in order' | 'overtaking'

/** So many frames leave before the end of the turn, so that the peer works on them while others are made. */
const EARLY_FRAMES = 16

export class Outbox {
  readonly #transport: Transport
  readonly #isInOrder: boolean
  /** Frames that leave next. */
  #ready: Uint8Array[] = []
  #readyBytes = 0
  /** Messages in parts; and, if all must stay in order, whole frames that come after them. */
  readonly #waiting: Array<Parts | Uint8Array> = []
  #waitingBytes = 0
  /** What they have in memory: a message in parts has all of it until the last one has left. */
  #waitingMemory = 0
  #nextNumber = 0
  /** What was handed to the transport. */
  sentBytes = 0
  #isFlushing = false
  #isEnding = false
  readonly #onFlushed: () => void

  /** @param onFlushed - Called when messages were handed to the transport. */
  constructor(transport: Transport, overtaking: Overtaking, onFlushed: () => void = () => {}) {
    this.#transport = transport
    this.#onFlushed = onFlushed
    this.#isInOrder = overtaking === 'in order'
  }

  /** What has not reached the peer's side, as far as this process knows. */
  get unsentBytes(): number {
    return this.#readyBytes + this.#waitingBytes + this.#transport.bufferedBytes
  }

  /** What all of that has in memory. */
  get heldBytes(): number {
    return this.#readyBytes + this.#waitingMemory + this.#transport.bufferedBytes
  }

  /** Sends a message, packed by `packFrame()`. */
  send(frame: Uint8Array): void {
    const isLarge = frame.length > PART_BYTES
    if (!isLarge && (!this.#isInOrder || this.#waiting.length === 0)) this.#push(frame)
    else {
      this.#waiting.push(isLarge ? new Parts(frame, this.#nextNumber++) : frame)
      this.#waitingBytes += frame.length
      this.#waitingMemory += frame.length
    }
    this.#flushSoon()
  }

  /** Sends a small message before all that wait. It is about the connection, not about data. */
  sendFirst(frame: Uint8Array): void {
    this.#push(frame)
    this.#flushSoon()
  }

  /** Ends the connection once everything was sent. */
  end(): void {
    this.#isEnding = true
    this.flush()
  }

  /** Goes on after the transport has handed on what it held. */
  readonly flush = (): void => {
    this.#isFlushing = false
    this.#handOn()
    if (this.#isEnding && this.#waiting.length === 0) this.#transport.end()
    this.#onFlushed()
  }

  #handOn(): void {
    const transport = this.#transport
    for (;;) {
      if (this.#ready.length > 0) {
        transport.write(concat(this.#ready))
        this.sentBytes += this.#readyBytes
        this.#ready = []
        this.#readyBytes = 0
      }
      if (this.#waiting.length === 0 || transport.bufferedBytes >= MAX_BUFFERED_BYTES) return
      this.#takeWaiting()
    }
  }

  /** Moves the next frames of what waits to those that leave. */
  #takeWaiting(): void {
    const first = this.#waiting.shift() as Parts | Uint8Array
    const frame = first instanceof Parts ? first.next() : first
    if (first instanceof Parts && !first.isDone) {
      if (this.#isInOrder) this.#waiting.unshift(first)
      else this.#waiting.push(first)
    } else this.#waitingMemory -= first.length
    this.#waitingBytes = this.#waiting.length === 0 ? 0 : Math.max(0, this.#waitingBytes - frame.length)
    this.#push(frame)
  }

  #push(frame: Uint8Array): void {
    this.#ready.push(frame)
    this.#readyBytes += frame.length
    if (this.#ready.length >= EARLY_FRAMES) this.#handOn()
  }

  #flushSoon(): void {
    if (this.#isFlushing) return
    this.#isFlushing = true
    soon(this.flush)
  }
}

/** Calls a function after whatever this turn of the event loop still does. */
const soon: (work: () => void) => void = typeof setImmediate === 'function' ? setImmediate : queueMicrotask
