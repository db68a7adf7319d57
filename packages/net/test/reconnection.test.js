// Connections that are cut, delayed or dead: no write is lost or done twice, and iterators neither skip nor repeat an entry.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import v8 from 'node:v8'
import { MemoryLevel } from 'memory-level'
import { RemoteCursor, RemoteSnapshot } from 'terrace-core'
import { NetLevel } from 'terrace-net'
import { createServer } from 'terrace-net/server'
import { holdClock } from '../../../tests/support/clock.mjs'
import { isShort } from '../../../tests/support/form.mjs'
import { turns, until } from '../../../tests/support/waiting.mjs'
import { Link } from '../dist/client/link.js'
import { netCall } from '../dist/client/net-call.js'
import { Ask } from '../dist/protocol/messages.js'
import { Results } from '../dist/server/results.js'
import { ServerConnection } from '../dist/server/server-connection.js'
import { ServerCursor } from '../dist/server/server-cursor.js'
import { collectGarbage } from './support/garbage.js'
import { filled, proxied, state } from './support/proxied.js'
import { Random, seed } from './support/random.js'
import { addresses, serve } from './support/served.js'

const HISTORIES = isShort ? 12 : 25
const STEPS = 60

/** Leaves in parts. The largest batch passes in a connection that lives long. */
const LARGE_BYTES = 70_000
const LONG_BYTES = 1_000_000

const utf8 = { keyEncoding: 'utf8', valueEncoding: 'utf8' }

/** Random calls, of which many are pending at once, and what they must do. */
class History {
  /** What the server's database has heard of, and what it should. */
  happened = []
  called = []
  counted = []
  #random
  #client
  #values = new Map()
  #pending = []
  #number = 0

  constructor(random, client, db) {
    this.#random = random
    this.#client = client
    db.on('write', (operations) =>
      this.happened.push(operations.map(({ type, key }) => `${type} ${key}`).join(', '))
    )
  }

  async run(steps) {
    for (let step = 0; step < steps; step++) {
      this.#step()
      if (this.#random.below(10) === 0) await Promise.all(this.#pending.splice(0))
      else if (this.#random.below(4) === 0) await turns(this.#random.below(20))
    }
    await Promise.all(this.#pending)
  }

  /** The entries that must be left. */
  get entries() {
    return [...this.#values]
      .map(([key, values]) => [key, values.at(-1)])
      .filter(([, value]) => value !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
  }

  #step() {
    const kind = this.#random.below(12)
    if (kind < 3) this.#write([this.#operation('put')])
    else if (kind === 3) this.#write([this.#operation('del')])
    else if (kind < 6) this.#write(Array.from({ length: 2 + this.#random.below(4) }, () => this.#operation()))
    else if (kind === 6) this.#clear()
    else if (kind < 9) this.#count()
    else this.#get()
  }

  #operation(type = this.#random.pick(['put', 'put', 'del'])) {
    const key = `k${this.#random.below(6)}`
    const filler = 'x'.repeat(this.#random.below(20) === 0 ? LARGE_BYTES : 20)
    return type === 'put' ? { type, key, value: `${this.#number++} ${filler}` } : { type, key }
  }

  #write(operations) {
    this.called.push(operations.map(({ type, key }) => `${type} ${key}`).join(', '))
    for (const { key, value } of operations) this.#of(key).push(value)
    const [{ type, key, value }] = operations
    if (operations.length > 1) this.#pending.push(this.#client.batch(operations))
    else this.#pending.push(type === 'put' ? this.#client.put(key, value) : this.#client.del(key))
  }

  #clear() {
    const gte = `k${this.#random.below(6)}`
    for (const [key, values] of this.#values) if (key >= gte) values.push(undefined)
    this.#pending.push(this.#client.clear({ gte }))
  }

  #count() {
    this.#pending.push(this.#client.call('count').then((count) => this.counted.push(count)))
  }

  /** A get shows the value of the time of its call, or a later one. */
  #get() {
    const key = `k${this.#random.below(6)}`
    const values = this.#of(key)
    const from = values.length - 1
    this.#pending.push(
      this.#client.get(key).then((value) => {
        const index = values.lastIndexOf(value)
        const isThere = index >= from || (from < 0 && value === undefined)
        assert.ok(isThere, `get(${key}) shows a value that was overwritten before`)
      })
    )
  }

  #of(key) {
    if (!this.#values.has(key)) this.#values.set(key, [])
    return this.#values.get(key)
  }
}

