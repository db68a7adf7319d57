/** The changes of a feed, such as those of terrace-toolbox, read from it as fast as the client takes them. */

import { netError } from '../protocol/errors.js'
import { EventCode, type WireRange } from '../protocol/messages.js'
import { EVENT_BYTES, type EventSource, type Subscription } from './subscription.js'

/** A change, with bytes as key and values. */
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

/** What a feed is asked for. */
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
  /** The database or sublevel whose changes it has. */
  readonly db: object
  /** Reads the changes after a number, then, with `live`, waits for new ones. */
  read(options: FeedReading): AsyncGenerator<FeedChange, void, void>
}

/** What to read from a feed. */
export interface ChangesOptions {
  readonly range: WireRange
  /** The number to begin after; undefined for the oldest change. */
  readonly after: number | undefined
  /** Whether the user may hear of a key. */
  readonly isAllowed: (key: Uint8Array) => boolean
}

const boundNames = ['gte', 'gt', 'lte', 'lt'] as const

export function changesOf(feed: ServedFeed, { range, after, isAllowed }: ChangesOptions): EventSource {
  const bounds = boundNames.flatMap((name, i) => (range[i] === null ? [] : [[name, range[i]]]))
  const begin = (subscription: Subscription): (() => void) => {
    const changes = feed.read({
      ...(after !== undefined && { after }),
      ...Object.fromEntries(bounds),
      live: true,
      keyEncoding: 'buffer',
      valueEncoding: 'buffer'
    })
    forward(allowed(changes, isAllowed), subscription).catch((error) => subscription.end(error))
    return () => {
      changes.return().catch(() => {})
    }
  }
  return { subject: 'feed', begin }
}

async function forward(changes: AsyncIterable<FeedChange>, subscription: Subscription): Promise<void> {
  for await (const { type, sequence, key, value, oldValue, time, batch, first, last } of changes) {
    const parts = [key, value ?? null, oldValue ?? null] as Array<Uint8Array | null>
    const bytes = parts.reduce((sum, part) => sum + (part?.length ?? 0), EVENT_BYTES)
    subscription.push(bytes, EventCode.change, type === 'put', sequence, ...parts, time, batch, first, last)
    await subscription.room()
    if (subscription.isOver) return
  }
  subscription.end(netError('NET_FEED_CLOSED', "The server's feed was closed"))
}

/** Leaves out what the user may not hear of. The marks `first` and `last` are those of what remains. */
async function* allowed(
  changes: AsyncIterable<FeedChange>,
  isAllowed: (key: Uint8Array) => boolean
): AsyncGenerator<FeedChange> {
  let isFirst = false
  /** Held back until it is known whether it is the last one of its batch. */
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
