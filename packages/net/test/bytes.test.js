// Limits count bytes: what a client makes the server hold is bounded, however few requests it takes.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { MemoryLevel as PlainMemoryLevel } from 'memory-level'
import { Level, MemoryLevel } from 'terrace'
import { holdClock } from '../../../tests/support/clock.mjs'
import { turns } from '../../../tests/support/waiting.mjs'
import { Ask, Tell } from '../dist/protocol/messages.js'
import { directory } from './support/program.js'
import { serve } from './support/served.js'

const bytes = (text) => Buffer.from(text)
const buffers = { keyEncoding: 'buffer', valueEncoding: 'buffer' }

/** Every kind of database that reads differently. */
const databases = {
  'memory-level': () => new PlainMemoryLevel(buffers),
  MemoryLevel: () => new MemoryLevel(buffers),
  Level: (t) => new Level(directory(t), buffers)
}

/** Memory in buffers after garbage was collected. */
async function held() {
  for (let i = 0; i < 3; i++) {
    await turns(20)
    globalThis.gc()
  }
  return process.memoryUsage().arrayBuffers
}

for (const [name, make] of Object.entries(databases)) {
  test(`getMany() is held to messageBytes, whether keys are few or the same: ${name}`, async (t) => {
    const limits = { messageBytes: 1 << 20, unsentBytes: 1 << 18 }
    const { db, greet, stop } = await serve({ db: make(t), limits })
    t.after(stop)
    const keys = Array.from({ length: 20 }, (_, i) => bytes(`key ${i}`))
    await db.batch(keys.map((key) => ({ type: 'put', key, value: Buffer.alloc(300_000, 7) })))
    const client = await greet()
    for (const asked of [keys, keys.slice(0, 4), Array(100).fill(keys[0]), Array(4).fill(keys[0])]) {
      const [kind, , code] = await client.ask(Ask.getMany, asked, null)
      assert.deepEqual([kind, code], [Tell.failure, 'NET_LIMIT'], asked.length)
    }
    const [kind, , values] = await client.ask(Ask.getMany, keys.slice(0, 3), null)
    assert.deepEqual([kind, values.length], [Tell.result, 3])
    assert.deepEqual((await client.ask(Ask.hasMany, keys, null))[2], Array(20).fill(true))
  })

  test(`a page has no more than its mark and one entry, whatever the sizes: ${name}`, async (t) => {
    const { db, greet, stop } = await serve({ db: make(t) })
    t.after(stop)
    const MARK = 16 * 1024
    const LARGE = 300_000
    /** Small entries first, so that later ones are larger than was to be expected. */
    const sizes = Array.from({ length: 120 }, (_, i) => (i < 40 ? 10 : i % 3 === 0 ? 10 : LARGE))
    const entries = sizes.map((size, i) => [bytes(String(i).padStart(4, '0')), Buffer.alloc(size, i)])
    await db.batch(entries.map(([key, value]) => ({ type: 'put', key, value })))
    const client = await greet()

    for (const [handle, parts] of [
      [1, 3],
      [2, 2],
      [3, 1]
    ]) {
      await client.ask(Ask.cursor, handle, [null, null, null, null], false, parts, null)
      const found = []
      for (let number = 0; ; number++) {
        const read = () => client.ask(Ask.read, handle, number, 1000, MARK)
        const [, , [isAtEnd, page, ...lengths]] = await read()
        if (page !== null) {
          assert.ok(page.length <= MARK + LARGE + 4, `a page of ${page.length} bytes`)
          // Asked for again, as after a connection was lost.
          if (number % 5 === 0) assert.deepEqual((await read())[2].slice(1), [page, ...lengths])
          found.push(page)
        }
        if (isAtEnd) break
      }
      const whole = entries.flatMap(([key, value]) =>
        parts === 1 ? [key] : parts === 2 ? [value] : [key, value]
      )
      assert.ok(Buffer.concat(found).equals(Buffer.concat(whole)), `parts ${parts}`)
    }
  })

  test(`iterators that nobody reads on hold no pages: ${name}`, async (t) => {
    const { db, greet, stop } = await serve({ db: make(t) })
    t.after(stop)
    const VALUE = 4 << 20
    await db.batch(['a', 'b'].map((key) => ({ type: 'put', key: bytes(key), value: Buffer.alloc(VALUE) })))
    const client = await greet()
    const before = await held()
    const COUNT = 40
    for (let handle = 1; handle <= COUNT; handle++) {
      await client.ask(Ask.cursor, handle, [null, null, null, null], false, 3, null)
      await client.ask(Ask.read, handle, 0, 100, 16 * 1024)
    }
    const more = (await held()) - before
    assert.ok(more < (COUNT * VALUE) / 2, `${more} bytes are held`)
    const [, , [, page]] = await client.ask(Ask.read, 1, 1, 100, 16 * 1024)
    assert.equal(page[0], bytes('b')[0])
  })
}

