/** The changes of a feed on the server. */

import type { KeyOptions } from 'terrace-core'
import { protocolError } from '../protocol/errors.js'
import type { Message } from '../protocol/frame.js'
import {
  Ask,
  EventCode,
  events,
  type RequestMessage,
  readEvent,
  readMessage,
  told
} from '../protocol/messages.js'
import type { Decoding } from './decoding.js'
import type { Subject } from './subscription.js'

/** Options of `changes()`. */
export interface ChangesOptions<K, V> extends KeyOptions<K, V> {
  /**
   * The number of the change after which reading begins; 0 means before the very first change. By default, reading begins with
   * the oldest retained change.
   */
  readonly since?: number
  /** A signal that ends the iterator with the error LEVEL_ABORTED. */
  readonly signal?: AbortSignal
}

/** A put or a del, as recorded by a feed. */
export interface FeedChange<K = string, V = string> {
  /** The number of the change. It is higher than those of all earlier changes; some numbers may be missing. */
  readonly sequence: number
  readonly type: 'put' | 'del'
  readonly key: K
  /** The value of a put, if the feed keeps values. */
  readonly value?: V
  /** The value before the change, if the feed keeps old values and there was one. */
  readonly oldValue?: V
  /** When the change was written, in milliseconds since 1970, by the server's clock. */
  readonly time: number
  /** The number of the first change of the batch. It is the same for all changes of one batch. */
  readonly batch: number
  /** Whether this is the first change of its batch that this reader receives. */
  readonly first: boolean
  /** Whether this is the last change of its batch that this reader receives. */
  readonly last: boolean
}

/** The changes to a range of keys, as the subject of a subscription. */
export class Changes<K, V> implements Subject<FeedChange<K, V>> {
  readonly isStored = true
  readonly #name: string
  readonly #decoding: Decoding<K, V>
  #since: number | undefined
  /** The batch of the last change. */
  #batch = 0

  constructor(name: string, since: number | undefined, decoding: Decoding<K, V>) {
    this.#name = name
    this.#since = since
    this.#decoding = decoding
  }

  request(handle: number): RequestMessage<'subscribe'> {
    return [Ask.subscribe, 0, handle, this.#name, this.#decoding.range, this.#since ?? null]
  }

  read(event: Message): FeedChange<K, V> {
    const [, , code] = readMessage(told.event, event)
    if (code !== EventCode.change) throw protocolError('The server has sent an event of unknown kind')
    const [isPut, sequence, key, value, oldValue, time, batch, isFirst, last] = readEvent(
      events.change,
      event
    )
    const change: FeedChange<K, V> = {
      sequence,
      type: isPut ? 'put' : 'del',
      key: this.#decoding.key(key),
      ...(value !== undefined && { value: this.#decoding.value(value) }),
      ...(oldValue !== undefined && { oldValue: this.#decoding.value(oldValue) }),
      time,
      batch,
      // In a new session, a subscription may resume in the middle of a batch. The server then marks its next change as the first.
      first: isFirst && batch !== this.#batch,
      last
    }
    this.#since = sequence
    this.#batch = batch
    return change
  }
}
