/** The requests of clients. Each one checks the user's rights with the guard before it touches the database. */

import type { AbstractSnapshot } from 'abstract-level'
import { concat } from '../protocol/bytes.js'
import { weightOf } from '../protocol/conditions.js'
import { netError, protocolError } from '../protocol/errors.js'
import { type GivenResult, type RequestName, type RequestParts, requests } from '../protocol/messages.js'
import type { WireRange } from '../protocol/parts.js'
import { changesOf } from './feed-source.js'
import { intervalOf } from './key-range.js'
import { prefixWithin } from './place.js'
import { type AnyLevel, GET_KEYS, type ServedCondition } from './served-database.js'
import { pageBytes, ServerCursor } from './server-cursor.js'
import { RESOURCE_BYTES, type Request, type Session, type Work } from './session.js'
import { type EventSource, Subscription } from './subscription.js'
import { writesWithin } from './watching.js'

type Run<Name extends RequestName> = (
  session: Session,
  parts: RequestParts<Name>,
  work: Work
) => GivenResult<Name> | Promise<GivenResult<Name>>

const get: Run<'get'> = ({ guard, host, snapshots }, [key, state]) => {
  guard.check('read', key)
  return host.served.get(key, snapshotOf(snapshots, state))
}

const getEntry: Run<'getEntry'> = ({ guard, host, snapshots }, [key, state]) => {
  guard.check('read', key)
  return host.served.getEntry(key, snapshotOf(snapshots, state))
}

const getMany: Run<'getMany'> = (session, [keys, state], work) => {
  const { guard, host, limits, snapshots } = session
  checkCount(keys.length, limits.batchOperations, 'keys')
  guard.checkAll('read', keys)
  const hold = (bytes: number): void => session.hold(work, bytes)
  return host.served.getMany(keys, snapshotOf(snapshots, state), limits.messageBytes, hold)
}

const has: Run<'has'> = ({ guard, host, snapshots }, [key, state]) => {
  guard.check('read', key)
  return host.served.has(key, snapshotOf(snapshots, state))
}

const hasMany: Run<'hasMany'> = ({ guard, host, limits, snapshots }, [keys, state]) => {
  checkCount(keys.length, limits.batchOperations, 'keys')
  guard.checkAll('read', keys)
  return host.served.hasMany(keys, snapshotOf(snapshots, state))
}

const write: Run<'write'> = ({ guard, host, limits }, [operations, sync]) => {
  checkCount(operations.length / 2, limits.batchOperations, 'operations')
  guard.checkOperations(operations)
  return operations.length === 0 ? undefined : host.served.write(operations, sync)
}

const writeIf: Run<'writeIf'> = ({ guard, host, limits, snapshots }, [conditions, operations, sync]) => {
  const count = operations.length / 2 + weightOf(conditions)
  checkCount(count, limits.batchOperations, 'operations, and conditions, which count as two or four')
  guard.checkConditions(conditions)
  guard.checkOperations(operations)
  const checked = conditions.map((condition): ServedCondition => {
    if (!('range' in condition)) return condition
    const since =
      condition.kind === 'unchanged' ? heldSnapshot(snapshots, condition.snapshot) : condition.version
    return { kind: 'unchanged', interval: intervalOf(condition.range), since }
  })
  return host.served.writeIf(checked, operations, sync)
}

const clear: Run<'clear'> = ({ guard, host, snapshots }, [range, reverse, limit, state]) => {
  guard.checkAny('clear')
  return host.served.clear(guard.clip('clear', range), reverse, limit, snapshotOf(snapshots, state))
}

const snapshot: Run<'snapshot'> = (session, [handle]) => {
  const { budget, guard, host, limits, snapshots } = session
  guard.checkAny('read')
  checkRoom(session, snapshots, handle, limits.snapshots, 'snapshots', RESOURCE_BYTES)
  snapshots.set(handle, host.served.snapshot())
  budget.keep(RESOURCE_BYTES)
}

const closeSnapshot: Run<'closeSnapshot'> = ({ budget, snapshots }, [handle]) => {
  const closing = snapshots.get(handle)
  if (snapshots.delete(handle)) budget.keep(-RESOURCE_BYTES)
  // It ends with the last iterator that reads from it; the answer does not wait for that.
  closing?.close().catch(() => {})
}

const cursor: Run<'cursor'> = (session, [handle, range, reverse, contents, state]) => {
  const { budget, guard, host, limits, cursors, snapshots } = session
  guard.checkAny('read')
  const ownBytes = RESOURCE_BYTES + sizeOf(range)
  checkRoom(session, cursors, handle, limits.iterators, 'iterators', ownBytes)
  const options = {
    parts: contents,
    wanted: intervalOf(range),
    allowed: guard.clip('read', range),
    reverse,
    snapshot: snapshotOf(snapshots, state),
    budget,
    ownBytes
  }
  cursors.set(handle, new ServerCursor(host.served, options))
}

const read: Run<'read'> = (session, [handle, page, size, highWaterMarkBytes], work) => {
  const open = cursorOf(session.cursors, handle)
  session.hold(work, pageBytes(highWaterMarkBytes))
  return open.read(page, size, highWaterMarkBytes)
}

const seek: Run<'seek'> = ({ cursors }, [handle, target]) => cursorOf(cursors, handle).seek(target)

