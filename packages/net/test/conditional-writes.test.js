// Conditional writes over a connection: they take place once, at the server, whatever happens to the connection.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryLevel as PlainMemoryLevel } from 'memory-level'
import { Level, MemoryLevel } from 'terrace'
import { isShort, scaled } from '../../../tests/support/form.mjs'
import { turns, until } from '../../../tests/support/waiting.mjs'
import { checkIncrements, Incrementer } from '../../core/test/support/increments.js'
import { Ask, Tell } from '../dist/protocol/messages.js'
import { ServedDatabase } from '../dist/server/served-database.js'
import { attacker, served } from './support/attacked.js'
import { proxied, state } from './support/proxied.js'
import { Random, seed } from './support/random.js'
import { relay } from './support/relay.js'
import { addresses, serve } from './support/served.js'
import { temporaryPath } from './support/temporary.js'

const buffers = { keyEncoding: 'buffer', valueEncoding: 'buffer' }
const bytes = (text) => Buffer.from(text)
const newMemory = () => new MemoryLevel(buffers)

/** The texts of a served database. */
const textsOf = (db) => ({
  get: (key) => db.get(key, { keyEncoding: 'utf8', valueEncoding: 'utf8' }),
  keys: (options) => db.keys({ ...options, keyEncoding: 'utf8' })
})

for (const transport of Object.keys(addresses)) {
  test(`clients that count together lose no increment, over ${transport}`, async (t) => {
    const { connect, db, stop } = await serve({ transport, db: newMemory() })
    t.after(stop)
    const clients = ['a', 'b', 'c', 'd'].map((name) => new Incrementer(connect(), name))
    const own = new Incrementer(textLevel(db), 'server')
    await Promise.all([...clients, own].map((each) => each.run(scaled(100))))
    await checkIncrements(textsOf(db), [...clients, own])
    assert.ok(clients.some(({ conflicts }) => conflicts > 0))
  })
}

/** A database of bytes with texts, as the clients have it. */
function textLevel(db) {
  const utf8 = { keyEncoding: 'utf8', valueEncoding: 'utf8' }
  return {
    get: (key) => db.get(key, utf8),
    batch: (operations, options) =>
      db.batch(operations, { ...utf8, if: options.if.map((each) => ({ ...utf8, ...each })) })
  }
}

/** Counts with a client once that is open: to open it may fail if the connection is cut. */
async function incrementerOf(client, name) {
  await client.open()
  return new Incrementer(client, name)
}

test(`increments are counted once, wherever connections are cut (TERRACE_SEED=${seed})`, async (t) => {
  const random = new Random()
  const { db, proxy, connect } = await proxied(t, { db: newMemory() })
  const clients = await Promise.all(['a', 'b', 'c'].map((name) => incrementerOf(connect(), name)))
  proxy.cutAfter = () => 150 + random.below(random.below(3) === 0 ? 10_000 : 800)
  proxy.cut()
  await Promise.all(clients.map((each) => each.run(scaled(60))))
  await checkIncrements(textsOf(db), clients)
  t.diagnostic(`${proxy.cuts} connections were cut`)
  assert.ok(proxy.cuts > (isShort ? 0 : 3))
  for (const { unknown } of clients) assert.deepEqual(unknown, [])
})

test('increments over WebSocket are counted once while connections are cut', async (t) => {
  const host = await serve({ transport: 'ws', db: newMemory() })
  const between = await relay(host.address)
  const clients = await Promise.all(
    ['a', 'b'].map((name) => incrementerOf(host.connectTo(between.address), name))
  )
  t.after(async () => {
    await host.stop()
    await between.stop()
  })
  const counting = Promise.all(clients.map((each) => each.run(scaled(60))))
  let cuts = 0
  let isOver = false
  counting.finally(() => {
    isOver = true
  })
  while (!isOver) {
    await turns(40)
    between.cut()
    cuts++
  }
  await counting
  await checkIncrements(textsOf(host.db), clients)
  t.diagnostic(`connections were cut ${cuts} times`)
})