test('a server that drops each connection before it answers is not asked again without a pause', async (t) => {
  const clock = holdClock(t)
  const { db, proxy, connect } = await proxied(t)
  const value = 'x'.repeat(LONG_BYTES)
  await db.put('large', value, utf8)
  const client = connect()
  await client.open()
  // A welcome passes, and the value does not.
  proxy.cutAfter = () => LARGE_BYTES
  proxy.cut()
  const pending = client.get('large')
  // It connects again at once, and then waits twice as long each time, or half as long again, or half as long.
  for (let pauseMs = 20, connections = 2; pauseMs < 500; pauseMs *= 2, connections++) {
    const isPause = (ms) => ms >= pauseMs * 0.5 && ms <= pauseMs * 1.5
    await until(() => clock.waiting.some(isPause), `a pause of about ${pauseMs} ms`)
    assert.equal(proxy.connections, connections)
    clock.advance(pauseMs * 0.5 - 1)
    await turns(20)
    assert.equal(proxy.connections, connections)
    clock.advance(pauseMs + 2)
  }
  proxy.cutAfter = () => Number.POSITIVE_INFINITY
  assert.equal(await clock.pass(pending), value)
})

test('a method that is called before the database was opened, or after it was closed, fails', async () => {
  const client = new NetLevel(addresses.unix(), { connectTimeoutMs: 1 })
  const early = client.call('echo')
  await assert.rejects(client.open())
  await assert.rejects(early, { code: 'LEVEL_DATABASE_NOT_OPEN' })
  await assert.rejects(client.call('echo'), { code: 'LEVEL_DATABASE_NOT_OPEN' })
  await client.close()
  await assert.rejects(client.call('echo'), { code: 'LEVEL_DATABASE_NOT_OPEN' })
})

test(`each write happens once and in order, wherever connections are cut (TERRACE_SEED=${seed})`, async (t) => {
  const random = new Random()
  let cuts = 0
  for (let history = 0; history < HISTORIES; history++) {
    let count = 0
    await t.test(`history ${history}`, async (t) => {
      const clock = holdClock(t)
      const { db, proxy, connect } = await proxied(t, { methods: { count: () => ++count } })
      proxy.cutAfter = () => 150 + random.below(random.below(3) === 0 ? LONG_BYTES : 4000)
      const client = connect()
      const run = new History(random, client, db)
      await client.open().catch(() => {})
      while (client.status !== 'open') await client.open().catch(() => turns())
      await clock.pass(run.run(STEPS))
      assert.deepEqual(run.happened, run.called)
      assert.deepEqual(
        run.counted.sort((a, b) => a - b),
        Array.from({ length: count }, (_, i) => i + 1)
      )
      assert.deepEqual(await db.iterator(utf8).all(), run.entries)
      proxy.cutAfter = () => Number.POSITIVE_INFINITY
      cuts += proxy.cuts
    })
  }
  t.diagnostic(`${cuts} connections were cut`)
  assert.ok(cuts > HISTORIES)
})

test('a write that was sent to a server that died is not sent again, and its fate is not known', async (t) => {
  let calls = 0
  const { db, proxy, connect, restart } = await proxied(t, { methods: { count: () => ++calls } })
  const client = connect()
  await client.open()
  proxy.blackHole()
  const sent = [client.put('sent', '1'), client.clear(), client.call('count')]
  const read = client.get('other')
  await until(() => proxy.swallowed > 0)
  const unknown = Promise.all(sent.map((each) => assert.rejects(each, { code: 'NET_WRITE_UNKNOWN' })))
  proxy.isRefusing = true
  proxy.cut()
  await state(client, false)
  const unsent = client.put('unsent', '2')
  await restart()
  await unknown
  await unsent
  assert.equal(await read, undefined)
  assert.deepEqual(await db.iterator(utf8).all(), [['unsent', '2']])
  assert.equal(calls, 0)
})

