/**
 * The calls of a tab that are not answered yet. They go to the worker that leads; if it is lost, to the next one, as far as that is
 * safe: reads and calls that the worker cannot have begun are sent again, and a write that it may have done fails with
 * LEVEL_LEADER_LOST.
 */

import {
  codedError,
  type Fate,
  Handles,
  type PendingCall,
  PendingCalls,
  type RemoteConnection
} from 'terrace-core'
import type { LevelErrorCode } from '../../error-codes.js'
import { isLost, lostError } from '../errors.js'
import type { Storage } from '../level-options.js'
import type { WorkerCall } from './call-codec.js'
import { ByteWriter } from './channel/byte-writer.js'
import {
  type AnswerMessage,
  type CallMessage,
  type Greeting,
  UNANSWERED,
  VERSION,
  type WireCall
} from './channel/calls.js'
import type { Channel } from './channel/channel.js'
import { revive } from './channel/failure.js'

/** A message that was sent. It is kept until all of it is answered. */
interface Sent {
  readonly calls: readonly WireCall[]
  readonly bytes: Uint8Array
  /** Counts the messages of the connection. */
  readonly number: number
  unanswered: number
}

interface Request extends PendingCall {
  /** Undefined until it is sent. */
  sent: Sent | undefined
}

export class WorkerConnection implements RemoteConnection {
  /** The keys and values of the calls that are not sent yet. */
  readonly bytes = new ByteWriter()
  #calls: WireCall[] = []
  /** Cursors, snapshots and exports of the worker. */
  readonly handles = new Handles()
  /** By number. */
  readonly #pending = new PendingCalls<Request>(this.handles, {
    writeUnknown,
    stateLost: () => this.stateLost()
  })
  /** In the order in which they were sent. */
  readonly #sent = new Set<Sent>()
  /** To the worker that has greeted this tab with the same version. */
  #channel: Channel | undefined
  /** To a worker that has not greeted yet. It is sent nothing, since it may be of another version. */
  #ungreeted: Channel | undefined
  /** How many messages were sent to the worker. */
  #messages = 0
  #isToFlush = false
  /** Why no worker could open the database. */
  #failure: unknown
  /** Where the last worker keeps the entries. */
  storage: Storage | undefined
  /** The identity of the database, once a worker has reported it. Another worker must have opened the same one. */
  identity: string | undefined
  /** Called when the browser has removed the database. */
  onLost: (error: Error) => void = () => {}

  /**
   * Sends the waiting calls to this worker once it has greeted, and all later ones.
   *
   * @param onGreeting - Called at the worker's first message, with an error if this tab cannot talk to it.
   */
  attach(channel: Channel, onGreeting: (failure?: Error) => void = () => {}): void {
    this.#failure = undefined
    // What the former worker may have done must not be sent to another one.
    if (this.#channel !== undefined) this.#lose(this.#channel, Number.POSITIVE_INFINITY)
    this.#ungreeted = channel
    channel.onMessage = (message) => this.#accept(channel, message as AnswerMessage, onGreeting)
    channel.onLost = () => this.#lose(channel, Number.POSITIVE_INFINITY)
  }

  /** Gives up the channel. No call may be pending. */
  detach(): void {
    this.#channel?.close()
    this.#ungreeted?.close()
    this.#channel = this.#ungreeted = undefined
  }

  /** No worker can open the database. Calls fail until one has. */
  fail(error: unknown): void {
    const isNews = isLost(error) && !isLost(this.#failure)
    this.#failure = error
    this.handles.forgetAll()
    this.#sent.clear()
    this.#calls = []
    this.bytes.take()
    this.#pending.fail(error)
    if (isNews) this.onLost(error as Error)
  }

  /** Resolves once every call is answered. */
  idle(): Promise<void> {
    this.#flush()
    return this.#pending.answered()
  }

  /** Why what was forgotten can no longer be used. */
  stateLost(): unknown {
    return isLost(this.#failure) ? this.#failure : stateLost()
  }

  isStateLost(error: unknown): boolean {
    return (error as { code?: string }).code === 'LEVEL_LEADER_LOST'
  }

  ask<T>(fate: Fate, { kind, at, words, read }: WorkerCall<T>): Promise<T> {
    if (this.#failure !== undefined) {
      this.bytes.end = at
      return Promise.reject(this.#failure)
    }
    return new Promise((resolve, reject) => {
      const number = this.#pending.nextNumber()
      this.#pending.add(number, { fate, read, resolve, reject, mayHaveBegun: false, sent: undefined })
      this.#add([kind, number, at, ...words])
    })
  }

  /** The worker does not answer it. */
  tell({ kind, at, words }: WorkerCall): void {
    if (this.#failure === undefined) this.#add([kind, UNANSWERED, at, ...words])
    else this.bytes.end = at
  }

  #add(call: WireCall): void {
    this.#calls.push(call)
    if (this.#isToFlush) return
    this.#isToFlush = true
    queueMicrotask(() => {
      this.#isToFlush = false
      this.#flush()
    })
  }

  /** Sends the calls that were made since the last time, in one message. */
  #flush(): void {
    if (this.#channel === undefined || this.#calls.length === 0) return
    const calls = this.#calls
    this.#calls = []
    this.#send(calls, this.bytes.take())
  }

  #send(calls: readonly WireCall[], bytes: Uint8Array): void {
    const sent: Sent = { calls, bytes, number: ++this.#messages, unanswered: 0 }
    for (const [, number] of calls) {
      const request = this.#pending.get(number)
      if (request === undefined) continue
      request.sent = sent
      request.mayHaveBegun = true
      sent.unanswered++
    }
    if (sent.unanswered > 0) this.#sent.add(sent)
    const message: CallMessage = [calls, bytes]
    this.#channel?.send(message)
  }

  #accept(channel: Channel, message: AnswerMessage, onGreeting: (failure?: Error) => void): void {
    const { answers, bytes, failures, greeting, processed } = message
    if (greeting !== undefined && !this.#meet(channel, greeting, onGreeting)) return
    let at = 0
    for (const [number, lengthBytes, ...words] of answers) {
      const end = at + lengthBytes
      this.#answered(this.#pending.answer(number, { words, bytes: bytes.subarray(at, end) }))
      at = end
    }
    for (const [number, failure] of failures) this.#answered(this.#pending.reject(number, revive(failure)))
    if (processed !== undefined) this.#lose(channel, processed)
  }

  /** Begins to talk to a worker, if it has the same version and has opened the same database. Returns whether it does. */
  #meet(channel: Channel, greeting: Greeting, onGreeting: (failure?: Error) => void): boolean {
    if (this.#ungreeted !== channel) return false
    this.#ungreeted = undefined
    const failure = this.#objectionTo(greeting)
    if (failure === undefined) {
      this.storage = greeting.storage
      this.identity = greeting.identity
      this.#begin(channel)
      onGreeting()
      return true
    }
    channel.onMessage = channel.onLost = () => {}
    this.fail(failure)
    onGreeting(failure)
    return false
  }

  #objectionTo({ version, identity }: Greeting): Error | undefined {
    if (version !== VERSION) return otherVersion()
    return this.identity === undefined || this.identity === identity ? undefined : lostError()
  }

  #begin(channel: Channel): void {
    this.#channel = channel
    this.#messages = 0
    const again = [...this.#sent]
    this.#sent.clear()
    for (const { calls, bytes } of again) this.#send(calls, bytes)
    this.#flush()
  }

  /** A message need not be kept when all of it is answered. */
  #answered(request: Request | undefined): void {
    const sent = request?.sent
    if (sent !== undefined && --sent.unanswered === 0) this.#sent.delete(sent)
  }

  /** The worker is gone, and has begun at most the first `begun` messages. */
  #lose(channel: Channel, begun: number): void {
    if (this.#ungreeted === channel) this.#ungreeted = undefined
    if (this.#channel !== channel) return
    this.#channel = undefined
    for (const request of this.#pending.all()) {
      if (request.sent !== undefined && request.sent.number > begun) request.mayHaveBegun = false
    }
    this.#pending.lose()
    // The rest can be sent to another worker.
    const isLeft = ([, number]: WireCall): boolean => this.#pending.get(number) !== undefined
    const sent = [...this.#sent].map((each) => ({ ...each, calls: each.calls.filter(isLeft) }))
    this.#sent.clear()
    for (const each of sent) if (each.calls.length > 0) this.#sent.add(each)
    this.#calls = this.#calls.filter(isLeft)
  }
}

function writeUnknown(): Error {
  return leaderLost(
    'The tab that had the database open was closed before it answered, so this write may or may not be stored: read the entry to find out'
  )
}

/** The snapshot, cursor or export is gone with its worker. */
export function stateLost(): Error {
  return leaderLost(
    'The tab that had the database open is gone, and the snapshot or export with it: make another one'
  )
}

function otherVersion(): Error {
  return codedError<LevelErrorCode>(
    'LEVEL_LOCKED',
    'Another version of this site has the database open, in another tab or in the worker that this one has started: reload all of them'
  )
}

function leaderLost(message: string): Error {
  return codedError<LevelErrorCode>('LEVEL_LEADER_LOST', message)
}