test('an answer that is lost is sent again, the conflict with its conditions too', async (t) => {
  const { db, proxy, connect } = await proxied(t, { db: newMemory() })
  let writes = 0
  db.on('write', () => writes++)
  const client = connect()
  await client.open()
  const conditions = [
    { key: 'a', exists: true },
    { key: 'a', exists: false },
    { key: 'b', exists: true }
  ]
  for (const [call, check] of [
    [() => client.put('a', '1', { if: [{ key: 'a', exists: false }] }), (put) => put],
    [
      () => client.put('a', '2', { if: conditions }),
      (put) =>
        assert.rejects(put, { code: 'LEVEL_CONFLICT', conditions: [1, 2], message: /2 of 3 conditions/ })
    ]
  ]) {
    proxy.hold()
    const checked = check(call())
    // Held until it is sent again: it was done meanwhile.
    await until(() => writes === 1)
    await turns(20)
    proxy.cut()
    proxy.release()
    await checked
  }
  assert.equal(writes, 1)
})

test('a conditional write that was sent to a server that died is not sent again, and its fate is not known', async (t) => {
  const { db, proxy, connect, restart } = await proxied(t, { db: newMemory() })
  const client = connect()
  await client.open()
  const snapshot = client.snapshot()
  await client.get('a', { snapshot })
  proxy.blackHole()
  const sent = [
    client.put('sent', '1', { if: [{ key: 'sent', exists: false }] }),
    client.put('sent', '2', { if: [{ unchangedSince: snapshot }] })
  ].map((each) => assert.rejects(each, { code: 'NET_WRITE_UNKNOWN' }))
  await until(() => proxy.swallowed > 0)
  proxy.isRefusing = true
  proxy.cut()
  await state(client, false)
  const unsent = client.put('unsent', '1', { if: [{ key: 'unsent', exists: false }] })
  const conflict = assert.rejects(client.put('x', '1', { if: [{ key: 'x', exists: true }] }), {
    code: 'LEVEL_CONFLICT'
  })
  const stale = assert.rejects(client.put('stale', '1', { if: [{ unchangedSince: snapshot }] }), {
    code: 'NET_SESSION_LOST'
  })
  await restart()
  await Promise.all([...sent, unsent, conflict, stale])
  await assert.rejects(client.put('stale', '2', { if: [{ unchangedSince: snapshot }] }), {
    code: 'NET_SESSION_LOST'
  })
  await snapshot.close()
  assert.deepEqual(await db.keys({ keyEncoding: 'utf8' }).all(), ['unsent'])
})

test('servers that die while clients count: none is counted twice, and no acknowledged one is missing', async (t) => {
  const { db, connect, restart } = await proxied(t, { db: newMemory(), limits: { sessionMs: 1 } })
  const clients = ['a', 'b', 'c'].map((name) => new Incrementer(connect(), name))
  let isOver = false
  const counting = Promise.all(
    clients.map(async (each) => {
      while (!isOver) await each.increment()
    })
  )
  const [rounds, count] = isShort ? [3, 10] : [12, 30]
  for (let round = 0; round < rounds; round++) {
    const before = clients.map(({ done }) => done.length)
    await until(() => clients.every(({ done }, i) => done.length > before[i] + count))
    await restart()
  }
  isOver = true
  await counting
  await checkIncrements(textsOf(db), clients)
  t.diagnostic(`of ${clients.reduce((sum, { unknown }) => sum + unknown.length, 0)} the outcome was unknown`)
})

test('a server whose database has no conditional writes is never sent one', async (t) => {
  // This database ignores options that it does not know.
  const { connect, db, server, stop } = await serve({ db: new PlainMemoryLevel(buffers) })
  t.after(stop)
  const client = connect()
  assert.equal(client.supports.conditionalWrites, true)
  const refused = { code: 'LEVEL_NOT_SUPPORTED', message: /server does not support conditional writes/ }
  await assert.rejects(client.put('a', '1', { if: [{ key: 'a', exists: true }] }), refused)
  await assert.rejects(client.batch([{ type: 'put', key: 'a', value: '1' }], { if: [] }), refused)
  assert.equal(server.statistics().requests.writeIf?.count ?? 0, 0)
  assert.deepEqual(await db.keys().all(), [])
})