test('calls fail once the server was away for too long, and go through when it is back', async (t) => {
  const clock = holdClock(t)
  const { db, proxy, connect } = await proxied(t)
  const client = connect({ offlineTimeoutMs: 50 })
  await client.open()
  proxy.blackHole()
  const sent = client.put('sent', '1')
  await until(() => proxy.swallowed > 0)
  proxy.isRefusing = true
  proxy.cut()
  await state(client, false)
  const unsent = client.put('unsent', '2')
  const read = client.get('a')
  let failed = 0
  for (const call of [sent, unsent, read]) call.catch(() => failed++)
  clock.advance(49)
  await turns(20)
  assert.equal(failed, 0)
  clock.advance(1)
  await Promise.all([
    assert.rejects(sent, { code: 'NET_WRITE_UNKNOWN' }),
    assert.rejects(unsent, { code: 'NET_OFFLINE' }),
    assert.rejects(read, { code: 'NET_OFFLINE' })
  ])
  await assert.rejects(client.put('later', '3'), { code: 'NET_OFFLINE' })
  proxy.restore()
  await clock.pass(Promise.resolve(state(client, true)))
  await client.put('back', '4')
  assert.deepEqual(await db.iterator(utf8).all(), [['back', '4']])
})

test('a connection that swallows everything is given up, and the write happens once', async (t) => {
  const clock = holdClock(t)
  const { db, proxy, connect } = await proxied(t)
  let writes = 0
  db.on('write', () => writes++)
  const client = connect({ keepAliveMs: 40 })
  await client.open()
  proxy.blackHole()
  const write = client.put('a', '1')
  const lost = once(client, 'connection')
  // After the first time it asks for a sign of life, after the second it gives up.
  clock.advance(79)
  await turns(20)
  assert.equal(client.isOnline, true)
  clock.advance(1)
  const [isOnline, cause] = await lost
  assert.equal(isOnline, false)
  assert.match(cause.message, /has not answered for 80 ms/)
  proxy.restore()
  await clock.pass(write)
  assert.equal(writes, 1)
})

test('opening waits for a server that is not there yet, and says so if none comes in time', async (t) => {
  const clock = holdClock(t)
  for (const address of [addresses.unix(), 'tcp://127.0.0.1:1', 'ws://127.0.0.1:1']) {
    const began = clock.now
    const client = new NetLevel(address, { connectTimeoutMs: 5000 })
    const opening = assert.rejects(client.open(), ({ cause }) => {
      assert.equal(cause.code, 'NET_OFFLINE')
      assert.match(cause.message, /cannot be reached: .*(ENOENT|ECONNREFUSED|in time)/)
      return true
    })
    await clock.pass(opening)
    const passed = clock.now - began
    assert.ok(passed >= 5000 && passed < 5200, `${passed} ms`)
    await client.close()
  }
})

test('a client that is started before its server works once it is there, with what was called meanwhile', async (t) => {
  for (const make of [addresses.unix, () => 'tcp://127.0.0.1:0', () => 'ws://127.0.0.1:0/db']) {
    let address = make()
    if (!address.startsWith('unix:')) {
      // A port that is free.
      const first = createServer(new MemoryLevel())
      address = await first.listen(address)
      await first.close()
    }
    let attempts = 0
    const client = new NetLevel(() => {
      attempts++
      return address
    })
    t.after(() => client.close())
    const put = client.put('a', '1')
    await until(() => attempts >= 3)
    const server = createServer(new MemoryLevel())
    t.after(() => server.close())
    await server.listen(address)
    await put
    assert.equal(await client.get('a'), '1')
  }
})

