// Conversations of the package's client and server in which every kind of message occurs, as the frames that travel.
//
//   node test/support/conversations.js > test/conversations.txt     records them, for another version of the protocol

import { fileURLToPath } from 'node:url'
import { MemoryLevel } from 'terrace'
import { NetLevel } from 'terrace-net'
import { turns, until } from '../../../../tests/support/waiting.mjs'
import { FrameReader } from '../../dist/protocol/frame.js'
import { rawClient } from './raw-client.js'
import { relay } from './relay.js'
import { serve } from './served.js'

const buffers = { keyEncoding: 'buffer', valueEncoding: 'buffer' }

/** A feed with two changes, which is closed after them. */
function twoChanges(db) {
  const [key, value, oldValue] = ['k', 'new', 'old'].map((text) => Buffer.from(text))
  const put = { sequence: 7, type: 'put', key, value, oldValue, time: 1_700_000_000_000, batch: 7 }
  const del = { sequence: 8, type: 'del', key, time: 1_700_000_000_000, batch: 7 }
  return {
    db,
    async *read() {
      yield { ...put, first: true, last: false }
      yield { ...del, first: false, last: true }
    }
  }
}

/** A database with entries of two versions, which it makes up. */
function withVersions(db) {
  db.supports = { ...db.supports, versions: true }
  db.getEntry = async (key) => {
    const value = await db.get(key, buffers)
    return value && { value, version: 2 ** 40 }
  }
  return db
}

/** The frames of a stream. */
export function framesIn(stream) {
  const frames = []
  for (let at = 0; at < stream.length; ) {
    const end = at + 4 + stream.readUInt32LE(at)
    frames.push(stream.subarray(at, end))
    at = end
  }
  return frames
}

/** The messages in frames. */
export function messagesIn(frames) {
  const reader = new FrameReader(1 << 30)
  for (const frame of frames) reader.push(Buffer.from(frame))
  const messages = []
  for (let message = reader.next(); message !== undefined; message = reader.next()) messages.push(message)
  return messages
}

/** Both directions of a conversation as hexadecimal text, by name. */
export async function conversations() {
  return {
    ...(await session()),
    ...(await refusal()),
    ...(await byHand())
  }
}

/** A session that uses everything, over two connections. */
async function session() {
  const db = withVersions(new MemoryLevel(buffers))
  await db.open()
  const host = await serve({
    db,
    feeds: { two: twoChanges(db) },
    methods: { echo: (...given) => given, fail: () => Promise.reject(new Error('no')) }
  })
  const [sent, told] = [[], []]
  const between = await relay(
    host.address,
    (bytes) => sent.push(bytes),
    (bytes) => told.push(bytes)
  )
  const client = new NetLevel(between.address)
  const quiet = async () => {
    const isQuiet = () => {
      const asked = messagesIn(framesIn(Buffer.concat(sent))).filter(([kind]) => kind < 32)
      const answered = messagesIn(framesIn(Buffer.concat(told))).filter(
        ([kind]) => kind === 64 || kind === 65
      )
      return asked.length === answered.length
    }
    await turns(3)
    await until(isQuiet)
  }
  for (const step of steps(client)) {
    await step()
    await quiet()
  }
  between.cut()
  await until(() => !client.isOnline)
  await client.get('after the loss')
  await quiet()
  await client.close()
  await until(() => host.server.statistics().open.connections === 0)
  await between.stop()
  await host.stop()
  return { 'session, client': textOf(sent, told), 'session, server': textOf(told) }
}

function steps(db) {
  return [
    () => db.open(),
    () => db.put('a', '1'),
    () =>
      db.batch([
        { type: 'put', key: 'b', value: `ü${'u'.repeat(300)}` },
        { type: 'del', key: 'nothing' },
        { type: 'put', key: Buffer.from([0xff, 0]), value: Buffer.from([0]), ...buffers }
      ]),
    () => db.put('large', 'v'.repeat(70_000), { sync: true }),
    () => db.get('a'),
    () => db.get('absent'),
    () => db.getMany(['a', 'absent', 'large']),
    () => db.has('a'),
    () => db.hasMany(['a', 'absent']),
    () => inSnapshot(db),
    () => reading(db),
    () => db.values({ lt: 'c', limit: 2 }).all(),
    () => db.call('echo', null, true, -1, 1.5, 'text', Buffer.from('bytes'), [1, [2]], { a: 1 }),
    () => db.call('fail').catch(() => {}),
    () => watching(db),
    () => following(db),
    () => db.clear({ gt: 'a', lte: 'large', reverse: true, limit: 1 }),
    () => db.put('c', '1', { if: [{ key: 'c', exists: false }] }),
    () => conflicting(db),
    () => db.getEntry('a'),
    () => db.getEntry('absent'),
    () => versioned(db)
  ]
}

