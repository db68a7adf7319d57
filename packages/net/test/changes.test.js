// `changes()`: a client reads a change feed of the server.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryLevel } from 'memory-level'
import { Level } from 'terrace'
import { NetLevel } from 'terrace-net'
import { createServer } from 'terrace-net/server'
import { feed } from 'terrace-toolbox/feed'
import { HANG_MS, until } from '../../../tests/support/waiting.mjs'
import { Changes } from '../dist/client/changes.js'
import { Decoding } from '../dist/client/decoding.js'
import { cuttingProxy } from './support/cutting-proxy.js'
import { take } from './support/items.js'
import { addresses, serve } from './support/served.js'
import { temporaryPath } from './support/temporary.js'

/** A test with a served database in memory that has a feed `changes`. */
function feedTest(
  name,
  { feedOptions, makeDb = () => new MemoryLevel(), feedDb = (db) => db, ...options },
  run
) {
  test(name, { timeout: HANG_MS }, async (t) => {
    const db = makeDb()
    const changes = feed(feedDb(db), feedOptions)
    const served = await serve({ db, feeds: { changes }, ...options })
    try {
      await run(served, changes, t)
    } finally {
      await served.stop()
      await changes.close()
    }
  })
}

/** Short texts for changes. */
function texts(changes) {
  return changes.map(({ type, key, value }) => (type === 'put' ? `+${key}=${value}` : `-${key}`))
}

/** Writes `count` entries to a server's own database. */
async function write(db, count, from = 0) {
  for (let i = from; i < from + count; i++) await db.put(`key ${i}`, `${i}`)
}

/** Counts the readings of a feed that have not been ended. */
function countReadings(changes) {
  const { read } = changes
  const readings = { open: 0 }
  changes.read = (...args) => {
    const reading = read.apply(changes, args)
    const { return: end } = reading
    readings.open++
    reading.return = (...given) => {
      readings.open--
      return end.apply(reading, given)
    }
    return reading
  }
  return readings
}

const keysFrom = (from, count) => Array.from({ length: count }, (_, i) => `key ${from + i}`)

for (const transport of ['unix', 'ws']) {
  feedTest(
    `changes begin after a number, and go on live (${transport})`,
    { transport },
    async ({ db, connect }, _, t) => {
      const NOW = 1_700_000_000_000
      t.mock.method(Date, 'now', () => NOW)
      await write(db, 5)
      const client = connect()
      const changes = client.changes('changes', { since: 2 })
      assert.deepEqual(
        (await take(changes, 3)).map(({ key }) => key),
        keysFrom(2, 3)
      )

      const next = take(changes, 3)
      await client.put('live', '1')
      await db.batch([
        { type: 'del', key: 'key 1' },
        { type: 'put', key: 'last', value: '2' }
      ])
      const live = await next
      assert.deepEqual(texts(live), ['+live=1', '-key 1', '+last=2'])
      assert.deepEqual(
        live.map(({ sequence }) => sequence),
        [6, 7, 8]
      )
      assert.deepEqual(
        live.map(({ batch }) => batch),
        [6, 7, 7]
      )
      assert.deepEqual(
        live.map(({ first, last }) => [first, last]),
        [
          [true, true],
          [true, false],
          [false, true]
        ]
      )
      assert.ok(live.every(({ time }) => time === NOW))
    }
  )
}

feedTest(
  'changes have what the feed keeps, decoded as the reader asks',
  { feedOptions: { oldValues: true } },
  async ({ db, connect }) => {
    await db.put('a', '{"n":1}')
    await db.put('a', '{"n":2}')
    const [first, second] = await take(connect().changes('changes', { since: 0, valueEncoding: 'json' }), 2)
    assert.deepEqual([first.value, 'oldValue' in first], [{ n: 1 }, false])
    assert.deepEqual([second.value, second.oldValue], [{ n: 2 }, { n: 1 }])
  }
)

feedTest(
  'a feed without values tells of puts',
  { feedOptions: { values: false } },
  async ({ db, connect }) => {
    await db.put('a', '1')
    const [change] = await take(connect().changes('changes'), 1)
    assert.deepEqual([change.type, change.key, 'value' in change], ['put', 'a', false])
  }
)

feedTest('changes are read of a range', {}, async ({ db, connect }) => {
  await write(db, 9)
  const changes = connect().changes('changes', { gte: 'key 3', lt: 'key 6' })
  assert.deepEqual(
    (await take(changes, 3)).map(({ key }) => key),
    keysFrom(3, 3)
  )
})

