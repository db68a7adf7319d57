// What a user may do: random grants and random calls, compared with a model that knows the permitted keys one by one.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryLevel } from 'terrace'
import { isShort } from '../../../tests/support/form.mjs'
import { Ask, Tell } from '../dist/protocol/messages.js'
import { permissionRound } from './support/permission-round.js'
import { Random, seed } from './support/random.js'
import { greetedClient } from './support/raw-client.js'
import { serve } from './support/served.js'

const ROUNDS = isShort ? 12 : 200
const STEPS = 25

const buffers = { keyEncoding: 'buffer', valueEncoding: 'buffer' }

test(`what comes back, what changes and what is told is exactly what is permitted (TERRACE_SEED=${seed})`, async (t) => {
  const random = new Random()
  const counts = {}
  for (let round = 0; round < ROUNDS; round++) {
    try {
      await permissionRound(random, STEPS, counts)
    } catch (error) {
      throw new Error(`round ${round}: ${error.message}`, { cause: error })
    }
  }
  t.diagnostic(`${ROUNDS} users: ${JSON.stringify(counts)}`)
  const all = ['denied', 'events', 'changes', 'changed', 'conflicts', 'conditions that hold']
  // Few users meet the last two.
  for (const name of isShort ? all.slice(0, 4) : all) assert.ok(counts[name] > 0, name)
})

/** A user whose permissions the test gives, who speaks the protocol by hand. */
async function user(t, keys, methods, db) {
  const permissions = { keys, methods }
  const host = await serve({
    ...(db !== undefined && { db }),
    tokens: { x: { name: 'x', permissions } },
    methods: { free: () => 'free', secret: () => 'secret' }
  })
  const client = await greetedClient(host.address, { token: 'x' })
  t.after(async () => {
    await client.close()
    await host.stop()
  })
  return { ...host, client, ask: client.ask.bind(client) }
}

const bytes = (text) => Buffer.from(text)
const everything = [null, null, null, null]

test('a walk that begins, seeks or is clipped outside never shows a key of others', async (t) => {
  const { db, ask } = await user(t, [{ allow: 'read', gte: 'b', lt: 'd' }])
  await db.batch(
    ['a', 'b', 'c', 'd', 'e'].map((key) => ({ type: 'put', key: bytes(key), value: bytes(`of ${key}`) }))
  )
  let handle = 0
  for (const reverse of [false, true]) {
    for (const target of [null, '', 'a', 'c', 'd', 'e', 'zz']) {
      handle++
      await ask(Ask.cursor, handle, everything, reverse, 3, null)
      if (target !== null) await ask(Ask.seek, handle, bytes(target))
      const [kind, , page] = await ask(Ask.read, handle, 0, 1000, 1 << 20)
      assert.equal(kind, Tell.result)
      assert.ok(!/of [ade]/.test(String(page[1])), `${reverse} ${target}: ${page[1]}`)
    }
  }
})

test('a snapshot and a batch give no right that the user does not have', async (t) => {
  const { db, ask } = await user(t, [{ allow: ['read'], gte: 'b' }])
  await db.put(bytes('a'), bytes('hidden'))
  await ask(Ask.snapshot, 7)
  const asked = [
    [Ask.get, bytes('a'), 7],
    [Ask.has, bytes('a'), 7],
    [Ask.getEntry, bytes('a'), 7],
    [Ask.getEntry, bytes('a'), null],
    [Ask.getMany, [bytes('b'), bytes('a')], 7],
    [Ask.hasMany, [bytes('b'), bytes('a')], 7],
    [Ask.write, [bytes('b'), bytes('1')], false],
    [Ask.write, [bytes('a'), null], false],
    [Ask.writeIf, [], [bytes('b'), bytes('1')], false],
    [Ask.clear, everything, false, null, 7],
    [Ask.clear, everything, true, 1, null]
  ]
  for (const [kind, ...parts] of asked) {
    const [told, , code, message] = await ask(kind, ...parts)
    assert.deepEqual([told, code], [Tell.failure, 'NET_DENIED'], `request ${kind}`)
    assert.ok(!message.includes('hidden'))
  }
  assert.equal(await db.get(bytes('a'), buffers).then(String), 'hidden')
})