async function conflicting(db) {
  const snapshot = db.snapshot()
  const conditions = [
    { key: 'a', exists: true },
    { key: 'a', value: '2' },
    { gt: 'a', lte: 'c', unchangedSince: snapshot },
    { key: 'c', exists: false }
  ]
  await db.batch([{ type: 'del', key: 'c' }], { if: conditions }).catch(() => {})
  await snapshot.close()
}

async function versioned(db) {
  const conditions = [
    { key: 'a', version: 2 ** 40 },
    { lt: 'c', unchangedSince: 7 }
  ]
  await db.batch([], { if: conditions }).catch(() => {})
}

async function inSnapshot(db) {
  const snapshot = db.snapshot()
  await db.get('a', { snapshot })
  await db.hasMany(['a'], { snapshot })
  await db.iterator({ snapshot, gte: 'a' }).nextv(1)
  await db.clear({ lt: 'A', snapshot })
  await snapshot.close()
}

async function reading(db) {
  const iterator = db.keys({ reverse: true, highWaterMarkBytes: 2 })
  await iterator.nextv(2)
  iterator.seek('b')
  await iterator.nextv(1)
  await iterator.close()
}

async function watching(db) {
  const writes = db.watch({ lt: 'x' })
  const first = writes.next()
  await db.batch([
    { type: 'put', key: 'w', value: 'watched' },
    { type: 'del', key: 'w' }
  ])
  await first
  await db.clear({ gte: 'w' })
  await writes.next()
  await writes.return()
}

async function following(db) {
  const changes = db.changes('two', { since: 6, gte: 'a' })
  await changes.next()
  await changes.next()
  await changes.next().catch(() => {})
}

/** A client whose token the server does not know. */
async function refusal() {
  const host = await serve({ tokens: { secret: { name: 'ada' } } })
  const [sent, told] = [[], []]
  const between = await relay(
    host.address,
    (bytes) => sent.push(bytes),
    (bytes) => told.push(bytes)
  )
  const client = new NetLevel(between.address, { token: 'wrong' })
  await client.open().catch(() => {})
  await client.close()
  await between.stop()
  await host.stop()
  return { 'refusal, client': textOf(sent, told), 'refusal, server': textOf(told) }
}

/** Signs of life, and a server that closes. */
async function byHand() {
  const host = await serve({ tokens: { secret: { name: 'ada', permissions: { keys: [] } } } })
  const client = await rawClient(host.address)
  const told = []
  client.socket.on('data', (bytes) => told.push(bytes))
  client.write(Buffer.from('0c000000009420 01a6736563726574c0'.replaceAll(' ', ''), 'hex'))
  await client.next(([kind]) => kind === 96)
  for (const request of ['0300000000917e', '0800000000940107c40161c0']) {
    client.write(Buffer.from(request, 'hex'))
    await client.next(([kind]) => kind === 127 || kind === 65)
  }
  const stopped = host.stop()
  await client.next(([kind]) => kind === 98)
  await client.close()
  await stopped
  return { 'by hand, server': textOf(told) }
}

/**
 * Frames as lines: hexadecimal, where `07*16` is the byte 07 sixteen times. What a session is known by is left out, because it is
 * random.
 */
function textOf(sent, told = sent) {
  const ticket = messagesIn(framesIn(Buffer.concat(told))).find(([kind]) => kind === 96)?.[1]
  return framesIn(Buffer.concat(sent)).map((frame) => {
    const at = ticket === undefined ? -1 : frame.indexOf(ticket)
    if (at >= 0) frame.fill(0, at, at + ticket.length)
    const runs = []
    for (let start = 0, end; start < frame.length; start = end) {
      end = start + frame.subarray(start).findIndex((byte) => byte !== frame[start])
      if (end < start) end = frame.length
      const byte = frame.toString('hex', start, start + 1)
      runs.push(end - start < 8 ? byte.repeat(end - start) : ` ${byte}*${end - start} `)
    }
    return runs.join('').trim()
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, frames] of Object.entries(await conversations())) {
    console.log(`# ${name}\n${frames.join('\n')}`)
  }
}
