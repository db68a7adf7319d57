/** What clients can ask for. Each request asks the guard for the user's rights before it touches the database. */

import type { AbstractSnapshot } from 'abstract-level'
import type { CursorParts } from 'terrace-core'
import { concat } from '../protocol/bytes.js'
import { netError, protocolError } from '../protocol/errors.js'
import { Ask, type PartReader, partsCodes, type WireRange } from '../protocol/messages.js'
import { changesOf } from './feed-source.js'
import { intervalOf } from './key-range.js'
import { prefixWithin } from './place.js'
import { type AnyLevel, GET_KEYS } from './served-database.js'
import { pageBytes, ServerCursor } from './server-cursor.js'
import { RESOURCE_BYTES, type Request, type Session } from './session.js'
import { type EventSource, Subscription } from './subscription.js'
import { writesWithin } from './watching.js'

type Run = Request['run']

const get: Run = ({ guard, host, snapshots }, parts) => {
  const key = parts.bytes('key')
  guard.check('read', key)
  return host.served.get(key, snapshotIn(snapshots, parts))
}

const getMany: Run = (session, parts, work) => {
  const { guard, host, limits, snapshots } = session
  const keys = parts.keys('keys')
  checkCount(keys.length, limits.batchOperations, 'keys')
  guard.checkAll('read', keys)
  const hold = (bytes: number): void => session.hold(work, bytes)
  return host.served.getMany(keys, snapshotIn(snapshots, parts), limits.messageBytes, hold)
}

const has: Run = ({ guard, host, snapshots }, parts) => {
  const key = parts.bytes('key')
  guard.check('read', key)
  return host.served.has(key, snapshotIn(snapshots, parts))
}

const hasMany: Run = ({ guard, host, limits, snapshots }, parts) => {
  const keys = parts.keys('keys')
  checkCount(keys.length, limits.batchOperations, 'keys')
  guard.checkAll('read', keys)
  return host.served.hasMany(keys, snapshotIn(snapshots, parts))
}

const write: Run = ({ guard, host, limits }, parts) => {
  const operations = parts.operations('operations')
  const sync = parts.boolean('sync')
  checkCount(operations.length / 2, limits.batchOperations, 'operations')
  guard.checkOperations(operations)
  return operations.length === 0 ? undefined : host.served.write(operations, sync)
}

const clear: Run = ({ guard, host, snapshots }, parts) => {
  const range = parts.range('range')
  const reverse = parts.boolean('reverse')
  const limit = parts.optionalNumber('limit')
  guard.checkAny('clear')
  return host.served.clear(guard.clip('clear', range), reverse, limit, snapshotIn(snapshots, parts))
}

const snapshot: Run = (session, parts) => {
  const { budget, guard, host, limits, snapshots } = session
  const handle = parts.number('handle')
  guard.checkAny('read')
  checkRoom(session, snapshots, handle, limits.snapshots, 'snapshots', RESOURCE_BYTES)
  snapshots.set(handle, host.served.snapshot())
  budget.keep(RESOURCE_BYTES)
}

const closeSnapshot: Run = ({ budget, snapshots }, parts) => {
  const handle = parts.number('handle')
  const closing = snapshots.get(handle)
  if (snapshots.delete(handle)) budget.keep(-RESOURCE_BYTES)
  // It ends with the last iterator that reads from it. Nobody waits for that.
  closing?.close().catch(() => {})
}

const cursor: Run = (session, parts) => {
  const { budget, guard, host, limits, cursors, snapshots } = session
  const handle = parts.number('handle')
  const range = parts.range('range')
  const reverse = parts.boolean('reverse')
  const what = partsByCode.get(parts.number('parts'))
  if (what === undefined) throw protocolError('A cursor over unknown parts')
  guard.checkAny('read')
  const ownBytes = RESOURCE_BYTES + sizeOf(range)
  checkRoom(session, cursors, handle, limits.iterators, 'iterators', ownBytes)
  const options = {
    parts: what,
    wanted: intervalOf(range),
    allowed: guard.clip('read', range),
    reverse,
    snapshot: snapshotIn(snapshots, parts),
    budget,
    ownBytes
  }
  cursors.set(handle, new ServerCursor(host.served, options))
}

const read: Run = (session, parts, work) => {
  const open = cursorIn(session.cursors, parts)
  const page = parts.number('page')
  const size = parts.number('size')
  const highWaterMarkBytes = parts.number('high-water mark')
  session.hold(work, pageBytes(highWaterMarkBytes))
  return open.read(page, size, highWaterMarkBytes)
}

const seek: Run = ({ cursors }, parts) => {
  const open = cursorIn(cursors, parts)
  return open.seek(parts.bytes('target'))
}

const closeCursor: Run = ({ cursors }, parts) => {
  const handle = parts.number('handle')
  const closing = cursors.get(handle)
  cursors.delete(handle)
  return closing?.close()
}