test('a server whose database has no conditional writes refuses one that comes nevertheless', async (t) => {
  const { address, db } = await served(t, { db: new PlainMemoryLevel(buffers) })
  const client = await attacker(t, address)
  const put = [bytes('a'), bytes('1')]
  for (const conditions of [[], [2, bytes('a'), null]]) {
    const [told, , code] = await client.ask(Ask.writeIf, conditions, put, false)
    assert.deepEqual([told, code], [Tell.failure, 'LEVEL_NOT_SUPPORTED'])
  }
  assert.deepEqual(await db.keys().all(), [])
})

test('a conditional write that waits while the server is replaced by an older one is not sent to that', async (t) => {
  const { proxy, connect, restart } = await proxied(t, { db: newMemory() })
  const client = connect()
  await client.open()
  await client.get('a')
  proxy.isRefusing = true
  proxy.cut()
  await state(client, false)
  const waiting = client.put('a', '1', { if: [{ key: 'a', exists: false }] })
  const plain = client.put('b', '1')
  const older = new PlainMemoryLevel(buffers)
  t.after(() => older.close())
  await Promise.all([restart(older), assert.rejects(waiting, { code: 'LEVEL_NOT_SUPPORTED' }), plain])
  assert.deepEqual(await older.keys({ keyEncoding: 'utf8' }).all(), ['b'])
})

test('versions of entries, and conditions on them, are those of the server', async (t) => {
  const { connect, db, stop } = await serve({ db: new Level(temporaryPath('db'), buffers) })
  t.after(stop)
  const client = connect()
  await client.put('a', '1')
  await client.put('b', '1')
  const entry = await client.getEntry('a')
  const own = await db.getEntry(bytes('a'))
  assert.deepEqual(entry, { value: '1', version: own.version })
  assert.equal(await client.getEntry('absent'), undefined)
  const snapshot = client.snapshot()
  await client.put('a', '1', { if: [{ key: 'a', version: entry.version }] })
  assert.deepEqual(await client.getEntry('a', { snapshot }), entry)
  await snapshot.close()
  const conflict = client.put('a', '2', {
    if: [
      { key: 'a', version: entry.version },
      { gte: 'b', unchangedSince: entry.version },
      { gte: 'c', unchangedSince: entry.version }
    ]
  })
  await assert.rejects(conflict, { code: 'LEVEL_CONFLICT', conditions: [0, 1] })
})

test('a database without versions refuses them, over its connection too', async (t) => {
  const { address, honest } = await served(t, { db: newMemory() })
  const refused = { code: 'LEVEL_NOT_SUPPORTED' }
  await assert.rejects(honest.getEntry('a'), refused)
  await assert.rejects(honest.put('a', '1', { if: [{ key: 'a', version: 1 }] }), refused)
  await assert.rejects(honest.put('a', '1', { if: [{ unchangedSince: 1 }] }), refused)
  const client = await attacker(t, address)
  assert.equal((await client.ask(Ask.getEntry, bytes('a'), null))[2], 'LEVEL_NOT_SUPPORTED')
  assert.deepEqual(await honest.keys().all(), [])
})

test('clients that update() together lose nothing', async (t) => {
  const { connect, db, proxy } = await proxied(t, { db: newMemory() })
  const random = new Random()
  const clients = [connect(), connect(), connect()]
  await Promise.all(clients.map((client) => client.open()))
  proxy.cutAfter = () => 300 + random.below(5000)
  proxy.cut()
  const count = scaled(40)
  const add = (value = '0') => String(Number(value) + 1)
  await Promise.all(
    clients.map(async (client) => {
      for (let i = 0; i < count; i++) await client.update('count', add, { retries: Number.POSITIVE_INFINITY })
    })
  )
  assert.equal(await textsOf(db).get('count'), String(3 * count))
})

