// A server that closes: what it has acknowledged is stored, what it has begun is answered, and clients hear the truth about the rest.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createSocketServer } from 'node:net'
import { test } from 'node:test'
import { MemoryLevel } from 'memory-level'
import { NetLevel } from 'terrace-net'
import { createServer } from 'terrace-net/server'
import { holdClock } from '../../../tests/support/clock.mjs'
import { turns, until } from '../../../tests/support/waiting.mjs'
import { packFrame } from '../dist/protocol/frame.js'
import { Ask, Tell } from '../dist/protocol/messages.js'
import { startProxy } from './support/proxy.js'
import { greetedClient } from './support/raw-client.js'
import { addresses, serve } from './support/served.js'

const bytes = (text) => Buffer.from(text)

test('what was acknowledged is stored, and nothing else, when a server closes amid writes', async () => {
  const host = await serve()
  const proxy = await startProxy(host.address)
  const client = new NetLevel(proxy.address, { offlineTimeoutMs: 100 })
  await client.open()
  const outcomes = new Map()
  const write = async (i) => {
    const key = `k${i}`
    await client.put(key, 'v').then(
      () => outcomes.set(key, 'stored'),
      ({ code }) => outcomes.set(key, code)
    )
  }
  const writes = []
  let isClosed = false
  for (let i = 0; !isClosed || i % 10 !== 0; i++) {
    writes.push(write(i))
    if (i % 10 === 0) await turns(10)
    if (i === 100) {
      host.server.close().then(() => {
        isClosed = true
      })
    }
  }
  await Promise.all(writes)
  for (const [key, outcome] of outcomes) {
    const isStored = (await host.db.get(bytes(key))) !== undefined
    if (outcome === 'stored') assert.ok(isStored, `${key} was acknowledged`)
    else if (outcome !== 'NET_WRITE_UNKNOWN') {
      assert.ok(['NET_CLOSING', 'NET_OFFLINE'].includes(outcome), outcome)
      assert.ok(!isStored, `${key} has failed with ${outcome}`)
    }
  }
  assert.equal(outcomes.get('k0'), 'stored')
  await client.close()
  await proxy.close()
  await host.stop()
})

test('requests that run are answered, new ones are refused, and closing twice is closing once', async (t) => {
  const clock = holdClock(t)
  let finish
  const host = await serve({
    methods: {
      slow: () =>
        new Promise((resolve) => {
          finish = resolve
        })
    }
  })
  t.after(() => host.stop())
  const client = await greetedClient(host.address)
  const slow = client.askAs(1, Ask.call, 'slow', [])
  await client.askAs(2, Ask.get, bytes('a'), null)
  const closing = Promise.all([host.server.close(), host.server.close()])
  assert.equal((await client.askAs(3, Ask.write, [bytes('a'), bytes('1')], false))[2], 'NET_CLOSING')
  assert.equal(await host.db.get(bytes('a')), undefined)
  finish('done')
  assert.deepEqual(await slow, [Tell.result, 1, 'done'])
  assert.deepEqual(await client.next(), [Tell.closing])
  await clock.pass(Promise.all([client.closed, closing]))
})

test('a method that never returns does not keep a server from closing, and its caller hears that', async (t) => {
  const host = await serve({ methods: { hang: () => new Promise(() => {}) }, limits: { closeMs: 20 } })
  t.after(() => host.stop())
  const client = host.connect()
  const other = host.connect()
  const hanging = [client.call('hang'), client.call('hang'), other.call('hang')]
  const outcomes = Promise.allSettled(hanging)
  const stored = client.put('a', '1')
  await Promise.all([client.get('a'), other.get('a')])
  await host.server.close()
  for (const { reason } of await outcomes) {
    assert.equal(reason.code, 'NET_WRITE_UNKNOWN')
    assert.match(reason.message, /server was closed while it ran this method/)
  }
  await stored
  assert.equal(String(await host.db.get(bytes('a'))), '1')
})