test('one write to a hundred subscriptions is held once, over a connection and after it was lost', async (t) => {
  const VALUE = 4 << 20
  const COUNT = 50
  const { db, greet, stop } = await serve({
    db: new PlainMemoryLevel(buffers),
    limits: { unsentEventBytes: 8 << 20 }
  })
  t.after(stop)
  const client = await greet()
  for (let handle = 1; handle <= COUNT; handle++) {
    await client.ask(Ask.subscribe, handle, null, [null, null, null, null], null)
  }
  client.socket.pause()
  const before = await held()
  await db.put(bytes('a'), Buffer.alloc(VALUE, 1))
  const more = (await held()) - before
  assert.ok(more < 8 * VALUE, `${more} bytes are held`)

  // All of it comes, to each, in order, although the connection was lost amid it.
  const [, ticket] = client.welcome
  await client.close()
  await db.del(bytes('a'))
  const again = await greet({ ticket })
  assert.equal(again.welcome[2], true)
  const events = new Map()
  for (let i = 0; i < 2 * COUNT; i++) {
    const [, handle, number, , operations] = await again.next(([kind]) => kind === Tell.event)
    events.set(handle, [...(events.get(handle) ?? []), [number, operations[1]?.length ?? null]])
  }
  for (let handle = 1; handle <= COUNT; handle++) {
    assert.deepEqual(events.get(handle), [
      [1, VALUE],
      [2, null]
    ])
  }
})

test('what comes by WebSocket before a greeting is not held', async (t) => {
  const warnings = []
  const {
    address,
    connect: connectClient,
    stop
  } = await serve({
    transport: 'ws',
    tokens: { x: { name: 'x' } },
    onWarning: (warning) => warnings.push(warning.code)
  })
  t.after(stop)
  const socket = upgraded(address)
  t.after(() => socket.destroy())
  await once(socket, 'data')
  const closed = new Promise((resolve) => socket.once('close', resolve))
  const header = Buffer.alloc(14)
  header[0] = 0x82
  header[1] = 0xff
  header.writeBigUInt64BE(BigInt(2 << 20), 2)
  socket.write(header)
  // A byte less than the message has.
  socket.write(Buffer.alloc((2 << 20) - 1))
  await closed
  assert.deepEqual(warnings, ['NET_LIMIT'])
  // A client that has greeted may send as much as before.
  const client = connectClient({ token: 'x' })
  await client.put('a', 'x'.repeat(3 << 20))
  assert.equal((await client.get('a')).length, 3 << 20)
})

test('a connection that only asks by HTTP is closed, and frees its place', async (t) => {
  const clock = holdClock(t)
  const {
    address,
    connect: connectClient,
    stop
  } = await serve({ transport: 'ws', limits: { helloMs: 100, connections: 1 } })
  t.after(stop)
  const { hostname: host, port } = new URL(address)
  const asking = connect({ host, port: Number(port) })
  t.after(() => asking.destroy())
  const closed = new Promise((resolve) => asking.once('close', resolve))
  asking.on('error', () => {})
  await once(asking, 'connect')
  asking.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const [answer] = await once(asking, 'data')
  assert.match(String(answer), /^HTTP\/1\.1 426 .*connection: close/is)
  await closed

  // A request that never ends.
  const slow = connect({ host, port: Number(port) })
  t.after(() => slow.destroy())
  slow.on('error', () => {})
  await once(slow, 'connect')
  const isCut = new Promise((resolve) => slow.once('close', () => resolve(true)))
  slow.write('GET / HTTP/1.1\r\nHost: x\r\n')
  await turns(200)
  clock.advance(150)
  assert.equal(await isCut, true)
  await connectClient().put('a', '1')
})

test('one user cannot use up the sessions of all', async (t) => {
  const tokens = { a: { name: 'ada', permissions: { keys: [] } }, b: { name: 'ben' } }
  const { connect: connectClient, greet, stop } = await serve({ tokens, limits: { userSessions: 3 } })
  t.after(stop)
  const clients = []
  for (let i = 0; i < 5; i++) clients.push(await greet({ token: 'a' }))
  assert.deepEqual(
    clients.map(({ welcome }) => [welcome[0], welcome[1] === 'NET_LIMIT']),
    [...Array(3).fill([Tell.welcome, false]), ...Array(2).fill([Tell.refused, true])]
  )
  await connectClient({ token: 'b' }).put('a', '1')
})

