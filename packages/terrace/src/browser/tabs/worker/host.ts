/** Serves a back-end to a tab: executes the calls in its messages, in order. Runs in the worker that owns the database. */

import type { BrowserBackend } from '../../browser-backend.js'
import type { Storage } from '../../level-options.js'
import { ByteWriter } from '../channel/byte-writer.js'
import {
  type Answer,
  type AnswerMessage,
  type CallMessage,
  VERSION,
  type WireAnswer,
  type WireCall
} from '../channel/calls.js'
import type { Channel } from '../channel/channel.js'
import { describe, type Failure } from '../channel/failure.js'
import { HostedCalls } from './hosted-calls.js'

export class Host {
  readonly #calls: HostedCalls
  readonly #channel: Channel
  readonly #bytes = new ByteWriter()
  #answers: WireAnswer[] = []
  #failures: Array<[number, Failure]> = []
  /** The calls that wait for the back-end. */
  readonly #waiting = new Set<Promise<void>>()
  /** How many messages have arrived. */
  #processed = 0
  #isToSend = false
  #hasEnded = false

  readonly #onEnd: () => void

  /**
   * @param storage - Where the back-end keeps its entries, for the greeting.
   * @param onEnd - Called when the tab is gone.
   */
  constructor(backend: BrowserBackend, channel: Channel, storage: Storage, onEnd = () => {}) {
    this.#calls = new HostedCalls(backend)
    this.#channel = channel
    this.#onEnd = onEnd
    channel.onMessage = (message) => this.#process(message as CallMessage)
    channel.onLost = () => this.#release()
    this.#send({ greeting: { version: VERSION, storage, identity: backend.identity } })
  }

  /** Ends the connection in order: answers what has arrived, and reports that nothing later will be done. */
  async end(): Promise<void> {
    if (this.#hasEnded) return
    this.#hasEnded = true
    await Promise.all(this.#waiting)
    this.#send({ processed: this.#processed })
    this.#release()
    this.#channel.close()
  }

  #release(): void {
    this.#hasEnded = true
    this.#calls.release()
    this.#onEnd()
  }

  #process([calls, bytes]: CallMessage): void {
    if (this.#hasEnded) return
    this.#processed++
    for (let at = 0; at < calls.length; ) {
      const count = this.#calls.together(calls, at)
      if (count === 1) this.#do(calls[at] as WireCall, bytes)
      else this.#doTogether(calls.slice(at, at + count), bytes)
      at += count
    }
    this.#send()
  }

  #do(call: WireCall, bytes: Uint8Array): void {
    this.#answer([call[1]], () => this.#calls.run(call, bytes))
  }

  #doTogether(calls: readonly WireCall[], bytes: Uint8Array): void {
    const numbers = calls.map(([, number]) => number)
    this.#answer(numbers, () => this.#calls.runTogether(calls, bytes))
  }

  /** Gives calls of these numbers one answer. */
  #answer(numbers: readonly number[], run: () => Answer | Promise<Answer> | undefined): void {
    try {
      const answer = run()
      if (answer instanceof Promise) this.#wait(numbers, answer)
      else if (answer !== undefined) this.#add(numbers, answer)
    } catch (error) {
      this.#fail(numbers, error)
    }
  }

  #wait(numbers: readonly number[], answer: Promise<Answer>): void {
    const settled = answer
      .then(
        (answer) => this.#add(numbers, answer),
        (error) => this.#fail(numbers, error)
      )
      .then(() => {
        this.#waiting.delete(settled)
        this.#sendSoon()
      })
    this.#waiting.add(settled)
  }

  #add(numbers: readonly number[], { words, parts }: Answer): void {
    for (const number of numbers) {
      const start = this.#bytes.end
      for (const part of parts) this.#bytes.add(part)
      this.#answers.push([number, this.#bytes.end - start, ...words])
    }
  }

  #fail(numbers: readonly number[], error: unknown): void {
    for (const number of numbers) this.#failures.push([number, describe(error)])
  }

  /** Answers that become ready in one turn share a message. */
  #sendSoon(): void {
    if (this.#isToSend) return
    this.#isToSend = true
    queueMicrotask(() => {
      this.#isToSend = false
      this.#send()
    })
  }

  /** @param more - Further fields of the message. */
  #send(more?: Pick<AnswerMessage, 'greeting' | 'processed'>): void {
    if (this.#answers.length + this.#failures.length === 0 && more === undefined) return
    const bytes = this.#bytes.take()
    const message: AnswerMessage = { answers: this.#answers, bytes, failures: this.#failures, ...more }
    this.#answers = []
    this.#failures = []
    this.#channel.send(message, bytes.byteLength === 0 ? [] : [bytes.buffer])
  }
}
