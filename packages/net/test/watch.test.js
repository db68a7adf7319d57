// `watch()`: a client hears of the writes that happen on the server.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { MemoryLevel as Peer } from 'memory-level'
import { Level, MemoryLevel } from 'terrace'
import { HANG_MS, until } from '../../../tests/support/waiting.mjs'
import { viewsWith } from '../../core/test/support/exact-bytes.js'
import { cuttingProxy } from './support/cutting-proxy.js'
import { collectGarbage } from './support/garbage.js'
import { take, texts, textsUntilEnd } from './support/items.js'
import { serve } from './support/served.js'
import { temporaryPath } from './support/temporary.js'

const views = viewsWith(runInNewContext('globalThis'))

/** A test with a served database, which is stopped at the end. */
function servedTest(name, options, run) {
  test(name, { timeout: HANG_MS }, async () => {
    const served = await serve(typeof options === 'function' ? options() : options)
    try {
      await run(served)
    } finally {
      await served.stop()
    }
  })
}

for (const transport of ['unix', 'tcp', 'ws']) {
  servedTest(
    `a client hears of the writes of another one and of the server (${transport})`,
    { transport },
    async (served) => {
      const reader = served.connect()
      const writer = served.connect()
      const writes = reader.watch()
      await reader.get('any')

      await writer.put('a', '1')
      await served.db.put(Buffer.from('b'), Buffer.from('2'))
      await writer.batch([
        { type: 'put', key: 'c', value: '3' },
        { type: 'del', key: 'a' }
      ])
      await writer.del('b')

      const items = await take(writes, 4)
      assert.deepEqual(items.map(texts), [['+a=1'], ['+b=2'], ['+c=3', '-a'], ['-b']])
    }
  )
}

for (const transport of ['unix', 'tcp', 'ws']) {
  for (const Database of [Peer, MemoryLevel]) {
    const name = Database === Peer ? 'memory-level' : 'MemoryLevel'
    servedTest(
      `a client hears of all bytes of a view, from another client and from the server (${transport}, ${name})`,
      () => ({ transport, db: new Database() }),
      async ({ connect, db }) => {
        const encodings = { keyEncoding: 'view', valueEncoding: 'view' }
        const [reader, writer] = [connect(), connect()]
        const writes = reader.watch(encodings)
        await reader.get('any')
        for (const [kind, view, bytes] of views) {
          for (const one of [writer, db]) {
            // memory-level does not take these for bytes.
            if (one instanceof Peer && /realm|shared/.test(kind)) continue
            await one.put(view, view, encodings)
            const [[{ key, value }]] = await take(writes, 1)
            assert.deepEqual([...key], [...bytes], kind)
            assert.deepEqual([...value], [...bytes], kind)
          }
        }

        const [, view, bytes] = views.find(([kind]) => kind === 'Float32Array')
        const range = reader.watch({ ...encodings, gte: view, lte: view })
        await reader.get('any')
        await writer.batch(
          [
            { type: 'put', key: Uint8Array.of(0), value: view },
            { type: 'put', key: view, value: view },
            { type: 'put', key: Uint8Array.of(...bytes, 0), value: view }
          ],
          encodings
        )
        const [[{ key }, ...others]] = await take(range, 1)
        assert.deepEqual([...key], [...bytes])
        assert.equal(others.length, 0)
      }
    )
  }
}

servedTest(
  'a client hears of its own writes that follow the call, without waiting',
  {},
  async ({ connect }) => {
    const db = connect()
    const writes = db.watch()
    await db.put('a', '1')
    assert.deepEqual(await take(writes, 1), [[{ type: 'put', key: 'a', value: '1' }]])
  }
)

for (const [name, open] of [
  ['memory-level', () => ({ db: new Peer() })],
  ['Terrace', () => ({ db: new Level(temporaryPath('db')) })]
]) {
  test(`what is heard of several writers leads to what is stored (${name})`, {
    timeout: HANG_MS
  }, async () => {
    const { db } = open()
    const served = await serve({ db })
    try {
      const reader = served.connect()
      const writes = reader.watch()
      await reader.get('any')

      const writers = Array.from({ length: 4 }, () => served.connect())
      await Promise.all(
        writers.map(async (writer, w) => {
          for (let round = 0; round < 20; round++) {
            const keys = [0, 1, 2, 3].map((i) => `key ${(round * 7 + i * (w + 1)) % 10}`)
            await Promise.all([
              writer.put(keys[0], `${w}.${round}.0`),
              writer.del(keys[1]),
              writer.batch([
                { type: 'put', key: keys[2], value: `${w}.${round}.2` },
                { type: 'put', key: keys[3], value: `${w}.${round}.3` }
              ]),
              served.db.put(keys[0], `server ${w}.${round}`)
            ])
          }
        })
      )
      await served.db.put('end', '')

      const model = new Map()
      const heard = await textsUntilEnd(writes)
      for (const text of heard) {
        const [key, value] = text.slice(1).split('=')
        if (text.startsWith('+')) model.set(key, value)
        else model.delete(key)
      }
      assert.equal(heard.length, 4 * 20 * 5)
      assert.deepEqual([...model].sort(), (await served.db.iterator({ gt: 'end' }).all()).sort())
    } finally {
      await served.stop()
    }
  })
}

