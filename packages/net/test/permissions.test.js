// What a user may do: random grants and random calls, compared with a model that knows the permitted keys one by one.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isShort } from '../../../tests/support/form.mjs'
import { Ask, Tell } from '../dist/protocol/messages.js'
import { Random, seed } from './support/random.js'
import { greetedClient } from './support/raw-client.js'
import { serve } from './support/served.js'

const ROUNDS = isShort ? 25 : 60
const CALLS = 25

const buffers = { keyEncoding: 'buffer', valueEncoding: 'buffer' }
const rights = ['read', 'write', 'clear']
const sublevels = ['a', 'b', 'bc']

/** What the guard must allow, written down for single keys. */
function isGranted(grants, right, key) {
  return grants.some(({ allow, sublevel, gte, gt, lte, lt }) => {
    if (allow !== 'all' && !allow.includes(right)) return false
    const prefix = sublevel === undefined ? '' : `!${sublevel}!`
    if (!key.startsWith(prefix)) return false
    const own = key.slice(prefix.length)
    const isAfter = gte !== undefined ? own >= gte : gt === undefined || own > gt
    const isBefore = lte !== undefined ? own <= lte : lt === undefined || own < lt
    return isAfter && isBefore
  })
}

function randomBounds(random, keys) {
  const bounds = {}
  if (random.below(3) > 0) bounds[random.pick(['gte', 'gt'])] = random.pick(keys)
  if (random.below(3) > 0) bounds[random.pick(['lte', 'lt'])] = random.pick(keys)
  return bounds
}

const ownKeys = ['', '!', 'a', 'aa', 'ab', 'b', 'ba', 'c', '~', 'z']
const allKeys = [
  ...ownKeys.slice(1),
  ...sublevels.flatMap((name) => ownKeys.map((key) => `!${name}!${key}`))
].sort()

function randomGrants(random) {
  return Array.from({ length: random.below(5) }, () => ({
    allow: random.below(4) === 0 ? 'all' : rights.filter(() => random.below(2) === 0),
    ...(random.below(2) === 0 && { sublevel: random.pick(sublevels) }),
    ...randomBounds(random, ownKeys)
  }))
}

function within({ gte, gt, lte, lt }, key) {
  const isAfter = gte !== undefined ? key >= gte : gt === undefined || key > gt
  return isAfter && (lte !== undefined ? key <= lte : lt === undefined || key < lt)
}

/** The entries of a walk over a sorted list. */
function walked(entries, { reverse = false, limit = -1, ...bounds }) {
  const found = entries.filter(([key]) => within(bounds, key))
  if (reverse) found.reverse()
  return limit < 0 ? found : found.slice(0, limit)
}

/** One user with random permissions, and what the database must hold and show. */
class Round {
  #random
  #client
  #db
  #grants
  #entries
  #number = 0

  constructor(random, client, db, grants, entries) {
    this.#random = random
    this.#client = client
    this.#db = db
    this.#grants = grants
    this.#entries = entries
  }