feedTest(
  'a slow consumer loses nothing, and the server reads the feed only as fast as it takes',
  { limits: { unsentEventBytes: 4000 } },
  async (served, changes) => {
    const read = changes.read
    let readAhead = 0
    // Counts what the server has pulled from the feed.
    changes.read = async function* (...args) {
      for await (const change of read.apply(changes, args)) {
        readAhead++
        yield change
      }
    }
    const { db, connect } = served
    for (let i = 0; i < 200; i++) await db.put(`key ${i}`, 'x'.repeat(500))
    const client = connect()
    const slow = client.changes('changes', { since: 0 })
    for (let i = 0; i < 200; i++) {
      const [{ key }] = await take(slow, 1)
      assert.equal(key, `key ${i}`)
      await client.get(key)
      assert.ok(readAhead <= i + 12, `${readAhead} were read when ${i + 1} were taken`)
    }
  }
)

feedTest('changes go on after connections were cut, each once and in order', {}, async (served) => {
  const proxy = await cuttingProxy(served.address)
  try {
    const reader = served.connectTo(proxy.address)
    const changes = reader.changes('changes', { since: 0 })
    const keys = []
    for (let round = 0; round < 5; round++) {
      await write(served.db, 10, 10 * round)
      keys.push(...(await take(changes, 5)).map(({ key }) => key))
      proxy.silence()
      await proxy.cut()
      proxy.restore()
      keys.push(...(await take(changes, 5)).map(({ key }) => key))
    }
    assert.deepEqual(keys, keysFrom(0, 50))
  } finally {
    await proxy.stop()
  }
})

feedTest('changes go on after a session was lost', { limits: { sessionMs: 1 } }, async (served) => {
  const proxy = await cuttingProxy(served.address)
  try {
    const changes = served.connectTo(proxy.address).changes('changes', { since: 0 })
    await write(served.db, 10)
    const taken = await take(changes, 3)
    await proxy.close()
    await write(served.db, 10, 10)
    await until(() => served.server.statistics().open.sessions === 0)
    proxy.restore()
    taken.push(...(await take(changes, 17)))
    assert.deepEqual(
      taken.map(({ key }) => key),
      keysFrom(0, 20)
    )
  } finally {
    await proxy.stop()
  }
})

feedTest(
  'changes go on after the client gave up on an answer of the next server',
  {},
  async (served, changes) => {
    const proxy = await cuttingProxy(served.address)
    const next = createServer(served.db, { feeds: { changes } })
    const readings = countReadings(changes)
    try {
      const reader = served.connectTo(proxy.address, { offlineTimeoutMs: 30 })
      const reading = reader.changes('changes', { since: 0 })
      await write(served.db, 3)
      const taken = await take(reading, 3)
      await proxy.close()
      await served.server.close()
      await next.listen(served.address)
      await assert.rejects(reader.get('any'), { code: 'NET_OFFLINE' })

      // The welcome passes, and the request for changes; the answer to that does not.
      const welcomed = new Promise((resolve) => reader.once('connection', resolve))
      proxy.restore(1)
      assert.equal(await welcomed, true)
      const lost = new Promise((resolve) => reader.once('connection', resolve))
      assert.equal(await lost, false)
      await assert.rejects(reader.get('any'), { code: 'NET_OFFLINE' })

      await write(served.db, 3, 3)
      proxy.restore()
      taken.push(...(await take(reading, 3)))
      await write(served.db, 3, 6)
      taken.push(...(await take(reading, 3)))
      assert.deepEqual(
        taken.map(({ key }) => key),
        keysFrom(0, 9)
      )
      // The lost request has begun a reading as well, which the client ends once it can.
      await until(() => readings.open === 1)
      await reader.close()
    } finally {
      await proxy.stop()
      await next.close()
    }
  }
)

test('changes go on over a restarted server', { timeout: HANG_MS }, async () => {
  const directory = temporaryPath('db')
  const address = addresses.unix()
  let running
  const start = async () => {
    const db = new Level(directory)
    const changes = feed(db)
    const server = createServer(db, { feeds: { changes } })
    await server.listen(address)
    running = { db, changes, server }
  }
  const stop = async () => {
    await running.server.close()
    await running.changes.close()
    await running.db.close()
  }

  await start()
  const client = new NetLevel(address)
  try {
    const changes = client.changes('changes', { since: 0 })
    const keys = []
    for (let round = 0; round < 4; round++) {
      await write(running.db, 10, 20 * round)
      keys.push(...(await take(changes, 5)).map(({ key }) => key))
      const waiting = take(changes, 15)
      await stop()
      await start()
      await write(running.db, 10, 20 * round + 10)
      keys.push(...(await waiting).map(({ key }) => key))
    }
    assert.deepEqual(keys, keysFrom(0, 80))
  } finally {
    await client.close()
    await stop()
  }
})

