/** The writes that a server reports. */

import type { ClearedRange, WatchedOperation } from 'terrace-core'
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

/** The writes to a range of keys, as the subject of a subscription. */
export class Writes<K, V> implements Subject<Array<WatchedOperation<K, V>>> {
  readonly isStored = false
  readonly #decoding: Decoding<K, V>

  constructor(decoding: Decoding<K, V>) {
    this.#decoding = decoding
  }

  request(handle: number): RequestMessage<'subscribe'> {
    return [Ask.subscribe, 0, handle, null, this.#decoding.range, null]
  }

  read(event: Message): Array<WatchedOperation<K, V>> {
    const [, , code] = readMessage(told.event, event)
    if (code === EventCode.write) return this.#written(readEvent(events.write, event)[0])
    if (code !== EventCode.clear) throw protocolError('The server has sent an event of unknown kind')
    const [intervals, isPartial] = readEvent(events.clear, event)
    return intervals.map(([start, end]) => this.#cleared(start, end, isPartial))
  }

  #written(operations: ReadonlyArray<Uint8Array | null>): Array<WatchedOperation<K, V>> {
    return Array.from({ length: operations.length / 2 }, (_, i) => {
      const key = this.#decoding.key(operations[2 * i] as Uint8Array)
      const value = operations[2 * i + 1] as Uint8Array | null
      return value === null ? { type: 'del', key } : { type: 'put', key, value: this.#decoding.value(value) }
    })
  }

  #cleared(start: Uint8Array, end: Uint8Array | null, isPartial: boolean): ClearedRange<K> {
    const decoding = this.#decoding
    const first = decoding.localBound(start)
    const gte = first?.length === 0 ? undefined : first
    const lt = decoding.localBound(end)
    return {
      type: 'clear',
      gte,
      lt,
      isPartial,
      includes(key) {
        const bytes = decoding.encodedKey(key)
        return (gte === undefined || compare(bytes, gte) >= 0) && (lt === undefined || compare(bytes, lt) < 0)
      }
    }
  }
}

/** Compares keys: a number below, above or equal to 0. */
function compare(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const difference = (a[i] as number) - (b[i] as number)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}