const closeCursor: Run<'closeCursor'> = ({ cursors }, [handle]) => {
  const closing = cursors.get(handle)
  cursors.delete(handle)
  return closing?.close()
}

const call: Run<'call'> = async ({ guard, host, methods, user }, [name, given]) => {
  guard.checkMethod(name)
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined
  if (method === undefined) throw netError('NET_UNKNOWN_METHOD', `The server has no method '${name}'`)
  return host.calls.run(() => method.apply({ user }, given as never[]))
}

const subscribe: Run<'subscribe'> = (session, [handle, feed, range, after]) => {
  const { budget, limits, subscriptions } = session
  if (subscriptions.has(handle)) throw protocolError('A subscription begins twice')
  const source = sourceOf(session, feed, range, after)
  const ownBytes = RESOURCE_BYTES + sizeOf(range)
  checkRoom(session, subscriptions, handle, limits.subscriptions, 'subscriptions', ownBytes)
  const maxKeptBytes = limits.unsentEventBytes
  const subscription = new Subscription(handle, source, session, { maxKeptBytes, budget, ownBytes })
  subscription.begin()
  subscriptions.set(handle, subscription)
}

const unsubscribe: Run<'unsubscribe'> = ({ subscriptions }, [handle]) => {
  subscriptions.get(handle)?.close()
  subscriptions.delete(handle)
}

interface Handler<Name extends RequestName> {
  readonly run: Run<Name>
  /** How many values the database reads for it at once. */
  readonly values?: number
  /** Whether it reads no values if the database supports `has()`. */
  readonly isOfKeys?: true
}

const byName: { readonly [Name in RequestName]: Handler<Name> } = {
  get: { run: get, values: 1 },
  getEntry: { run: getEntry, values: 1 },
  getMany: { run: getMany, values: GET_KEYS },
  has: { run: has, values: 1, isOfKeys: true },
  hasMany: { run: hasMany, values: GET_KEYS, isOfKeys: true },
  write: { run: write },
  writeIf: { run: writeIf },
  clear: { run: clear },
  snapshot: { run: snapshot },
  closeSnapshot: { run: closeSnapshot },
  cursor: { run: cursor },
  read: { run: read, values: 1 },
  seek: { run: seek },
  closeCursor: { run: closeCursor },
  call: { run: call },
  subscribe: { run: subscribe },
  unsubscribe: { run: unsubscribe }
}

/** The handler of each kind of request. */
export const handlers: ReadonlyMap<number, Request> = new Map(
  Object.entries(requests).map(([name, form]) => {
    const { run, values = 0, isOfKeys = false } = byName[name as RequestName]
    return [form.kind, { name, form, run, values, isOfKeys }]
  })
)

/** The snapshot that a request names. */
function snapshotOf(
  snapshots: Session['snapshots'],
  handle: number | undefined
): AbstractSnapshot | undefined {
  return handle === undefined ? undefined : heldSnapshot(snapshots, handle)
}

function heldSnapshot(snapshots: Session['snapshots'], handle: number): AbstractSnapshot {
  const found = snapshots.get(handle)
  if (found === undefined)
    throw netError('NET_SESSION_LOST', 'The server does not have this snapshot: make a new one')
  return found
}

function cursorOf(cursors: Session['cursors'], handle: number): ServerCursor {
  const found = cursors.get(handle)
  if (found === undefined)
    throw netError('NET_SESSION_LOST', 'The server does not have this iterator: make a new one')
  return found
}

/** The source of a subscription's events: the writes to the database, or the feed that the request names. */
function sourceOf(
  { guard, host }: Session,
  name: string | undefined,
  range: WireRange,
  after: number | undefined
): EventSource {
  if (name === undefined) {
    guard.checkAny('watch')
    return writesWithin(host.writes, guard.clip('watch', range))
  }

  guard.checkFeed(name)
  const feed = Object.hasOwn(host.feeds, name) ? host.feeds[name] : undefined
  if (feed === undefined) throw netError('NET_UNKNOWN_FEED', `The server has no feed '${name}'`)
  const prefix = prefixWithin(host.served.db, feed.db as AnyLevel)
  if (prefix === undefined && !guard.allowsAll('watch')) {
    throw netError('NET_DENIED', `The feed '${name}' covers keys that this user may not watch`)
  }
  const isAllowed = (key: Uint8Array): boolean =>
    guard.allowsAll('watch') || guard.allows('watch', concat([prefix as Uint8Array, key]))
  return changesOf(feed, { range, after, isAllowed })
}

/** Checks that a client has room for another resource, and that the resource's number is not in use. */
function checkRoom(
  { budget }: Session,
  open: ReadonlyMap<number, unknown>,
  handle: number,
  limit: number,
  what: string,
  bytes: number
): void {
  if (open.has(handle)) throw protocolError(`A number is used for two ${what}`)
  if (open.size >= limit) throw netError('NET_LIMIT', `A client may have at most ${limit} ${what} open`)
  if (!budget.hasRoomToKeep(bytes)) {
    throw netError('NET_LIMIT', `The server has no room for more ${what} of this client: close some, or wait`)
  }
}

/** How much memory the bounds of a range take. They may be as large as a message. */
function sizeOf(range: WireRange): number {
  return range.reduce((sum, bound) => sum + (bound?.length ?? 0), 0)
}

function checkCount(count: number, limit: number, what: string): void {
  if (count > limit) throw netError('NET_LIMIT', `A request may have at most ${limit} ${what}`)
}