test('a condition on what the user may not read is denied before it is checked, whether or not it holds', async (t) => {
  const { client, db, ask } = await user(
    t,
    [
      { allow: ['read'], gte: 'b', lt: 'd' },
      { allow: ['write'], gte: 'c' }
    ],
    undefined,
    new MemoryLevel(buffers)
  )
  await db.put(bytes('a'), bytes('hidden'))
  await ask(Ask.snapshot, 7)
  const range = (gte, lt) => [4, [gte && bytes(gte), null, null, lt && bytes(lt)], 7]
  const hidden = [
    [1, bytes('a'), null],
    [2, bytes('a'), null],
    [3, bytes('a'), bytes('hidden')],
    [3, bytes('a'), bytes('other')],
    // Where the user may write.
    [1, bytes('d'), null],
    [5, bytes('a'), 1],
    [6, [null, null, null, null], 1],
    [6, [bytes('a'), null, null, bytes('c')], 2 ** 40],
    range(null, null),
    range('a', 'c'),
    range('b', null),
    range('c', 'd\0'),
    range('x', 'y'),
    // Of a snapshot that is not there: denied all the same.
    [4, [null, null, null, null], 8]
  ]
  const put = [bytes('c'), bytes('1')]
  for (const condition of hidden) {
    for (const conditions of [
      condition,
      [...condition, 2, bytes('b'), null],
      [2, bytes('b'), null, ...condition]
    ]) {
      for (const operations of [[], put]) {
        const [told, , code, message] = await ask(Ask.writeIf, conditions, operations, false)
        assert.deepEqual([told, code], [Tell.failure, 'NET_DENIED'], JSON.stringify(condition))
        assert.ok(!message.includes('hidden'))
      }
    }
  }
  // A write needs the right to write, whatever its conditions. Without operations it needs none.
  const readable = [...range('b', 'd'), 1, bytes('b'), null, ...range('d', 'a')]
  assert.equal((await ask(Ask.writeIf, readable, [bytes('b'), bytes('1')], false))[2], 'NET_DENIED')
  assert.deepEqual(await ask(Ask.writeIf, readable, [], false).then((answer) => answer.slice(2)), [null])
  assert.deepEqual(await ask(Ask.writeIf, readable, put, false).then((answer) => answer.slice(2)), [null])
  assert.deepEqual(
    await ask(Ask.writeIf, [2, bytes('b'), null, ...readable], put, false).then((answer) => answer.slice(2)),
    [[0, 1]]
  )
  await client.close()
  assert.deepEqual(await db.keys({ keyEncoding: 'utf8' }).all(), ['a', 'c'])
})

test('without the right to read, conditions are denied, and a write without any takes place', async (t) => {
  const { db, ask } = await user(t, [{ allow: 'write' }], undefined, new MemoryLevel(buffers))
  const put = [bytes('a'), bytes('1')]
  for (const conditions of [
    [1, bytes('a'), null],
    [4, everything, 1],
    [4, [bytes('b'), null, null, bytes('a')], 1]
  ]) {
    assert.equal((await ask(Ask.writeIf, conditions, put, false))[2], 'NET_DENIED')
  }
  assert.deepEqual((await ask(Ask.writeIf, [], put, false)).slice(2), [null])
  assert.deepEqual(await db.keys({ keyEncoding: 'utf8' }).all(), ['a'])
})

test('methods are called by name only if they are permitted, and those of objects never', async (t) => {
  const { ask } = await user(t, 'all', ['free', 'toString', 'constructor'])
  assert.equal((await ask(Ask.call, 'free', []))[2], 'free')
  assert.equal((await ask(Ask.call, 'secret', []))[2], 'NET_DENIED')
  for (const name of ['toString', 'constructor']) {
    assert.equal((await ask(Ask.call, name, []))[2], 'NET_UNKNOWN_METHOD')
  }
  assert.equal((await ask(Ask.call, '__proto__', []))[2], 'NET_DENIED')
})

test('a grant with a wrong field or name is refused, because it would allow more than was meant', async () => {
  const wrong = [
    { allow: 'read', sublevels: 'a' },
    { allow: 'read', sublevel: '' },
    { allow: 'read', sublevel: [] },
    { allow: 'read', sublevel: ['a', ''] },
    { allow: 'read', sublevel: 'a!!b' },
    { allow: 'reed' },
    { allow: ['read', undefined] },
    {}
  ]
  for (const grant of wrong) {
    const tokens = { x: { name: 'x', permissions: { keys: [grant] } } }
    await assert.rejects(serve({ tokens }), { code: 'NET_INVALID' }, JSON.stringify(grant))
  }
  const tokens = { x: { name: 'x', permissions: { keys: 'all', methods: 'free' } } }
  await assert.rejects(serve({ tokens }), { code: 'NET_INVALID' })
})