test('results that a client does not read are not held, whatever it asks for, and come when it reads', async (t) => {
  const VALUE = 1 << 20
  const { db, greet, stop } = await serve({
    db: new PlainMemoryLevel(buffers),
    limits: { unsentBytes: 1 << 18 }
  })
  t.after(stop)
  const keys = Array.from({ length: 100 }, (_, i) => bytes(`k${i}`))
  await db.batch(keys.map((key, i) => ({ type: 'put', key, value: Buffer.alloc(VALUE, i) })))
  const client = await greet()
  const before = await held()
  client.socket.pause()
  const answers = keys.map((key) => client.ask(Ask.get, key, null))
  await turns(500)
  const more = (await held()) - before
  assert.ok(more < 12 * VALUE, `${more} bytes are held`)
  client.socket.resume()
  for (const [i, answer] of answers.entries()) {
    const [kind, , value] = await answer
    assert.deepEqual([kind, value.length, value[0], value.at(-1)], [Tell.result, VALUE, i, i])
  }
})

test('clients that try together make the server hold what its limits say, and others go on once they have read', async (t) => {
  const VALUE = 1 << 20
  const USERS = 3
  const CONNECTIONS = 2
  const limits = { userBytes: 3 * VALUE, serverBytes: 6 * VALUE }
  const names = Array.from({ length: USERS }, (_, i) => `user ${i}`)
  const tokens = Object.fromEntries([...names, 'honest'].map((name) => [name, { name }]))
  const {
    greet,
    db,
    connect: connectClient,
    stop
  } = await serve({ db: new PlainMemoryLevel(buffers), tokens, limits })
  t.after(stop)
  const keys = Array.from({ length: 8 }, (_, i) => bytes(`k${i}`))
  await db.batch(keys.map((key, i) => ({ type: 'put', key, value: Buffer.alloc(VALUE, i) })))
  const honest = connectClient({ token: 'honest', ...buffers })
  assert.equal((await honest.get(keys[0])).length, VALUE)

  const clients = []
  for (let i = 0; i < USERS * CONNECTIONS; i++) clients.push(await greet({ token: names[i % USERS] }))
  const before = await held()
  const answers = []
  for (const client of clients) {
    client.socket.pause()
    answers.push(client.ask(Ask.cursor, 1, [null, null, null, null], false, 3, null))
    for (const key of keys) {
      answers.push(client.ask(Ask.get, key, null))
      answers.push(client.ask(Ask.getMany, [key, keys[0]], null))
    }
    answers.push(client.ask(Ask.read, 1, 0, 1000, VALUE))
  }
  await turns(1000)
  // As the protocol's document says: one result may come when there is a little room, messages are packed in a buffer, and each
  // connection has its own.
  const most = limits.serverBytes + 2 * VALUE + 4 * VALUE + clients.length * (1 << 20)
  const more = (await held()) - before
  assert.ok(more <= most, `${more} bytes are held; ${most} are allowed`)

  const waiting = honest.get(keys[1])
  for (const client of clients) client.socket.resume()
  assert.equal((await waiting)[0], 1)
  for (const answer of answers) assert.equal((await answer)[0], Tell.result)
})

test('a read whose request is as large as all that its user may hold has its result', async (t) => {
  const VALUE = 1 << 20
  const tokens = { a: { name: 'ada' } }
  const {
    db,
    connect: connectClient,
    stop
  } = await serve({
    db: new PlainMemoryLevel(buffers),
    tokens,
    limits: { userBytes: 1 << 18 }
  })
  t.after(stop)
  await db.put(bytes('k'), Buffer.alloc(VALUE, 1))
  const client = connectClient({ token: 'a', ...buffers })
  const [value, none] = await client.getMany([bytes('k'), Buffer.alloc(1 << 19)])
  assert.equal(value.length, VALUE)
  assert.equal(none, undefined)
})

/** Begins a WebSocket by hand. */
function upgraded(address) {
  const { hostname: host, port, pathname } = new URL(address)
  const socket = connect({ host, port: Number(port) })
  socket.on('error', () => {})
  const lines = [
    `GET ${pathname} HTTP/1.1`,
    'Host: x',
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  return socket
}