test('a client that is closed while it waits for a server ends', async () => {
  const client = new NetLevel(addresses.unix(), { connectTimeoutMs: 600_000 })
  const opening = client.open().catch(({ cause }) => cause.code)
  await client.close()
  assert.equal(await opening, 'NET_OFFLINE')
})

test('a refused token is not tried again', async (t) => {
  const { connect, stop } = await serve({ tokens: { x: { name: 'x' } } })
  t.after(stop)
  const client = connect({ token: 'y', connectTimeoutMs: 600_000 })
  await assert.rejects(client.open(), ({ cause }) => cause.code === 'NET_UNAUTHENTICATED')
})

test('where the silence of a server counts, a call fails at its deadline, and not at twice that', async (t) => {
  const clock = holdClock(t)
  const { proxy } = await proxied(t)
  for (const idleMs of [0, 700, 5300]) {
    const link = new Link(() => proxy.address, {
      offlineTimeoutMs: 2000,
      keepAliveMs: 1000,
      countsSilence: true
    })
    await link.open()
    for (let passed = 0; passed < idleMs; passed += 100) {
      clock.advance(100)
      await turns(50)
    }
    proxy.blackHole()
    const began = clock.now
    const failed = assert.rejects(link.ask('repeat', netCall([Ask.get, 0, Buffer.from('a'), null])), {
      code: 'NET_OFFLINE'
    })
    await clock.pass(failed)
    const passed = clock.now - began
    assert.ok(passed > 900 && passed <= 2100, `${passed} ms`)
    proxy.restore()
    await clock.pass(link.close())
  }
})

/** Connects to a server that does not answer, and lets the time pass that it may take. `meanwhile` happens before that. */
async function connectInVain(t, meanwhile) {
  const clock = holdClock(t)
  const { proxy, connect } = await proxied(t)
  proxy.blackHole()
  const client = connect({ connectTimeoutMs: 500 })
  let isOver = false
  const opened = assert
    .rejects(client.open(), ({ cause }) => {
      assert.equal(cause.code, 'NET_OFFLINE')
      assert.match(cause.message, /did not answer in time/)
      return true
    })
    .finally(() => {
      isOver = true
    })
  await until(() => proxy.swallowed > 0)
  await meanwhile?.()
  clock.advance(499)
  await turns(20)
  assert.equal(isOver, false)
  clock.advance(1)
  await opened
}

test('opening fails if the server does not answer in time', (t) => connectInVain(t))

test('opening fails in time although garbage is collected meanwhile', (t) =>
  connectInVain(t, async () => {
    for (let i = 0; i < 5; i++) {
      await turns(20)
      collectGarbage()
    }
  }))

test('where both sides wait for ever, calls go through when the connection is back, and snapshots are still there', async (t) => {
  const { proxy, connect } = await proxied(t, { limits: { sessionMs: Infinity } })
  const client = connect({ connectTimeoutMs: Infinity, offlineTimeoutMs: Infinity, keepAliveMs: Infinity })
  await client.open()
  const snapshot = client.snapshot()
  assert.equal(await client.get('a', { snapshot }), undefined)
  proxy.isRefusing = true
  proxy.cut()
  await state(client, false)
  const put = client.put('a', '1')
  const before = proxy.connections
  await until(() => proxy.connections > before + 1)
  proxy.isRefusing = false
  await put
  assert.equal(await client.get('a'), '1')
  assert.equal(await client.get('a', { snapshot }), undefined)
  await snapshot.close()
})

test('closing while offline fails what is pending, with the truth', async (t) => {
  const { proxy, connect } = await proxied(t)
  const client = connect()
  await client.open()
  proxy.blackHole()
  const sent = assert.rejects(client.put('a', '1'), { code: 'NET_WRITE_UNKNOWN' })
  await until(() => proxy.swallowed > 0)
  proxy.isRefusing = true
  proxy.cut()
  await state(client, false)
  const unsent = assert.rejects(client.put('b', '2'), { code: 'NET_OFFLINE' })
  await client.close()
  await Promise.all([sent, unsent])
  assert.equal(client.isOnline, false)
})