test('what makes no sense in a configuration is refused at each door: tokens, authenticate, permissions of the server', async () => {
  const wrong = [
    null,
    'all',
    [],
    new Map(),
    { keys: 'abc' },
    { keys: { allow: 'read' } },
    { keys: 'all', feeds: 'abc' },
    { keys: 'all', feeds: new Set(['abc']) },
    { keys: 'all', methods: 'abc' },
    { keys: 'all', methods: [''] },
    { keys: 'all', feed: ['abc'] },
    { feeds: 'all' },
    { keys: [{ allow: 'all', gte: [1, 2] }] },
    { keys: [{ allow: 'all', lt: 5 }] },
    { keys: [{ allow: 'all', lt: null }] },
    { keys: [{ allow: null }] },
    { keys: [null] }
  ]
  for (const permissions of wrong) {
    const hint = JSON.stringify(permissions)
    const user = { name: 'ada', permissions }
    await assert.rejects(serve({ permissions }), { code: 'NET_INVALID' }, hint)
    await assert.rejects(serve({ tokens: { x: user } }), { code: 'NET_INVALID' }, hint)
    const { connect, stop } = await serve({ authenticate: () => user })
    await assert.rejects(
      connect({ token: 'x' }).open(),
      ({ cause }) => cause.code === 'NET_UNAUTHENTICATED',
      hint
    )
    await stop()
  }
  for (const options of [
    { tokens: { '': { name: 'ada' } } },
    { tokens: { x: { name: '' } } },
    { tokens: { x: { name: 'ada', permission: { keys: [] } } } },
    { tokens: [{ name: 'ada' }] },
    { tokens: new Map([['x', { name: 'ada' }]]) },
    { token: { x: { name: 'ada' } } },
    { authenticate: 'x' },
    { insecure: 'false' },
    { origins: 'http://localhost' },
    { methods: { a: 1 } },
    { feeds: { a: {} } },
    { limits: { messageByte: 1 } },
    { limits: { messageBytes: '1 MB' } },
    { limits: { sessions: -1 } },
    { limits: { sessions: Number.NaN } }
  ]) {
    await assert.rejects(serve(options), { code: 'NET_INVALID' }, JSON.stringify(options))
  }
})

test('a session has the rights of its beginning, and is not resumed once they were changed in place', async () => {
  const key = bytes('secret')
  for (const change of [
    (ada) => {
      ada.permissions = { keys: [] }
    },
    (ada) => {
      ada.permissions.keys.pop()
    },
    (ada) => {
      ada.permissions.keys[0].allow = 'write'
    },
    (ada) => {
      ada.permissions.keys[0].gte[0] = 0xff
    },
    (ada) => {
      ada.name = 'ben'
    }
  ]) {
    const ada = { name: 'ada', permissions: { keys: [{ allow: 'read', gte: bytes('s') }] } }
    const { address, db, stop } = await serve({ authenticate: () => ada })
    await db.put(key, bytes('s'))
    const before = await greetedClient(address, { token: 'x' })
    const [, ticket] = before.welcome
    assert.equal((await before.ask(Ask.get, key, null))[0], Tell.result)
    await before.close()
    const same = await greetedClient(address, { token: 'x', ticket })
    assert.equal(same.welcome[2], true)
    await same.close()
    change(ada)
    const after = await greetedClient(address, { token: 'x', ticket })
    assert.equal(after.welcome[2], false)
    if (ada.name === 'ada') assert.equal((await after.ask(Ask.get, key, null))[2], 'NET_DENIED')
    await after.close()
    await stop()
  }
})

test('the rights of a server and of its tokens are those of its beginning', async (t) => {
  const rights = { keys: [{ allow: 'read' }] }
  const tokens = { x: { name: 'x', permissions: rights }, y: { name: 'y' } }
  const { address, connect, stop } = await serve({ tokens, permissions: rights })
  t.after(stop)
  rights.keys[0].allow = 'all'
  tokens.y.permissions = { keys: 'all' }
  tokens.z = { name: 'z' }
  for (const token of ['x', 'y']) {
    const client = await greetedClient(address, { token })
    assert.equal((await client.ask(Ask.write, [bytes('a'), bytes('b')], false))[2], 'NET_DENIED')
    await client.close()
  }
  await assert.rejects(connect({ token: 'z' }).open(), ({ cause }) => cause.code === 'NET_UNAUTHENTICATED')
})

test('a clipped clear with a limit does not delete what is written after it', async (t) => {
  const { db, connect } = await user(t, [
    { allow: 'all', lt: 'b' },
    { allow: 'all', gte: 'c' }
  ])
  await db.batch(['a', 'c', 'd'].map((key) => ({ type: 'put', key: bytes(key), value: bytes('old') })))
  const client = connect({ token: 'x' })
  await client.open()
  await Promise.all([
    client.clear({ limit: 10 }),
    client.put('c', 'new'),
    client.clear({ gte: 'd', limit: 1 })
  ])
  assert.deepEqual(await client.iterator().all(), [['c', 'new']])
})