servedTest(
  'a sublevel is watched with its own keys and encodings, whoever writes to it',
  {},
  async ({ db, connect }) => {
    const client = connect()
    const users = client.sublevel('users', { valueEncoding: 'json' })
    const writes = client.watch({ sublevel: users })
    await client.get('any')

    await users.put('ada', { age: 36 })
    await client.put('other', 'no')
    await db.sublevel('users', { valueEncoding: 'json' }).put('bob', { age: 4 })
    await db.sublevel(['users', 'deep']).put('x', 'y').catch(assert.fail)
    await db.batch([{ type: 'del', key: 'ada', sublevel: db.sublevel('users') }])

    assert.deepEqual(await take(writes, 2), [
      [{ type: 'put', key: 'ada', value: { age: 36 } }],
      [{ type: 'put', key: 'bob', value: { age: 4 } }]
    ])
    // The sublevel in it has values that are no JSON.
    await assert.rejects(writes.next(), { code: 'LEVEL_DECODE_ERROR' })
  }
)

servedTest('a sublevel of another database cannot be watched', {}, async ({ connect }) => {
  const [one, other] = [connect(), connect()]
  assert.throws(() => one.watch({ sublevel: other.sublevel('a') }), { code: 'NET_INVALID' })
})

test('a served sublevel tells of its writes through any object, in terms of its own keys', {
  timeout: HANG_MS
}, async () => {
  const root = new Peer()
  const served = await serve({ db: root.sublevel('shared') })
  try {
    const client = served.connect()
    const writes = client.watch()
    await client.get('any')
    await root.put('outside', '')
    await root.sublevel('shared').put('a', '1')
    await root.batch([{ type: 'put', key: 'b', value: '2', sublevel: root.sublevel('shared') }])
    await root.put('!shared!c', '3')
    await root.sublevel('shared').clear({ gt: 'a', lt: 'c' })
    await root.clear()

    const items = await take(writes, 5)
    assert.deepEqual(items.map(texts), [['+a=1'], ['+b=2'], ['+c=3'], ['clear'], ['clear']])
    const [[some], [all]] = items.slice(3)
    assert.deepEqual(
      ['a', 'b', 'c'].map((key) => some.includes(key)),
      [false, true, false]
    )
    assert.deepEqual([all.gte, all.lt], [undefined, undefined])
  } finally {
    await served.stop()
    await root.close()
  }
})

servedTest(
  'a range is watched without the keys outside it, those of one batch included',
  {},
  async ({ connect }) => {
    const db = connect()
    const writes = db.watch({ gte: 'b', lt: 'd' })
    await db.batch(['a', 'b', 'c', 'd'].map((key) => ({ type: 'put', key, value: key })))
    await db.put('z', '')
    await db.del('c')
    assert.deepEqual((await take(writes, 2)).map(texts), [['+b=b', '+c=c'], ['-c']])
  }
)

servedTest('a clear is told with the part of its range that is watched', {}, async ({ connect }) => {
  const db = connect()
  const writes = db.watch({ gte: 'b', lt: 'm' })
  await db.clear({ gt: 'x' })
  await db.clear({ gte: 'd' })
  await db.clear({ lte: 'c', limit: 1 })
  const [[first], [second]] = await take(writes, 2)
  assert.deepEqual(
    [first.type, String(first.gte), String(first.lt), first.isPartial],
    ['clear', 'd', 'm', false]
  )
  assert.deepEqual(
    ['c', 'd', 'l', 'm'].map((key) => first.includes(key)),
    [false, true, true, false]
  )
  assert.deepEqual(
    ['b', 'c', 'd'].map((key) => second.includes(key)),
    [true, true, false]
  )
  assert.equal(second.isPartial, true)
})

const users = {
  admin: { name: 'admin' },
  reader: {
    name: 'reader',
    permissions: {
      keys: [
        { allow: 'watch', gte: 'b', lt: 'd' },
        { allow: 'watch', sublevel: 'open' }
      ]
    }
  },
  nobody: { name: 'nobody', permissions: { keys: [{ allow: 'read' }] } }
}

