/**
 * A subscription as its consumer sees it: an async iterator over what the server sends.
 *
 * ```text
 *   event ──▶ put in order by number ──▶ decoded, waits for the consumer ──▶ taken: acknowledged, so the server forgets it
 * ```
 *
 * After a lost connection the server resends all events that were not taken; duplicates are dropped by their numbers. If
 * the session is lost, a subscription to something stored resumes after the last event it has read. Any other subscription
 * has missed events, and ends.
 */

import { type CodedError, codedError, type EventIterator } from 'terrace-core'
import { errorFrom, netError } from '../protocol/errors.js'
import type { Message } from '../protocol/frame.js'
import { Ask, type NoticeMessage, type RequestMessage, readMessage, told } from '../protocol/messages.js'
import type { Resource } from './link.js'
import { type NetCall, netCall } from './net-call.js'

/** The other end of a subscription: a link to a server, or a stand-in for one. */
export interface Publisher {
  readonly isClosed: boolean
  readonly handles: { add(resource: Resource): number; remove(handle: number): void }
  ask(fate: 'with state', call: NetCall<unknown, 'subscribe' | 'unsubscribe'>): Promise<unknown>
  notify(message: NoticeMessage): void
}

/** What a subscription is about. */
export interface Subject<Item> {
  /** Whether it can resume in another session. */
  readonly isStored: boolean
  /** The request that subscribes: from the beginning, or after what has been read. */
  request(handle: number): RequestMessage<'subscribe'>
  /** Decodes the content of the next event. */
  read(event: Message): Item
}

export interface SubscriptionOptions {
  /** Ends the iterator with an error LEVEL_ABORTED. */
  readonly signal: AbortSignal | undefined
  /** Called when the subscription ends for any reason. */
  readonly onEnd: (subscription: Subscription<unknown>) => void
}

interface Arrived<Item> {
  readonly item: Item
  /** 0 if the server no longer expects an acknowledgement. */
  number: number
}

interface Waiting<Item> {
  resolve(result: IteratorResult<Item, undefined>): void
  reject(error: unknown): void
}

/** How long to wait before retrying a server that could not be reached, in ms. */
const RETRY_MS = 100

const done = { done: true, value: undefined } as const

export class Subscription<Item> implements EventIterator<Item>, Resource {
  /** Returns the other end; called whenever the subscription begins. */
  readonly #find: () => Publisher
  #link: Publisher
  readonly #subject: Subject<Item>
  readonly #options: SubscriptionOptions
  #handle = 0
  /** Whether the server knows the handle. */
  #isKnown = false
  /** Whether the server has ever accepted the subscription. */
  #hasBegun = false
  #isOver = false
  /** The numbers of the last event received in order, and of the last one taken. */
  #received = 0
  #taken = 0
  /** Other messages may overtake large ones, so events can arrive out of order. */
  readonly #early = new Map<number, Message>()
  /** How the server ended it, and the number of its last event. */
  #ending: { number: number; error: CodedError<string> } | undefined
  /** Items that have arrived, in two stacks: `next()` pops from the first, which is in reverse order. */
  #ready: Array<Arrived<Item>> = []
  #arrived: Array<Arrived<Item>> = []
  readonly #waiting: Array<Waiting<Item>> = []
  /** The error that the consumer gets after all items that have arrived. */
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

  /** Resolves to the next item. The server sends ahead of these calls only up to its limit. */
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

  /** The database is closing, and its session with it: the server need not be notified. */
  async close(): Promise<void> {
    this.#forget()
    await this.return()
  }

  /** Subscribes at the server. */
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

  /** Ends with an error, which the consumer gets after the items that have arrived. */
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
      // A repeated event: the server may not know what was taken.
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
      // Deferred, because the requests of the lost session are still being given up.
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

  /** Delivers the events that are next in order. */
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
    // `forgotten()` handles this case.
    if (error.code === 'NET_SESSION_LOST') return
    const isLoss = error.code === 'NET_OFFLINE' || error.code === 'NET_CLOSING'
    if (!isLoss || !this.#subject.isStored || !this.#hasBegun) {
      this.fail(error)
      return
    }
    // The server may know the subscription even though its answer was lost.
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

  /** Lets the server forget a handle once it can be reached, if it still has the session. */
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

/** Runs something after a short while, if the program is still running then. */
function later(work: () => void): void {
  const timer = setTimeout(work, RETRY_MS)
  ;(timer as { unref?: () => void }).unref?.()
}
