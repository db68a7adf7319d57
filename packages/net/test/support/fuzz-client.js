// A hostile server against a client: each of the client's calls ends, whatever the server sends, and nothing else throws.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { NetLevel } from 'terrace-net'
import { HANG_MS, until } from '../../../../tests/support/waiting.mjs'
import { FrameReader, packFrame } from '../../dist/protocol/frame.js'
import { Ask, Both, Tell } from '../../dist/protocol/messages.js'
import { hostileFrame } from './fuzz-frames.js'
import { answerTo, anyPart, mutatedFrame, serverMessage } from './fuzz-messages.js'
import { seed } from './random.js'
import { addresses } from './served.js'

const welcome = {
  server: 'terrace-net',
  user: null,
  manifest: { conditionalWrites: true, versions: true },
  maxMessageBytes: 1 << 20,
  maxBatchOperations: 1000
}

/** Runs `count` clients against a hostile server. Returns how many of their calls succeeded and failed. */
export async function fuzzClient(random, count) {
  const outcomes = { fulfilled: 0, rejected: 0 }
  const address = addresses.unix()
  const server = createServer((socket) => serveWrongly(random, socket))
  server.listen(address.slice('unix:'.length))
  await once(server, 'listening')
  try {
    for (let round = 0; round < count; round++) {
      const client = new NetLevel(address, { connectTimeoutMs: 200, offlineTimeoutMs: 30 })
      const running = new Set()
      const calls = callsOf(random, client, running)
      await Promise.race([Promise.allSettled(calls), sleep(random.below(30))])
      const late = AbortSignal.timeout(HANG_MS)
      running.add('close()')
      const closed = client.close().then(
        () => running.delete('close()'),
        () => running.delete('close()')
      )
      const ended = Promise.all([closed, Promise.allSettled(calls)])
      const [, settled] = await Promise.race([ended, once(late, 'abort').then(() => [])])
      assert.ok(settled, `seed ${seed}, round ${round}: after close() these go on: ${[...running].join()}`)
      for (const { status } of settled) outcomes[status]++
    }
  } finally {
    server.close()
  }
  const left = () => new Promise((resolve) => server.getConnections((_, open) => resolve(open)))
  await until(async () => (await left()) === 0, 'closed clients to end their connections')
  assert.equal(Object.prototype.polluted, undefined)
  return outcomes
}

/** Starts calls of all kinds. Unfinished ones are in `running`. */
function callsOf(random, db, running) {
  const snapshot = async () => {
    await db.open()
    const state = db.snapshot()
    try {
      return await db.get('a', { snapshot: state })
    } finally {
      await state.close()
    }
  }
  const seek = async () => {
    await db.open()
    const iterator = db.iterator()
    iterator.seek('b')
    await iterator.next()
    await iterator.close()
  }
  const first = async (iterator) => {
    for await (const _ of iterator) return
  }
  const kinds = [
    () => db.get('a'),
    () => db.getEntry('a'),
    () => db.getMany(['a', 'b']),
    () => db.has('a'),
    () => db.hasMany(['a', 'b']),
    () => db.put('a', '1'),
    () => db.batch([{ type: 'del', key: 'a' }]),
    () =>
      db.put('a', '1', {
        if: [
          { key: 'a', exists: false },
          { key: 'b', value: '2' }
        ]
      }),
    () => db.clear({ gt: 'a', limit: 1 }),
    () => db.iterator().nextv(10),
    () => db.keys({ reverse: true }).nextv(10),
    () => db.values().nextv(10),
    () => db.call('echo', 1, { a: 1 }),
    () => first(db.watch()),
    () => first(db.changes('changes')),
    snapshot,
    seek
  ]
  return Array.from({ length: 12 }, async (_, i) => {
    const call = random.pick(kinds)
    const name = `${i}: ${call}`
    running.add(name)
    try {
      return await call()
    } finally {
      running.delete(name)
    }
  })
}

/** Answers as a server would, or almost. */
function serveWrongly(random, socket) {
  const reader = new FrameReader(1 << 24)
  /** The share of its messages that are wrong, in percent. */
  const percent = random.pick([0, 2, 10, 30])
  const send = (message) => {
    if (socket.destroyed) return
    const isWrong = random.below(100) < percent
    const frame = !isWrong
      ? packFrame(message)
      : random.below(8) === 0
        ? hostileFrame(random)
        : mutatedFrame(random, message)
    socket.write(frame)
  }
  socket.on('error', () => {})
  socket.on('data', (bytes) => {
    reader.push(bytes)
    for (let message = reader.next(); message !== undefined; message = reader.next()) {
      if (message[0] === Ask.hello) send([Tell.welcome, random.bytes(16), random.below(4) === 0, welcome])
      else if (message[0] === Both.ping) send([Both.pong])
      else if (message[0] < Ask.hello && random.below(10) > 0) send(answerTo(random, message))
      if (random.below(4) === 0) send(serverMessage(random))
      if (random.below(60) === 0) socket.write(packFrame([anyPart(random, 1), anyPart(random, 3)]))
      if (random.below(40) === 0) socket.destroy()
    }
  })
}