const call: Run = async ({ guard, host, methods, user }, parts) => {
  const name = parts.string('name')
  const given = parts.list('arguments')
  guard.checkMethod(name)
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined
  if (method === undefined) throw netError('NET_UNKNOWN_METHOD', `The server has no method '${name}'`)
  return host.calls.run(() => method.apply({ user }, given as never[]))
}

const subscribe: Run = (session, parts) => {
  const { budget, limits, subscriptions } = session
  const handle = parts.number('handle')
  if (subscriptions.has(handle)) throw protocolError('A subscription begins twice')
  const [source, range] = sourceIn(session, parts)
  const ownBytes = RESOURCE_BYTES + sizeOf(range)
  checkRoom(session, subscriptions, handle, limits.subscriptions, 'subscriptions', ownBytes)
  const maxKeptBytes = limits.unsentEventBytes
  const subscription = new Subscription(handle, source, session, { maxKeptBytes, budget, ownBytes })
  subscription.begin()
  subscriptions.set(handle, subscription)
}

const unsubscribe: Run = ({ subscriptions }, parts) => {
  const handle = parts.number('handle')
  subscriptions.get(handle)?.close()
  subscriptions.delete(handle)
}

/** The requests by their kinds. */
export const requests: ReadonlyMap<number, Request> = new Map([
  [Ask.get, request('get', get, true, 1)],
  [Ask.getMany, request('getMany', getMany, true, GET_KEYS)],
  [Ask.has, request('has', has, true, 1, true)],
  [Ask.hasMany, request('hasMany', hasMany, true, GET_KEYS, true)],
  [Ask.write, request('write', write)],
  [Ask.clear, request('clear', clear)],
  [Ask.snapshot, request('snapshot', snapshot)],
  [Ask.closeSnapshot, request('closeSnapshot', closeSnapshot)],
  [Ask.cursor, request('cursor', cursor)],
  // A cursor keeps its last page itself.
  [Ask.read, request('read', read, true, 1)],
  [Ask.seek, request('seek', seek)],
  [Ask.closeCursor, request('closeCursor', closeCursor)],
  [Ask.call, request('call', call)],
  [Ask.subscribe, request('subscribe', subscribe)],
  [Ask.unsubscribe, request('unsubscribe', unsubscribe)]
] as Array<[number, Request]>)

const partsByCode = new Map(Object.entries(partsCodes).map(([parts, code]) => [code, parts as CursorParts]))

function request(name: string, run: Run, isRepeatable = false, values = 0, isOfKeys = false): Request {
  return { name, run, isRepeatable, values, isOfKeys }
}

/** The snapshot that a request names as its last part. */
function snapshotIn(snapshots: Session['snapshots'], parts: PartReader): AbstractSnapshot | undefined {
  const handle = parts.optionalNumber('snapshot')
  if (handle === undefined) return undefined
  const found = snapshots.get(handle)
  if (found === undefined) throw netError('NET_SESSION_LOST', 'The server does not know this snapshot')
  return found
}

function cursorIn(cursors: Session['cursors'], parts: PartReader): ServerCursor {
  const found = cursors.get(parts.number('handle'))
  if (found === undefined) throw netError('NET_SESSION_LOST', 'The server does not know this iterator')
  return found
}

/** Where the events of a subscription come from: the writes to the database, or a feed that the request names; and their range. */
function sourceIn({ guard, host }: Session, parts: PartReader): [EventSource, WireRange] {
  const name = parts.optionalString('feed')
  const range = parts.range('range')
  const after = parts.optionalNumber('after')
  if (name === undefined) {
    guard.checkAny('watch')
    return [writesWithin(host.writes, guard.clip('watch', range)), range]
  }

  guard.checkFeed(name)
  const feed = Object.hasOwn(host.feeds, name) ? host.feeds[name] : undefined
  if (feed === undefined) throw netError('NET_UNKNOWN_FEED', `The server has no feed '${name}'`)
  const prefix = prefixWithin(host.served.db, feed.db as AnyLevel)
  if (prefix === undefined && !guard.allowsAll('watch')) {
    throw netError(
      'NET_DENIED',
      `The feed '${name}' has keys that only users who may watch all keys may hear of`
    )
  }
  const isAllowed = (key: Uint8Array): boolean =>
    guard.allowsAll('watch') || guard.allows('watch', concat([prefix as Uint8Array, key]))
  return [changesOf(feed, { range, after, isAllowed }), range]
}

/** Checks that a client has room for another resource, under a number that it does not use. */
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

/** What the bounds of a range have in memory. They may be as large as a message. */
function sizeOf(range: WireRange): number {
  return range.reduce((sum, bound) => sum + (bound?.length ?? 0), 0)
}

function checkCount(count: number, limit: number, what: string): void {
  if (count > limit) throw netError('NET_LIMIT', `A request may have at most ${limit} ${what}`)
}