test('a client of a client passes conditions on', async (t) => {
  const inner = await serve({ db: newMemory() })
  const outer = await serve({ db: inner.connect({ ...buffers }) })
  t.after(async () => {
    await outer.stop()
    await inner.stop()
  })
  const client = outer.connect()
  await client.put('a', '1', { if: [{ key: 'a', exists: false }] })
  const snapshot = client.snapshot()
  await client.put('b', '1', { if: [{ unchangedSince: snapshot }] })
  const conflict = client.put('c', '1', {
    if: [{ key: 'a', value: '1' }, { unchangedSince: snapshot }, { gte: 'c', unchangedSince: snapshot }]
  })
  await assert.rejects(conflict, { code: 'LEVEL_CONFLICT', conditions: [1] })
  await snapshot.close()
})

test('watchers hear of a conditional write once it is stored, and of a conflict nothing', async (t) => {
  const { connect, stop } = await serve({ db: newMemory() })
  t.after(stop)
  const [client, other] = [connect(), connect()]
  await Promise.all([client.open(), other.open()])
  const writes = other.watch()
  const first = writes.next()
  await other.get('a')
  await assert.rejects(client.put('no', '1', { if: [{ key: 'a', exists: true }] }), {
    code: 'LEVEL_CONFLICT'
  })
  await client.put('a', '1', { if: [{ key: 'a', exists: false }] })
  const { value } = await first
  assert.deepEqual(value, [{ type: 'put', key: 'a', value: '1' }])
  await writes.return()
})

test('hooks of the server run before the conditions are checked, and what they add depends on them', async (t) => {
  const { connect, db, stop } = await serve({ db: newMemory() })
  t.after(stop)
  db.hooks.prewrite.add(({ key }, batch) => {
    batch.add({ type: 'put', key: Buffer.concat([bytes('copy '), key]), value: bytes('') })
  })
  const client = connect()
  await client.put('a', '1', { if: [{ key: 'copy a', exists: false }] })
  await assert.rejects(client.put('b', '1', { if: [{ key: 'b', exists: true }] }), { code: 'LEVEL_CONFLICT' })
  assert.deepEqual(await client.keys().all(), ['a', 'copy a'])
})

test('a sublevel that is served has the conditions of its own keys', async (t) => {
  const root = newMemory()
  await root.open()
  const { connect, stop } = await serve({ db: root.sublevel('served', buffers) })
  t.after(async () => {
    await stop()
    await root.close()
  })
  const client = connect()
  await client.open()
  await root.put(bytes('a'), bytes('outside'))
  const snapshot = client.snapshot()
  await client.get('a', { snapshot })
  await root.put(bytes('b'), bytes('outside'))
  await client.put('a', '1', { if: [{ key: 'a', exists: false }, { unchangedSince: snapshot }] })
  await assert.rejects(
    client.put('a', '1', { if: [{ key: 'a', exists: false }, { unchangedSince: snapshot }] }),
    {
      conditions: [0, 1]
    }
  )
  await snapshot.close()
})

test('as many conditions as fit in a write are checked, and one more is an error', async (t) => {
  const limits = { batchOperations: 4000 }
  const { address, honest } = await served(t, { db: newMemory(), limits })
  const absent = (count) => Array.from({ length: count }, (_, i) => ({ key: `k${i}`, exists: false }))
  const snapshot = honest.snapshot()
  const ranges = (count) =>
    Array.from({ length: count }, () => ({ gt: 'a', lt: 'b', unchangedSince: snapshot }))
  await honest.put('x', '1', { if: absent(1999) })
  await honest.batch([], { if: absent(2000) })
  await honest.batch([], { if: ranges(1000) })
  for (const conditions of [absent(2001), ranges(1001), [...ranges(999), ...absent(3)]]) {
    await assert.rejects(honest.batch([], { if: conditions }), { code: 'NET_LIMIT' })
  }
  await snapshot.close()

  const client = await attacker(t, address)
  const many = Array.from({ length: 2001 }, () => [1, bytes('k'), null]).flat()
  const [told, , code] = await client.ask(Ask.writeIf, many, [], false)
  assert.deepEqual([told, code], [Tell.failure, 'NET_LIMIT'])
})

