// A server that closes: what it has acknowledged is stored, what it has begun is answered, and clients hear the truth about the rest.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { MemoryLevel } from 'memory-level'
import { NetLevel } from 'terrace-net'
import { createServer } from 'terrace-net/server'
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
    if (i % 10 === 0) await sleep(1)
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
  await client.closed
  await closing
})

test('a large result arrives whole, though the server closes while it is being sent', async (t) => {
  const host = await serve()
  t.after(() => host.stop())
  await host.db.put(bytes('large'), Buffer.alloc(8 << 20, 7))
  const client = await greetedClient(host.address)
  client.socket.pause()
  const answer = client.askAs(1, Ask.get, bytes('large'), null)
  await sleep(20)
  const closing = host.server.close()
  // Comes too late to be answered, and must not disturb what is being sent.
  client.send(Ask.get, 2, bytes('large'), null)
  await sleep(20)
  client.socket.resume()
  assert.equal((await answer)[2].length, 8 << 20)
  await closing
})

test('a snapshot that an iterator still uses does not keep a server from closing', async (t) => {
  const host = await serve()
  t.after(() => host.stop())
  const client = await greetedClient(host.address)
  await client.ask(Ask.snapshot, 1)
  await client.ask(Ask.cursor, 1, [null, null, null, null], false, 1, 1)
  assert.equal((await client.ask(Ask.closeSnapshot, 1))[0], Tell.result)
  await host.server.close()
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
