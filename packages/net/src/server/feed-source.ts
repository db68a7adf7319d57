/** The changes of a feed, such as one of terrace-toolbox, read as fast as the client takes them. */

import { netError } from '../protocol/errors.js'
import { EventCode } from '../protocol/messages.js'
import type { WireRange } from '../protocol/parts.js'
import {
  EVENT_BYTES,
  type Event,
  type EventCost,
  type EventSource,
  type Subscription
} from './subscription.js'

/** A change, with its key and values as bytes. */
export interface FeedChange {
  readonly sequence: number
  readonly type: 'put' | 'del'
  readonly key: unknown
  readonly value?: unknown
  readonly oldValue?: unknown
  readonly time: number
  readonly batch: number
  readonly first: boolean
  readonly last: boolean
}

/** Options for reading a feed. */
export interface FeedReading {
  readonly after?: number
  readonly live: boolean
  readonly keyEncoding: 'buffer'
  readonly valueEncoding: 'buffer'
  readonly gte?: Uint8Array
  readonly gt?: Uint8Array
  readonly lte?: Uint8Array
  readonly lt?: Uint8Array
}

/** A stored sequence of changes that can be read from any number on. An open feed of terrace-toolbox is one. */
export interface ServedFeed {
  /** The database or sublevel whose changes it records. */
  readonly db: object
  /** Reads the changes after a number and then, with `live`, waits for new ones. */
  read(options: FeedReading): AsyncGenerator<FeedChange, void, void>
}

/** What a subscription reads from a feed. */
export interface ChangesOptions {
  readonly range: WireRange
  /** The number to begin after; undefined for the oldest change. */
  readonly after: number | undefined
  /** Whether the user may see changes of a key. */
  readonly isAllowed: (key: Uint8Array) => boolean
}

const boundNames = ['gte', 'gt', 'lte', 'lt'] as const

export function changesOf(feed: ServedFeed, { range, after, isAllowed }: ChangesOptions): EventSource {
  const bounds = boundNames.flatMap((name, i) => (range[i] === null ? [] : [[name, range[i]]]))
  const begin = (subscription: Subscription): (() => void) => {
    let reading: AsyncGenerator<FeedChange> | undefined
    const read = (afterThat: number | undefined): AsyncIterable<FeedChange> => {
      reading = feed.read({
        ...(afterThat !== undefined && { after: afterThat }),
        ...Object.fromEntries(bounds),
        live: true,
        keyEncoding: 'buffer',
        valueEncoding: 'buffer'
      })
      return allowed(reading, isAllowed)
    }
    forward(read, after, subscription).catch((error) => subscription.end(error))
    return () => {
      reading?.return(undefined).catch(() => {})
    }
  }
  return { subject: 'feed', begin }
}

/** The sequence and the batch of the last change that was forwarded. */
interface Place {
  after: number | undefined
  batch: number
}

async function forward(
  read: (after: number | undefined) => AsyncIterable<FeedChange>,
  start: number | undefined,
  subscription: Subscription
): Promise<void> {
  const place: Place = { after: start, batch: 0 }
  for (;;) {
    const refused = await forwardSome(read(place.after), subscription, place)
    if (subscription.isOver) return
    if (refused === undefined) break
    await subscription.room(refused)
    if (subscription.isOver) return
  }
  subscription.end(netError('NET_FEED_CLOSED', "The server's feed was closed"))
}

/**
 * Forwards changes as long as there is room to keep them.
 *
 * @returns The cost of a change that found no room: it is dropped, and must be read again. Undefined at the end.
 */
async function forwardSome(
  changes: AsyncIterable<FeedChange>,
  subscription: Subscription,
  place: Place
): Promise<EventCost | undefined> {
  for await (const change of changes) {
    const { batch, sequence } = change
    // A reading that begins in the middle of a batch marks its first change as the first of the batch.
    const event = eventOf({ ...change, first: change.first && batch !== place.batch })
    if (!subscription.push(event)) return { ownBytes: event.ownBytes }
    place.batch = batch
    place.after = sequence
    await subscription.room()
    if (subscription.isOver) return undefined
  }
  return undefined
}

function eventOf({ type, sequence, key, value, oldValue, time, batch, first, last }: FeedChange): Event {
  const pieces = [key, value ?? null, oldValue ?? null] as [Uint8Array, Uint8Array | null, Uint8Array | null]
  return {
    content: [EventCode.change, type === 'put', sequence, ...pieces, time, batch, first, last],
    ownBytes: pieces.reduce((sum, piece) => sum + (piece?.length ?? 0), EVENT_BYTES)
  }
}

/** Omits what the user may not see, and adjusts the marks `first` and `last` to what remains. */
async function* allowed(
  changes: AsyncIterable<FeedChange>,
  isAllowed: (key: Uint8Array) => boolean
): AsyncGenerator<FeedChange> {
  let isFirst = false
  /** Held back until it is known whether this is the last change of its batch. */
  let held: FeedChange | undefined
  for await (const change of changes) {
    isFirst ||= change.first
    if (isAllowed(change.key as Uint8Array)) {
      if (held !== undefined) yield { ...held, last: false }
      held = { ...change, first: isFirst }
      isFirst = false
    }
    if (!change.last) continue
    if (held !== undefined) yield { ...held, last: true }
    held = undefined
    isFirst = false
  }
}
