/**
 * A subscription as its consumer sees it: an async iterator over what the server sends.
 *
 * ```text
 *   event ──▶ in its turn by number ──▶ decoded, waits for the consumer ──▶ taken: the server is told, and forgets it
 * ```
 *
 * After a lost connection the server sends again whatever was not taken; what came before is left out by its number. If the
 * session is lost, a subscription to something stored goes on after what it has; another one has missed events, and ends.
 */

import { type CodedError, codedError, type EventIterator } from 'terrace-core'
import { errorFrom, netError } from '../protocol/errors.js'
import type { Message } from '../protocol/frame.js'
import { Ask, type NoticeMessage, type RequestMessage, readMessage, told } from '../protocol/messages.js'
import type { Resource } from './link.js'
import { type NetCall, netCall } from './net-call.js'

/** Whom a subscription asks: a link to a server, or whoever is in its place. */
export interface Publisher {
  readonly isClosed: boolean
  readonly handles: { add(resource: Resource): number; remove(handle: number): void }
  ask(fate: 'with state', call: NetCall<unknown, 'subscribe' | 'unsubscribe'>): Promise<unknown>
  notify(message: NoticeMessage): void
}

/** What is subscribed to. */
export interface Subject<Item> {
  /** Whether it can go on in another session. */
  readonly isStored: boolean
  /** What the server is asked for: from the beginning, or after what has been read. */
  request(handle: number): RequestMessage<'subscribe'>
  /** Reads the content of the next event. */
  read(event: Message): Item
}

export interface SubscriptionOptions {
  /** Ends the iterator with an error LEVEL_ABORTED. */
  readonly signal: AbortSignal | undefined
  /** Called at the end, whatever it is. */
  readonly onEnd: (subscription: Subscription<unknown>) => void
}

interface Arrived<Item> {
  readonly item: Item
  /** 0 if the server does not wait to hear of it any more. */
  number: number
}

interface Waiting<Item> {
  resolve(result: IteratorResult<Item, undefined>): void
  reject(error: unknown): void
}

/** How long to wait before a server that could not be reached is asked again, in ms. */
const RETRY_MS = 100

const done = { done: true, value: undefined } as const

export class Subscription<Item> implements EventIterator<Item>, Resource {
  /** Finds whom to ask; called whenever the subscription begins. */
  readonly #find: () => Publisher
  #link: Publisher
  readonly #subject: Subject<Item>
  readonly #options: SubscriptionOptions
  #handle = 0
  /** Whether the server knows the handle. */
  #isKnown = false
  /** Whether the server has ever agreed. */
  #hasBegun = false
  #isOver = false
  /** The numbers of the last event that has come in its turn, and of the last that was taken. */
  #received = 0
  #taken = 0
  /** Large messages may be overtaken, so events come in any order. */
  readonly #early = new Map<number, Message>()
  /** How the server has ended it, after the event with this number. */
  #ending: { number: number; error: CodedError<string> } | undefined
  /** What has arrived, in two piles: the first one is taken from its end. */
  #ready: Array<Arrived<Item>> = []
  #arrived: Array<Arrived<Item>> = []
  readonly #waiting: Array<Waiting<Item>> = []
  /** What the consumer is told after everything that has arrived. */
  #failure: { error: unknown } | undefined