test('a server that closes waits for a method that returns in time', async (t) => {
  const clock = holdClock(t)
  let finish
  const slow = async (key) => {
    await new Promise((resolve) => {
      finish = resolve
    })
    await host.db.put(bytes(key), bytes('2'))
    return 'done'
  }
  const host = await serve({ methods: { slow }, limits: { closeMs: Number.POSITIVE_INFINITY } })
  t.after(() => host.stop())
  const client = host.connect()
  const called = client.call('slow', 'b')
  await client.get('b')
  const closing = host.server.close()
  // Longer than it waits for its clients to end their connections, and to read.
  for (const ms of [0, 1500, 5500]) {
    clock.advance(ms)
    await turns(20)
  }
  finish()
  await clock.pass(closing)
  assert.equal(await called, 'done')
  assert.equal(String(await host.db.get(bytes('b'))), '2')
})

test('a method that never returns does not keep a client from closing', async (t) => {
  const host = await serve({ methods: { hang: () => new Promise(() => {}) }, limits: { closeMs: 20 } })
  t.after(() => host.stop())
  const client = host.connect({ offlineTimeoutMs: 50 })
  const called = assert.rejects(client.call('hang'), { code: 'NET_WRITE_UNKNOWN' })
  await client.put('a', '1')
  await client.close()
  await called
  // It was the call that was given up, not the client.
  await client.open()
  assert.equal(await client.get('a'), '1')
})

test('a server that never ends its side of a connection does not keep a client from closing', async (t) => {
  const clock = holdClock(t)
  const address = addresses.unix()
  const sockets = []
  const server = createSocketServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(packFrame([Tell.welcome, Buffer.alloc(16), false, {}]))
      socket.resume()
    })
  })
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  server.listen(address.slice('unix:'.length))
  await once(server, 'listening')
  const client = new NetLevel(address, { keepAliveMs: Infinity })
  await client.open()
  await clock.pass(client.close())
})

test('a large result arrives whole, though the server closes while it is being sent', async (t) => {
  const clock = holdClock(t)
  const host = await serve()
  t.after(() => host.stop())
  await host.db.put(bytes('large'), Buffer.alloc(8 << 20, 7))
  const client = await greetedClient(host.address)
  client.socket.pause()
  const answer = client.askAs(1, Ask.get, bytes('large'), null)
  const statistics = () => host.server.statistics()
  await until(() => statistics().requests.get?.count === 1)
  const closing = host.server.close()
  // Comes too late to be answered, and must not disturb what is being sent.
  const { receivedBytes } = statistics()
  client.send(Ask.get, 2, bytes('large'), null)
  await until(() => statistics().receivedBytes > receivedBytes)
  client.socket.resume()
  assert.equal((await answer)[2].length, 8 << 20)
  await clock.pass(closing)
})

test('a snapshot that an iterator still uses does not keep a server from closing', async (t) => {
  const clock = holdClock(t)
  const host = await serve()
  t.after(() => host.stop())
  const client = await greetedClient(host.address)
  await client.ask(Ask.snapshot, 1)
  await client.ask(Ask.cursor, 1, [null, null, null, null], false, 1, 1)
  assert.equal((await client.ask(Ask.closeSnapshot, 1))[0], Tell.result)
  await clock.pass(host.server.close())
  await client.closed
})

test('calls made while a server is replaced go to the next one', async (t) => {
  const db = new MemoryLevel({ keyEncoding: 'buffer', valueEncoding: 'buffer' })
  const address = addresses.unix()
  const first = createServer(db)
  await first.listen(address)
  const client = new NetLevel(address)
  await client.open()
  await client.put('a', '1')
  await first.close()
  const late = client.put('b', '2')
  const second = createServer(db)
  await second.listen(address)
  t.after(async () => {
    await client.close()
    await second.close()
    await db.close()
  })
  await late
  assert.deepEqual(await client.iterator().all(), [
    ['a', '1'],
    ['b', '2']
  ])
})