test('closing does not wait for a connection in order to release what is lost with it', async (t) => {
  const { db, proxy, connect } = await proxied(t)
  await filled(db, 10)
  const client = connect({ offlineTimeoutMs: 600_000 })
  await client.open()
  const snapshot = client.snapshot()
  await client.keys({ snapshot }).next()
  proxy.isRefusing = true
  proxy.cut()
  await client.close()
})

test('closing while a connection is being made ends that', async (t) => {
  const clock = holdClock(t)
  const { proxy, connect } = await proxied(t)
  const client = connect({ connectTimeoutMs: 100 })
  proxy.blackHole()
  const opening = client.open().catch(({ cause }) => cause.code)
  const closing = client.close()
  await clock.pass(Promise.all([opening, closing]))
  assert.equal(client.status, 'closed')
  proxy.restore()
  await clock.pass(client.open())
  await client.put('a', '1')
})

test('closing waits for pending writes, and another opening finds them', async (t) => {
  const { proxy, connect } = await proxied(t)
  const client = connect()
  await client.open()
  proxy.hold()
  const writes = Array.from({ length: 50 }, (_, i) => client.put(`k${i}`, 'v'))
  let isClosed = false
  const closing = client.close().then(() => {
    isClosed = true
  })
  await turns(20)
  assert.equal(isClosed, false)
  proxy.release()
  await closing
  await Promise.all(writes)
  await client.open()
  assert.equal((await client.keys().all()).length, 50)
  await client.close()
})

/** Hears of each collection of results that a server keeps until the test ends. */
function keptResults(t) {
  const kept = new Set()
  const { begin } = Results.prototype
  Results.prototype.begin = function (number) {
    kept.add(this)
    begin.call(this, number)
  }
  t.after(() => {
    Results.prototype.begin = begin
  })
  return kept
}

test('acknowledgements that were lost do not leave results on the server for ever', async (t) => {
  const kept = keptResults(t)
  const { notify } = Link.prototype
  let notes = 0
  Link.prototype.notify = function (...message) {
    if (++notes % 3 === 0) notify.apply(this, message)
  }
  t.after(() => {
    Link.prototype.notify = notify
  })

  const { connect } = await proxied(t)
  const client = connect()
  for (let round = 0; round < 40; round++) {
    await Promise.all(Array.from({ length: 100 }, (_, i) => client.put(`w${i}`, String(round))))
  }
  // It tells each 256 answers, and every third time is heard.
  const [results] = kept
  assert.ok(notes > 10)
  assert.ok(results.size <= 3 * 256 + 100, `${results.size} results are kept`)
})

test('nothing is left of closed iterators, lost connections and answered requests', async (t) => {
  const kept = keptResults(t)
  const { db, proxy, connect } = await proxied(t)
  await filled(db, 50)
  const client = connect()
  await client.open()
  for (let round = 0; round < (isShort ? 30 : 60); round++) {
    const writes = Array.from({ length: 10 }, (_, i) => client.put(`w${i}`, String(round)))
    const snapshot = client.snapshot()
    const iterators = [client.keys(), client.values({ snapshot })]
    await Promise.all(iterators.map((iterator) => iterator.next()))
    proxy.cut()
    await Promise.all([...writes, ...iterators.map((iterator) => iterator.close())])
    await snapshot.close()
  }
  await client.get('a')

  // The client tells what it has each 256 answers.
  const [results] = kept
  assert.equal(kept.size, 1)
  assert.ok(results.size <= 256, `${results.size} results are kept`)
  // Those of the last round may still be named by what the program has just done.
  for (const kind of [RemoteCursor, RemoteSnapshot, ServerCursor, ServerConnection]) {
    const count = v8.queryObjects(kind, { format: 'count' })
    assert.ok(count <= 4, `${count} of ${kind.name}`)
  }
})