  constructor(find: () => Publisher, subject: Subject<Item>, options: SubscriptionOptions) {
    this.#find = find
    this.#link = find()
    this.#subject = subject
    this.#options = options
    options.signal?.addEventListener('abort', this.#abort)
    if (options.signal?.aborted) this.#abort()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** Resolves with the next item. The server sends no more than its limit ahead of these calls. */
  next(): Promise<IteratorResult<Item, undefined>> {
    const next = this.#take()
    if (next !== undefined) return Promise.resolve({ done: false, value: next.item })
    if (this.#failure !== undefined) {
      const { error } = this.#failure
      this.#failure = undefined
      return Promise.reject(error)
    }
    if (this.#isOver) return Promise.resolve(done)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
    })
  }

  /** Ends the subscription. */
  async return(): Promise<IteratorResult<Item, undefined>> {
    this.#ready = []
    this.#arrived = []
    this.#failure = undefined
    this.#end()
    return done
  }

  /** The database is being closed, and with it the session: the server need not be asked. */
  async close(): Promise<void> {
    this.#forget()
    await this.return()
  }

  /** Asks the server for it. */
  begin(): void {
    if (this.#isOver) return
    this.#received = 0
    this.#taken = 0
    this.#early.clear()
    this.#ending = undefined
    for (const arrived of [...this.#ready, ...this.#arrived]) arrived.number = 0

    this.#link = this.#find()
    this.#handle = this.#link.handles.add(this)
    this.#isKnown = true
    this.#link.ask('with state', netCall(this.#subject.request(this.#handle))).then(
      () => {
        this.#hasBegun = true
      },
      (error) => this.#refused(error)
    )
  }

  /** Ends with an error, which the consumer gets after what has arrived. */
  fail(error: unknown): void {
    if (this.#isOver) return
    const first = this.#waiting.shift()
    if (first === undefined) this.#failure = { error }
    else first.reject(error)
    this.#end()
  }

  event(event: Message): void {
    const [, number] = readMessage(told.event, event)
    if (number > this.#received) {
      this.#early.set(number, event)
      this.#advance()
    } else {
      // It comes again, so the server may not know what was taken.
      this.#link.notify([Ask.credit, this.#handle, this.#taken])
    }
  }

  ended(message: Message): void {
    const [, number, code, text] = readMessage(told.ended, message)
    this.#ending = { number, error: errorFrom(code, text) }
    this.#advance()
  }

  forgotten(): void {
    this.#forget()
    if (this.#subject.isStored || !this.#hasBegun) {
      // Later, because the requests of the lost session are still being given up.
      queueMicrotask(() => this.begin())
    } else {
      this.fail(
        netError(
          'NET_MISSED',
          'The connection was lost for too long: read the entries again, then subscribe again'
        )
      )
    }
  }

  /** Takes in the events whose turn it is. */
  #advance(): void {
    for (let event = this.#next(); event !== undefined; event = this.#next()) {
      try {
        this.#deliver({ item: this.#subject.read(event), number: this.#received })
      } catch (error) {
        this.fail(error)
        return
      }
    }
    if (this.#ending !== undefined && this.#received >= this.#ending.number) this.fail(this.#ending.error)
  }

  #next(): Message | undefined {
    const event = this.#early.get(this.#received + 1)
    if (event !== undefined) this.#early.delete(++this.#received)
    return event
  }

  #deliver(arrived: Arrived<Item>): void {
    const first = this.#waiting.shift()
    if (first === undefined) this.#arrived.push(arrived)
    else {
      this.#credit(arrived)
      first.resolve({ done: false, value: arrived.item })
    }
  }

  #take(): Arrived<Item> | undefined {
    if (this.#ready.length === 0) {
      this.#ready = this.#arrived.reverse()
      this.#arrived = []
    }
    const next = this.#ready.pop()
    if (next !== undefined) this.#credit(next)
    return next
  }

  #credit({ number }: Arrived<Item>): void {
    if (number === 0 || this.#isOver) return
    this.#taken = number
    this.#link.notify([Ask.credit, this.#handle, number])
  }

  #refused(error: CodedError<string>): void {
    // Then `forgotten` was called as well.
    if (error.code === 'NET_SESSION_LOST') return
    const isLoss = error.code === 'NET_OFFLINE' || error.code === 'NET_CLOSING'
    if (!isLoss || !this.#subject.isStored || !this.#hasBegun) {
      this.fail(error)
      return
    }
    // A server that was not heard may know it nevertheless.
    this.#unsubscribe()
    later(() => this.begin())
  }

  readonly #abort = (): void => {
    this.#ready = []
    this.#arrived = []
    const cause = this.#options.signal?.reason
    const error = Object.assign(codedError('LEVEL_ABORTED' as string, 'The subscription was aborted'), {
      cause
    })
    this.fail(Object.defineProperty(error, 'name', { value: 'AbortError' }))
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#unsubscribe()
    this.#early.clear()
    this.#options.signal?.removeEventListener('abort', this.#abort)
    for (const { resolve } of this.#waiting.splice(0)) resolve(done)
    this.#options.onEnd(this as Subscription<unknown>)
  }

  #unsubscribe(): void {
    if (!this.#isKnown) return
    const handle = this.#handle
    this.#forget()
    this.#release(handle)
  }

  /** Lets the server forget a handle, as soon as it can be reached if its session is still there. */
  #release(handle: number): void {
    this.#link.ask('with state', netCall([Ask.unsubscribe, 0, handle])).catch(({ code }) => {
      if (code === 'NET_OFFLINE' && !this.#link.isClosed) later(() => this.#release(handle))
    })
  }

  #forget(): void {
    this.#isKnown = false
    this.#link.handles.remove(this.#handle)
  }
}

/** Does something after a short while, if the program is still running. */
function later(work: () => void): void {
  const timer = setTimeout(work, RETRY_MS)
  ;(timer as { unref?: () => void }).unref?.()
}