servedTest(
  'a user hears only of keys with the right to watch, also when more is cleared',
  { tokens: users },
  async ({ connect }) => {
    const admin = connect({ token: 'admin' })
    const reader = connect({ token: 'reader' })
    const writes = reader.watch()
    await assert.rejects(reader.get('b'), { code: 'NET_DENIED' })

    await admin.batch(['a', 'b', 'd', '!open!x', '!closed!x'].map((key) => ({ type: 'put', key, value: '' })))
    await admin.put('secret', 'value')
    await admin.clear()
    const [batch, cleared] = await take(writes, 2)
    assert.deepEqual(texts(batch), ['+b=', '+!open!x='])
    assert.deepEqual(
      cleared.map(({ gte, lt }) => [String(gte), String(lt)]),
      [
        ['!open!', '!open"'],
        ['b', 'd']
      ]
    )
  }
)

servedTest(
  'a user without the right to watch anything is refused',
  { tokens: users },
  async ({ connect }) => {
    const writes = connect({ token: 'nobody' }).watch()
    await assert.rejects(writes.next(), { code: 'NET_DENIED' })
    assert.deepEqual(await writes.next(), { done: true, value: undefined })
  }
)

servedTest(
  'a session has no more subscriptions than the limit',
  { limits: { subscriptions: 2 } },
  async ({ connect }) => {
    const db = connect()
    const [first] = [db.watch(), db.watch()]
    await assert.rejects(db.watch().next(), { code: 'NET_LIMIT' })
    await first.return()
    const another = db.watch()
    await db.put('a', '')
    assert.deepEqual((await take(another, 1)).map(texts), [['+a=']])
  }
)

servedTest(
  'a consumer that is too slow gets what was kept for it, then NET_MISSED',
  { limits: { unsentEventBytes: 10_000 } },
  async ({ connect }) => {
    const db = connect()
    const slow = db.watch()
    const fast = db.watch()
    const value = 'x'.repeat(1000)
    let heard = 0
    for (let i = 0; i < 50; i++) {
      await db.put(`key ${i}`, value)
      heard += (await take(fast, 1)).length
    }
    assert.equal(heard, 50)

    const kept = []
    await assert.rejects(
      async () => {
        for await (const [{ key }] of slow) kept.push(key)
      },
      { code: 'NET_MISSED' }
    )
    assert.ok(kept.length > 0 && kept.length < 10, `${kept.length} were kept`)
    assert.deepEqual(
      kept,
      kept.map((_, i) => `key ${i}`)
    )
  }
)

servedTest('consumers that take nothing do not hold memory without bound', {}, async ({ connect }) => {
  const heldBytes = () => {
    collectGarbage()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return heapUsed + arrayBuffers
  }

  const db = connect()
  const before = heldBytes()
  const slow = [db.watch(), db.watch()]
  for (let i = 0; i < 64; i++) await db.put('key', 'x'.repeat(1 << 20))
  // Client and server are in this process: each keeps at most 4 MiB for each of the two.
  // What only passes through is released after a while; what is held in excess never is, and then the test hangs.
  await until(() => heldBytes() - before < 24 << 20)
  for (const each of slow) {
    await assert.rejects(
      async () => {
        for await (const _ of each);
      },
      { code: 'NET_MISSED' }
    )
  }
})

servedTest(
  'an event larger than the limit is sent if it is the only one',
  { limits: { unsentEventBytes: 10_000 } },
  async ({ connect }) => {
    const db = connect()
    const writes = db.watch()
    for (let i = 0; i < 3; i++) {
      await db.put('large', 'x'.repeat(200_000))
      const [[{ value }]] = await take(writes, 1)
      assert.equal(value.length, 200_000)
    }
  }
)

servedTest('a small event does not overtake a large one', {}, async ({ connect }) => {
  const db = connect()
  const writes = db.watch()
  await Promise.all([
    db.put('a', 'x'.repeat(1_000_000)),
    db.put('b', ''),
    db.put('c', 'x'.repeat(100_000)),
    db.put('d', '')
  ])
  const items = await take(writes, 4)
  assert.deepEqual(
    items.map(([{ key }]) => key),
    ['a', 'b', 'c', 'd']
  )
})

/** A client over a proxy that watches, and another one that goes past it. */
async function cuttable(served, options) {
  const proxy = await cuttingProxy(served.address)
  const reader = served.connectTo(proxy.address, options)
  const writes = reader.watch()
  await reader.get('any')
  return { proxy, reader, writes, writer: served.connect() }
}

