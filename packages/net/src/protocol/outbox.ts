/**
 * Sends messages. Messages of one event loop turn are sent together. A large message is sent in parts, as fast as the peer takes
 * them.
 */

import type { Transport } from '../transport/transport.js'
import { concat } from './bytes.js'
import { Parts } from './frame.js'
import { MAX_BUFFERED_BYTES, PART_BYTES } from './limits.js'

/** Whether messages may overtake a large one. Requests of a client must arrive in order; answers need not. */
export type Overtaking = 'in order' | 'overtaking'

/** This many frames are sent before the end of the turn, so that the peer can work on them while more are made. */
const EARLY_FRAMES = 16

export class Outbox {
  readonly #transport: Transport
  readonly #isInOrder: boolean
  /** Frames to send next. */
  #ready: Uint8Array[] = []
  #readyBytes = 0
  /** Messages in parts and, if order must be kept, whole frames that follow them. */
  readonly #waiting: Array<Parts | Uint8Array> = []
  #waitingBytes = 0
  /** Memory held by `#waiting`: a message in parts counts in full until its last part was sent. */
  #waitingMemory = 0
  #nextNumber = 0
  /** How many bytes were handed to the transport. */
  sentBytes = 0
  #isFlushing = false
  #isEnding = false
  readonly #onFlushed: () => void

  /** @param onFlushed - Called after messages were handed to the transport. */
  constructor(transport: Transport, overtaking: Overtaking, onFlushed: () => void = () => {}) {
    this.#transport = transport
    this.#onFlushed = onFlushed
    this.#isInOrder = overtaking === 'in order'
  }

  /** How many bytes have not left this process, as far as it knows. */
  get unsentBytes(): number {
    return this.#readyBytes + this.#waitingBytes + this.#transport.bufferedBytes
  }

  /** How much memory the unsent messages hold. */
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

  /** Sends a small message before all waiting ones. For messages about the connection, not about data. */
  sendFirst(frame: Uint8Array): void {
    this.#push(frame)
    this.#flushSoon()
  }

  /** Ends the connection once everything was sent. */
  end(): void {
    this.#isEnding = true
    this.flush()
  }

  /** Continues after the transport has drained its buffer. */
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

  /** Moves the next waiting frame to those being sent. */
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

/** Calls a function after the rest of this event loop turn. */
const soon: (work: () => void) => void = typeof setImmediate === 'function' ? setImmediate : queueMicrotask