feedTest(
  "a reader of changes that were removed gets the feed's error",
  { feedOptions: { retention: { count: 2 } } },
  async ({ db, connect }, changes) => {
    await write(db, 10)
    await changes.trim()
    await assert.rejects(take(connect().changes('changes', { since: 1 }), 1), { code: 'FEED_TRIMMED' })
    await assert.rejects(take(connect().changes('changes', { since: 1000 }), 1), { code: 'FEED_AHEAD' })
  }
)

feedTest(
  'a feed that is closed while the server goes on ends with an error',
  {},
  async ({ db, connect }, changes) => {
    await db.put('a', '1')
    const reading = connect().changes('changes')
    await take(reading, 1)
    const next = reading.next()
    await changes.close()
    await assert.rejects(next, { code: 'NET_FEED_CLOSED' })
  }
)

feedTest('an unknown feed is refused', {}, async ({ connect }) => {
  await assert.rejects(connect().changes('other').next(), { code: 'NET_UNKNOWN_FEED' })
  await assert.rejects(connect().changes('toString').next(), { code: 'NET_UNKNOWN_FEED' })
})

feedTest('a consumer that leaves ends the reading on the server', {}, async ({ db, connect }, changes) => {
  const readings = countReadings(changes)
  const client = connect()
  await db.put('a', '1')
  for await (const change of client.changes('changes')) {
    assert.equal(change.key, 'a')
    assert.equal(readings.open, 1)
    break
  }
  await client.get('any')
  assert.equal(readings.open, 0)
})

const tokens = {
  all: { name: 'all', permissions: { keys: [{ allow: 'watch' }], feeds: 'all' } },
  part: { name: 'part', permissions: { keys: [{ allow: 'watch', gte: 'b', lt: 'd' }], feeds: ['changes'] } },
  users: {
    name: 'users',
    permissions: { keys: [{ allow: 'watch', sublevel: 'users', lt: 'm' }], feeds: ['changes'] }
  },
  none: { name: 'none', permissions: { keys: 'all' } }
}

feedTest('a user reads only the feeds that the permissions name', { tokens }, async ({ connect }) => {
  await assert.rejects(connect({ token: 'none' }).changes('changes').next(), { code: 'NET_DENIED' })
})

feedTest(
  'a user gets only the changes of keys that may be watched, with batches of their own',
  { tokens },
  async ({ db, connect }) => {
    const put = (key) => ({ type: 'put', key, value: key })
    await db.batch([put('a'), put('b'), put('c'), put('d')])
    await db.put('secret', '')
    await db.batch([put('c'), put('z')])
    const changes = await take(connect({ token: 'part' }).changes('changes', { since: 0 }), 3)
    assert.deepEqual(
      changes.map(({ key, sequence, first, last }) => [key, sequence, first, last]),
      [
        ['b', 2, true, false],
        ['c', 3, false, true],
        ['c', 6, true, true]
      ]
    )
  }
)

feedTest(
  'the rights of a user apply to the feed of a sublevel',
  { tokens, feedDb: (db) => db.sublevel('users') },
  async ({ connect }, { db: users }) => {
    await users.put('zoe', '')
    await users.put('ada', '')
    assert.deepEqual(texts(await take(connect({ token: 'users' }).changes('changes'), 1)), ['+ada='])
  }
)

const other = new MemoryLevel()
feedTest(
  'a feed of another database is for users who may watch all keys',
  { tokens, feedDb: () => other },
  async ({ connect }) => {
    await other.put('b', '1')
    await assert.rejects(connect({ token: 'part' }).changes('changes').next(), { code: 'NET_DENIED' })
    assert.deepEqual(texts(await take(connect({ token: 'all' }).changes('changes'), 1)), ['+b=1'])
  }
)

test('a reader that goes on amid a batch in another session gets no second first change of it', () => {
  const changes = new Changes('changes', undefined, new Decoding(new MemoryLevel(), '', {}))
  const read = (sequence, batch, first) =>
    changes.read([66, 1, sequence, 3, true, sequence, Buffer.from('k'), null, null, 1, batch, first, false])
  // As the server sends them in the first session, then, amid the first batch, in another.
  assert.deepEqual(
    [read(1, 1, true), read(2, 1, true), read(3, 1, false), read(4, 4, true)].map(({ first }) => first),
    [true, false, false, true]
  )
})