servedTest(
  'events that a lost connection has swallowed come again, once and in order',
  {},
  async (served) => {
    const { proxy, reader, writes, writer } = await cuttable(served)
    try {
      const expected = []
      for (let round = 0; round < 5; round++) {
        for (let i = 0; i < 4; i++) {
          await writer.put('key', `${round}.${i}`)
          expected.push(`+key=${round}.${i}`)
          if (i === 1) proxy.silence()
          if (i === 2) await proxy.cut()
          if (i === 3) proxy.restore()
        }
        // Some are taken, some wait: those are on the server as well.
        await take(writes, 1).then(([item]) => assert.deepEqual(texts(item), [expected.shift()]))
        await reader.get('any')
      }
      await writer.put('end', '')
      assert.deepEqual(await textsUntilEnd(writes), expected)
    } finally {
      await proxy.stop()
    }
  }
)

servedTest(
  'bytes that the server changes after a write do not change an event that is sent again',
  {},
  async (served) => {
    const { proxy, writes } = await cuttable(served)
    try {
      proxy.silence()
      const [key, value] = [Buffer.from('key'), Buffer.from('before')]
      await served.db.put(key, value)
      key.fill('x')
      value.fill('x')
      await proxy.cut()
      proxy.restore()
      assert.deepEqual((await take(writes, 1)).map(texts), [['+key=before']])
    } finally {
      await proxy.stop()
    }
  }
)

servedTest(
  'a consumer that was taken from keeps its room after a lost connection',
  { limits: { unsentEventBytes: 2000 } },
  async (served) => {
    const { proxy, reader, writes, writer } = await cuttable(served)
    try {
      for (let i = 0; i < 20; i++) {
        await writer.put('key', 'x'.repeat(500))
        await take(writes, 1)
        await proxy.cut()
        await reader.get('any')
      }
    } finally {
      await proxy.stop()
    }
  }
)

servedTest(
  'a consumer that was away longer than its session has missed events, and is told so',
  { limits: { sessionMs: 1 } },
  async (served) => {
    const { proxy, writes, writer } = await cuttable(served)
    try {
      await writer.put('before', '1')
      assert.deepEqual((await take(writes, 1)).map(texts), [['+before=1']])
      await proxy.close()
      await writer.put('meanwhile', '2')
      // The writer's is left.
      await until(() => served.server.statistics().open.sessions === 1)
      proxy.restore()
      await assert.rejects(writes.next(), { code: 'NET_MISSED' })
      assert.deepEqual(await writes.next(), { done: true, value: undefined })
    } finally {
      await proxy.stop()
    }
  }
)

servedTest(
  'a loop that is left unsubscribes, and the server listens to its database no more',
  {},
  async ({ db, connect }) => {
    const client = connect()
    const listeners = () => [db.listenerCount('write'), db.listenerCount('clear')]
    assert.deepEqual(listeners(), [0, 0])
    const writes = [client.watch(), client.watch()]
    await client.put('a', '')
    assert.deepEqual(listeners(), [1, 1])
    for (const each of writes) {
      for await (const _ of each) break
      assert.deepEqual(await each.next(), { done: true, value: undefined })
    }
    await client.get('any')
    assert.deepEqual(listeners(), [0, 0])
  }
)

servedTest('a client that goes away leaves no listener on the server', {}, async ({ db, connect }) => {
  const client = connect()
  client.watch()
  await client.get('any')
  assert.equal(db.listenerCount('write'), 1)
  await client.close()
  const other = connect()
  await other.get('any')
  assert.equal(db.listenerCount('write'), 0)
})

servedTest(
  'an iterator that waits ends with return() and when the database is closed',
  {},
  async ({ connect }) => {
    const db = connect()
    const [left, closed] = [db.watch(), db.watch()]
    const waiting = [left.next(), closed.next(), closed.next()]
    await left.return()
    await db.close()
    for (const next of waiting) assert.deepEqual(await next, { done: true, value: undefined })
  }
)

servedTest('a signal ends the iterator with an AbortError', {}, async ({ connect }) => {
  const db = connect()
  const aborting = new AbortController()
  const writes = db.watch({ signal: aborting.signal })
  const next = writes.next()
  aborting.abort('enough')
  await assert.rejects(next, { name: 'AbortError', code: 'LEVEL_ABORTED', cause: 'enough' })
  assert.deepEqual(await writes.next(), { done: true, value: undefined })
  await assert.rejects(db.watch({ signal: AbortSignal.abort() }).next(), { code: 'LEVEL_ABORTED' })
})

servedTest('a closed database cannot be watched', {}, async ({ connect }) => {
  const db = connect()
  await db.close()
  await assert.rejects(db.watch().next(), { code: 'LEVEL_DATABASE_NOT_OPEN' })
})
