/** Begins subscriptions of a database, which end when it is closed. */

import type { Encodings, EventIterator, WatchedWrites, WatchOptions } from 'terrace-core'
import { netError } from '../protocol/errors.js'
import { Decoding } from './decoding.js'
import { type Publisher, type Subject, Subscription } from './subscription.js'
import { Writes } from './writes.js'

/** The members of a database that subscriptions use. */
export interface Subscriber {
  readonly status: string
  open(options: object): Promise<void>
  defer(work: () => void): void
  attachResource(resource: never): void
  detachResource(resource: never): void
}

/** Subscribes to something. The consumer gets what happens from now on. */
export function subscribe<Item>(
  db: Subscriber,
  find: () => Publisher,
  subject: Subject<Item>,
  signal: AbortSignal | undefined
): EventIterator<Item> {
  const onEnd = (ended: Subscription<unknown>): void => db.detachResource(ended as never)
  const subscription = new Subscription(find, subject, { signal, onEnd })
  if (signal?.aborted) return subscription
  db.attachResource(subscription as never)
  // In its place among the writes that wait for the database to be opened.
  if (db.status === 'opening') db.defer(() => subscription.begin())
  else if (db.status === 'open') subscription.begin()
  if (db.status !== 'open') {
    db.open({ passive: true }).catch((error) => subscription.fail(error))
  }
  return subscription
}

/**
 * Subscribes to the writes to a database or to a sublevel of it.
 *
 * @throws NET_INVALID if the sublevel is not one of this database.
 */
export function watch<K, V>(
  db: Subscriber,
  find: () => Publisher,
  options: WatchOptions<K, V>
): WatchedWrites<K, V> {
  const { sublevel = db as unknown as Encodings<K, V>, signal } = options
  const decoding = new Decoding<K, V>(sublevel, prefixIn(db, sublevel), options)
  return subscribe(db, find, new Writes(decoding), signal)
}

/** What the keys of a database or of a sublevel of it begin with. */
function prefixIn(db: object, sublevel: object): string {
  for (let at: object | null | undefined = sublevel; at != null; at = (at as { parent?: object }).parent) {
    if (at === db) return (sublevel as { prefix?: string }).prefix ?? ''
  }
  throw netError('NET_INVALID', "The option 'sublevel' must be a sublevel of this database")
}
