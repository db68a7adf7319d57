import { type AnswerMessage, type CallMessage, UNANSWERED } from './calls.js'
import type { Channel } from './channel.js'
import { after, ChannelMemory, RING } from './shared-memory.js'

/** How long a worker looks for the next message of its page without a pause: to be woken takes as long as several messages. */
const SPIN_MS = 0.05

/** How long it then waits before it attends to other things. */
const LINGER_MS = 0.3

/** So long it may attend to its page alone. */
const STREAK_MS = 4

/**
 * The worker's side of a channel to its page.
 *
 * @param shared - Memory that they share.
 */
export function workerChannel(port: Channel, shared: SharedArrayBuffer | undefined): Channel {
  return shared === undefined ? port : new WorkerMemoryChannel(port, new ChannelMemory(shared))
}

/**
 * The worker's side of a shared-memory channel to its own page ({@link PageMemoryChannel}). After each message it waits a moment for the next
 * one in the memory, unless calls wait for something: that needs turns of the event loop.
 */
export class WorkerMemoryChannel implements Channel {
  onMessage: (message: unknown) => void = () => {}
  onLost: () => void = () => {}
  readonly #port: Channel
  readonly #memory: ChannelMemory
  #received = 0
  #answered = 0
  /** The calls that are not answered yet. */
  #waiting = 0
  /** Whether the message that is being processed came through the memory, and is not answered yet. */
  #isInMemory = false

  constructor(port: Channel, memory: ChannelMemory) {
    this.#port = port
    this.#memory = memory
    port.onMessage = (message) => {
      // It was stored before this message was sent.
      this.#receiveStored()
      if (message !== RING) this.#receive(message as CallMessage)
      this.#linger()
    }
    port.onLost = () => this.onLost()
  }

  send(message: unknown, transfer: Transferable[] = []): void {
    const answer = message as AnswerMessage
    this.#waiting -= answer.answers.length + answer.failures.length
    if (this.#isInMemory && this.#isStored(answer)) {
      this.#isInMemory = false
      this.#answered = after(this.#answered)
      this.#memory.announceAnswer(this.#answered)
    } else this.#port.send(message, transfer)
  }

  close(): void {
    this.#port.close()
  }

  /** Stores an answer for the page, if that has taken the one before. */
  #isStored({ answers, bytes, failures, greeting, processed }: AnswerMessage): boolean {
    const memory = this.#memory
    const isPlain = failures.length === 0 && greeting === undefined && processed === undefined
    return isPlain && memory.taken === this.#answered && memory.answerBox.store(answers, bytes)
  }

  #linger(): void {
    const memory = this.#memory
    const end = performance.now() + STREAK_MS
    memory.isAwake = true
    while (this.#waiting === 0 && performance.now() < end) {
      const { signals } = memory
      if (this.#receiveStored()) continue
      const isSignalled = this.#isSignalledSoon(signals) || memory.waitForSignal(signals, LINGER_MS)
      // A signal without a message in the memory is for one in the port.
      if (!isSignalled || !this.#isStoredByPage) break
    }
    memory.isAwake = false
    // The page may have stored a message before it could see that.
    this.#receiveStored()
  }

  #isSignalledSoon(signals: number): boolean {
    for (const end = performance.now() + SPIN_MS; performance.now() < end; ) {
      if (this.#memory.signals !== signals) return true
    }
    return false
  }

  /** Whether the next message is in the memory. The page puts none there before all others were received. */
  get #isStoredByPage(): boolean {
    return this.#memory.requests === after(this.#received)
  }

  /** Receives the message in the memory. Returns whether there was one. */
  #receiveStored(): boolean {
    if (!this.#isStoredByPage) return false
    this.#isInMemory = true
    this.#receive(this.#memory.requestBox.take() as unknown as CallMessage)
    this.#isInMemory = false
    return true
  }

  #receive(message: CallMessage): void {
    this.#received = after(this.#received)
    this.#memory.processed = this.#received
    for (const [, number] of message[0]) if (number !== UNANSWERED) this.#waiting++
    this.onMessage(message)
  }
}