test('a condition with a value of 50 MB is checked, and one that exceeds the largest message is refused', async (t) => {
  const db = new Level(temporaryPath('db'), buffers)
  const { connect, stop } = await serve({ db })
  t.after(stop)
  const client = connect({ valueEncoding: 'buffer' })
  const value = Buffer.alloc(50_000_000, 7)
  await client.put('large', value)
  await client.put('a', bytes('1'), { if: [{ key: 'large', value }] })
  value[49_999_999] = 8
  await assert.rejects(client.put('a', bytes('2'), { if: [{ key: 'large', value }] }), {
    code: 'LEVEL_CONFLICT'
  })
  await assert.rejects(client.put('a', value, { if: [{ key: 'large', value }] }), { code: 'NET_LIMIT' })
  assert.deepEqual(await client.get('a'), bytes('1'))
})

test('conditions that make no sense are an error of their request, and the connection goes on', async (t) => {
  const { address, db } = await served(t, { db: newMemory() })
  const client = await attacker(t, address)
  const key = bytes('a')
  const range = [null, null, null, null]
  const wrong = [
    [1],
    [1, key],
    [1, key, null, 2],
    [0, key, null],
    [-1, key, null],
    [1.5, key, null],
    ['1', key, null],
    ['constructor', key, null],
    [null, key, null],
    [[1], key, null],
    [1, key, key],
    [1, key, 1],
    [1, null, null],
    [1, 'a', null],
    [2, range, null],
    [3, key, null],
    [3, key, 'a'],
    [3, key, [key]],
    [4, key, 1],
    [4, range, null],
    [4, range, -1],
    [4, range, key],
    [4, [null, null, null], 1],
    [4, [...range, null], 1],
    [4, [1, null, null, null], 1],
    [5, key, null],
    [5, key, -1],
    [5, key, 0.5],
    [5, key, 2 ** 53],
    [5, key, key],
    [5, range, 1],
    [6, key, 1],
    [6, range, null],
    [7, key, 1],
    [[1, key, null]]
  ]
  for (const conditions of wrong) {
    const [told, , code] = await client.ask(Ask.writeIf, conditions, [key, key], false)
    assert.deepEqual([told, code], [Tell.failure, 'NET_PROTOCOL'], JSON.stringify(conditions))
  }
  assert.deepEqual(await db.keys().all(), [])
})

test('a snapshot of another session is none, and neither is one that was closed', async (t) => {
  const { address, db } = await served(t, { db: newMemory() })
  const [owner, thief] = [await attacker(t, address), await attacker(t, address)]
  const range = [null, null, null, null]
  const write = (client) => client.ask(Ask.writeIf, [4, range, 7], [bytes('a'), bytes('1')], false)
  assert.equal((await owner.ask(Ask.snapshot, 7))[0], Tell.result)
  assert.deepEqual((await write(thief)).slice(0, 3), [Tell.failure, 1, 'NET_SESSION_LOST'])
  assert.deepEqual(await db.keys().all(), [])
  assert.equal((await write(owner))[0], Tell.result)
  await owner.ask(Ask.closeSnapshot, 7)
  assert.equal((await write(owner))[2], 'NET_SESSION_LOST')
})

test('a snapshot that is closed right after the write that has it as a condition serves that', async (t) => {
  const { address, db, server } = await served(t, { db: newMemory() })
  // The write waits for its turn.
  db.hooks.prewrite.add(() => {})
  const client = await attacker(t, address)
  await client.ask(Ask.snapshot, 1)
  const written = client.ask(Ask.writeIf, [4, [null, null, null, null], 1], [bytes('a'), bytes('1')], false)
  const closed = client.ask(Ask.closeSnapshot, 1)
  assert.deepEqual((await written).slice(2), [null])
  await closed
  assert.equal(server.statistics().open.snapshots, 0)
})

test('an answer to a conditional write that makes no sense fails it', async (t) => {
  const { writeIf } = ServedDatabase.prototype
  t.after(() => {
    ServedDatabase.prototype.writeIf = writeIf
  })
  for (const answer of [[], [1], [-1], [0.5], ['0'], 'text', true, {}, [0, 1]]) {
    const host = await serve({ db: newMemory() })
    ServedDatabase.prototype.writeIf = async () => answer
    const client = host.connect()
    await assert.rejects(client.put('a', '1', { if: [{ key: 'a', exists: true }] }), { code: 'NET_PROTOCOL' })
    await host.stop()
  }
})