  async step() {
    const kinds = ['single', 'many', 'batch', 'walk', 'walk', 'seek', 'snapshot', 'clear', 'clear']
    await this[this.#random.pick(kinds)]()
    const stored = await this.#db.iterator({ keyEncoding: 'utf8', valueEncoding: 'utf8' }).all()
    assert.deepEqual(stored, this.#sorted())
  }

  async single() {
    const key = this.#key()
    const value = `v${this.#number++}`
    await this.#checked([['read', key]], () => this.#client.get(key), this.#entries.get(key))
    await this.#checked([['read', key]], () => this.#client.has(key), this.#entries.has(key))
    const isDel = this.#random.below(3) === 0
    const write = () => (isDel ? this.#client.del(key) : this.#client.put(key, value))
    if (await this.#checked([['write', key]], write, undefined)) this.#write(key, isDel ? undefined : value)
  }

  async many() {
    const keys = Array.from({ length: this.#random.below(5) }, () => this.#key())
    const reads = keys.map((key) => ['read', key])
    const values = keys.map((key) => this.#entries.get(key))
    await this.#checked(reads, () => this.#client.getMany(keys), values)
    await this.#checked(
      reads,
      () => this.#client.hasMany(keys),
      values.map((value) => value !== undefined)
    )
  }

  /** A batch is written as a whole, or not at all; sublevels are no way around that. */
  async batch() {
    const operations = Array.from({ length: 1 + this.#random.below(3) }, () => {
      const [type, value] = this.#random.below(3) === 0 ? ['del'] : ['put', `v${this.#number++}`]
      const sublevel = this.#random.below(2) === 0 ? this.#random.pick(sublevels) : undefined
      const own = sublevel === undefined ? this.#key() : this.#random.pick(ownKeys)
      const key = sublevel === undefined ? own : `!${sublevel}!${own}`
      const given = { type, key: own, value, ...(sublevel && { sublevel: this.#client.sublevel(sublevel) }) }
      return { key, value, given }
    })
    const writes = operations.map(({ key }) => ['write', key])
    const write = () => this.#client.batch(operations.map(({ given }) => given))
    if (!(await this.#checked(writes, write, undefined))) return
    for (const { key, value } of operations) this.#write(key, value)
  }

  async walk() {
    const options = this.#walk()
    const expected = walked(this.#readable(), options)
    const { client, parts } = this.#reader(expected)
    await this.#any('read', () => client[parts.method](options).all(), parts.of)
  }

  async seek() {
    const { limit, ...options } = this.#walk()
    if (!this.#has('read')) return
    const target = this.#key()
    const iterator = this.#client.keys(options)
    const first = await iterator.nextv(1 + this.#random.below(3))
    assert.ok(first.every((key) => isGranted(this.#grants, 'read', key)))
    iterator.seek(target)
    const expected = within(options, target)
      ? walked(this.#readable(), options).filter(([key]) => (options.reverse ? key <= target : key >= target))
      : []
    assert.deepEqual(
      await iterator.all(),
      expected.map(([key]) => key)
    )
  }

  /** What a snapshot shows is clipped as well, and stays as it was. */
  async snapshot() {
    if (!this.#has('read')) return
    const snapshot = this.#client.snapshot()
    const before = this.#readable()
    await this.#client.getMany(
      before.slice(0, 1).map(([key]) => key),
      { snapshot }
    )
    await this.batch()
    const options = this.#walk()
    assert.deepEqual(await this.#client.iterator({ ...options, snapshot }).all(), walked(before, options))
    const key = this.#key()
    const found = before.find(([each]) => each === key)?.[1]
    await this.#checked([['read', key]], () => this.#client.get(key, { snapshot }), found)
    await snapshot.close()
  }

  async clear() {
    const options = this.#walk()
    const clearable = this.#sorted().filter(([key]) => isGranted(this.#grants, 'clear', key))
    await this.#any('clear', () => this.#client.clear(options))
    if (this.#has('clear')) for (const [key] of walked(clearable, options)) this.#entries.delete(key)
  }

  #reader(expected) {
    const parts = this.#random.pick([
      { method: 'iterator', of: expected },
      { method: 'keys', of: expected.map(([key]) => key) },
      { method: 'values', of: expected.map(([, value]) => value) }
    ])
    return { client: this.#client, parts }
  }

  #walk() {
    const random = this.#random
    return {
      ...randomBounds(random, allKeys),
      reverse: random.below(2) === 0,
      ...(random.below(2) === 0 && { limit: 1 + random.below(8) })
    }
  }

  /** Does something if it is allowed. Otherwise it must be denied, without a word about values. */
  async #checked(needed, act, expected) {
    if (needed.every(([right, key]) => isGranted(this.#grants, right, key))) {
      assert.deepEqual(await act(), expected)
      return true
    }
    await assert.rejects(act(), (error) => this.#isDenial(error))
    return false
  }

  /** Does something that is clipped, and denied only if the user has the right to no key that could ever be. */
  async #any(right, act, expected) {
    if (this.#has(right)) assert.deepEqual(await act(), expected)
    else await assert.rejects(act(), (error) => this.#isDenial(error))
  }

  #isDenial({ code, message }) {
    assert.equal(code, 'NET_DENIED')
    for (const text of [...this.#entries.keys(), ...this.#entries.values()]) {
      if (text.length > 2) assert.ok(!message.includes(text), message)
    }
    return true
  }

  /** Whether any key can have this right. A grant may be of an empty range. */
  #has(right) {
    return this.#grants.some(
      ({ allow, gte, gt, lte, lt }) =>
        (allow === 'all' || allow.includes(right)) &&
        !isEmptyRange(gte ?? gt, gte === undefined, lte ?? lt, lte === undefined)
    )
  }

  #readable() {
    return this.#sorted().filter(([key]) => isGranted(this.#grants, 'read', key))
  }

  #sorted() {
    return [...this.#entries].sort(([a], [b]) => (a < b ? -1 : 1))
  }

  #write(key, value) {
    if (value === undefined) this.#entries.delete(key)
    else this.#entries.set(key, value)
  }

  #key() {
    return this.#random.pick(allKeys)
  }
}

/** Whether no key lies between two bounds. The key after another one is that with a byte of zero more. */
function isEmptyRange(from, isFromExcluded, to, isToExcluded) {
  if (to === undefined) return false
  const start = from === undefined ? '' : isFromExcluded ? `${from}\0` : from
  const end = isToExcluded ? to : `${to}\0`
  return start >= end
}

test(`what comes back and what changes is exactly what is permitted (TERRACE_SEED=${seed})`, async () => {
  const random = new Random()
  for (let round = 0; round < ROUNDS; round++) {
    const grants = randomGrants(random)
    const host = await serve({ tokens: { x: { name: 'x', permissions: { keys: grants } } } })
    const client = host.connect({ token: 'x' })
    try {
      const entries = new Map(
        allKeys.filter(() => random.below(3) > 0).map((key) => [key, `value of ${key}`])
      )
      await host.db.batch(
        [...entries].map(([key, value]) => ({ type: 'put', key, value })),
        { keyEncoding: 'utf8', valueEncoding: 'utf8' }
      )
      await client.open()
      const calls = new Round(random, client, host.db, grants, entries)
      for (let call = 0; call < CALLS; call++) await calls.step()
    } catch (error) {
      throw new Error(`round ${round} with ${JSON.stringify(grants)}: ${error.message}`, { cause: error })
    } finally {
      await host.stop()
    }
  }
})

/** A user whose permissions the test gives, who speaks the protocol by hand. */
async function user(t, keys, methods) {
  const permissions = { keys, methods }
  const host = await serve({
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
    [Ask.getMany, [bytes('b'), bytes('a')], 7],
    [Ask.hasMany, [bytes('b'), bytes('a')], 7],
    [Ask.write, [bytes('b'), bytes('1')], false],
    [Ask.write, [bytes('a'), null], false],
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
