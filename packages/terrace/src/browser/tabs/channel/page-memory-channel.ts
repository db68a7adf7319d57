import { type AnswerMessage, type CallMessage, UNANSWERED } from './calls.js'
import type { Channel } from './channel.js'
import { after, type ChannelMemory, RING } from './shared-memory.js'

/** How long the page waits for an answer without letting the event loop turn. Most take a quarter of that. */
const SPIN_MS = 0.02

/** So long calls may follow one another without a turn of the event loop, in which the page can be drawn. */
const STREAK_MS = 4

/** The page's side of a channel to its own worker. */
export function pageChannel(port: Channel, memory: ChannelMemory | undefined): Channel {
  return memory === undefined ? port : new PageMemoryChannel(port, memory)
}

/**
 * The page's side of a shared-memory channel: one to its own worker that has memory besides the port. While calls follow one another closely,
 * messages go through the memory, which takes a tenth of the time. All others go through the port, and both ways together keep the order.
 */
export class PageMemoryChannel implements Channel {
  onMessage: (message: unknown) => void = () => {}
  onLost: () => void = () => {}
  readonly #port: Channel
  readonly #memory: ChannelMemory
  #sent = 0
  #taken = 0
  /** The calls that are not answered yet. */
  #waiting = 0
  #isWatching = false
  #hasEnded = false
  /** When the event loop has turned for the last time, as far as that is known. */
  #turnedAt = 0

  /** @param port - A channel to the worker, which has a {@link WorkerMemoryChannel} with the same memory. */
  constructor(port: Channel, memory: ChannelMemory) {
    this.#port = port
    this.#memory = memory
    port.onMessage = (message) => {
      this.#turnedAt = performance.now()
      this.#take()
      this.#receive(message as AnswerMessage)
    }
    port.onLost = () => {
      this.#take()
      this.#end()
      this.onLost()
    }
  }

  send(message: unknown, transfer: Transferable[] = []): void {
    const call = message as CallMessage
    this.#take()
    this.#sent = after(this.#sent)
    for (const [, number] of call[0]) if (number !== UNANSWERED) this.#waiting++
    if (!this.#isStored(call)) {
      this.#port.send(message, transfer)
      this.#memory.signal()
      return
    }
    this.#memory.announceRequest(this.#sent)
    // The worker may have stopped looking before it could see the message.
    if (!this.#memory.isAwake) this.#port.send(RING)
    this.#expectAnswers()
  }

  close(): void {
    this.#end()
    this.#port.close()
  }

  /** Stores a message for the worker, if nothing before it is still on its way. */
  #isStored([calls, bytes]: CallMessage): boolean {
    const memory = this.#memory
    return (
      memory.isAwake &&
      after(memory.processed) === this.#sent &&
      performance.now() - this.#turnedAt < STREAK_MS &&
      memory.requestBox.store(calls, bytes)
    )
  }

  #expectAnswers(): void {
    for (const end = performance.now() + SPIN_MS; performance.now() < end; ) {
      if (this.#take() && this.#waiting === 0) return
    }
    void this.#watch()
  }

  /** Takes answers as they come, until none is left to come. An answer may have been taken before this is woken for it. */
  async #watch(): Promise<void> {
    if (this.#isWatching) return
    this.#isWatching = true
    while (this.#waiting > 0 && !this.#hasEnded) {
      if (await this.#memory.whenAnswered(this.#taken)) this.#turnedAt = performance.now()
      this.#take()
    }
    this.#isWatching = false
  }

  /** Takes what the worker has stored. Returns whether there was something. */
  #take(): boolean {
    const memory = this.#memory
    if (memory.answers === this.#taken) return false
    const [answers, bytes] = memory.answerBox.take()
    this.#taken = after(this.#taken)
    memory.taken = this.#taken
    this.#receive({ answers, bytes, failures: [] } as unknown as AnswerMessage)
    return true
  }

  #receive(message: AnswerMessage): void {
    this.#waiting -= message.answers.length + message.failures.length
    this.onMessage(message)
  }

  #end(): void {
    this.#hasEnded = true
    this.#memory.releaseWaiter()
  }
}
