// What a feed records, and in which form.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BackendLevel } from 'terrace-core'
import { count, feed } from 'terrace-toolbox/feed'
import { ArrayBackend } from '../../../core/test/support/array-backend.js'
import { all } from '../support/collect.js'
import { databases, isExact } from '../support/databases.js'

const brief = ({ sequence, type, key, value, batch, first, last }) => [
  sequence,
  type,
  key,
  value,
  batch,
  first,
  last
]

for (const [name, open] of Object.entries(databases)) {
  test(`${name}: puts, dels and batches in order, with what belongs together`, async (t) => {
    const db = await open(t)
    const time = 1_700_000_000_000
    t.mock.method(Date, 'now', () => time)
    const changes = feed(db)
    await db.put('a', '1')
    await db.batch([
      { type: 'put', key: 'b', value: '2' },
      { type: 'del', key: 'a' },
      { type: 'put', key: 'b', value: '3' }
    ])
    await db.del('missing')
    await db.batch().put('c', '4').del('b').write()

    const found = await all(changes.read())
    assert.deepEqual(found.map(brief), [
      [1, 'put', 'a', '1', 1, true, true],
      [2, 'put', 'b', '2', 2, true, false],
      [3, 'del', 'a', undefined, 2, false, false],
      [4, 'put', 'b', '3', 2, false, true],
      [5, 'del', 'missing', undefined, 5, true, true],
      [6, 'put', 'c', '4', 6, true, false],
      [7, 'del', 'b', undefined, 6, false, true]
    ])
    assert.ok(found.every((change) => change.time === time))
    assert.equal(await changes.lastSequence(), 7)
    assert.equal(await changes.oldestSequence(), 1)
  })

  test(`${name}: a reader of a range gets the first and the last of what it wants of a batch`, async (t) => {
    const db = await open(t)
    const changes = feed(db)
    const keys = ['x1', 'a1', 'x2', 'a2', 'x3']
    await db.batch(keys.map((key) => ({ type: 'put', key, value: key })))
    await db.put('x4', '')

    const flags = async (options) =>
      (await all(changes.read(options))).map(({ key, first, last }) => [key, first, last])
    assert.deepEqual(await flags({ prefix: 'a' }), [
      ['a1', true, false],
      ['a2', false, true]
    ])
    assert.deepEqual(await flags({ gt: 'x1', lte: 'x3' }), [
      ['x2', true, false],
      ['x3', false, true]
    ])
    assert.deepEqual(await flags({ gte: 'x4' }), [['x4', true, true]])
    assert.deepEqual(await flags({ after: 3 }), [
      ['a2', false, false],
      ['x3', false, true],
      ['x4', true, true]
    ])
    assert.deepEqual(await flags({ limit: 1 }), [['x1', true, false]])
  })

  test(`${name}: options: a range, no values, old values`, async (t) => {
    const db = await open(t, { valueEncoding: 'json' })
    const users = feed(db, { name: 'users', range: { prefix: 'user:' }, values: false })
    const full = feed(db, { name: 'full', oldValues: true })
    await db.put('user:1', { age: 1 })
    await db.batch([
      { type: 'put', key: 'user:1', value: { age: 2 } },
      { type: 'put', key: 'user:1', value: { age: 3 } },
      { type: 'del', key: 'user:1' },
      { type: 'put', key: 'user:1', value: { age: 4 } }
    ])
    await db.put('post:1', { text: '' })

    const keys = await all(users.read())
    assert.equal(keys.length, 5)
    assert.ok(keys.every((change) => !('value' in change) && change.key === 'user:1'))
    assert.deepEqual(
      (await all(full.read())).map(({ value, oldValue }) => [value?.age, oldValue?.age]),
      [
        [1, undefined],
        [2, 1],
        [3, 2],
        [undefined, 3],
        [4, undefined],
        [undefined, undefined]
      ]
    )
  })

  test(`${name}: a feed of a sublevel has its keys alone, in its terms; one of the root has all but its own`, async (t) => {
    const db = await open(t)
    const users = db.sublevel('users', { keyEncoding: 'buffer', valueEncoding: 'json' })
    const posts = db.sublevel('posts')
    const ofUsers = feed(users)
    const ofAll = feed(db, { name: 'all' })
    const key = Buffer.from([0, 255, 33, 128])
    await users.put(key, { name: 'Ann' })
    await posts.put('p', 'text')
    await db.batch([{ type: 'put', sublevel: posts, key: 'q', value: 'more' }])
    await users.batch([
      { type: 'del', key },
      { type: 'put', sublevel: posts, key: 'r', value: 'beside' }
    ])

    const found = await all(ofUsers.read())
    assert.deepEqual(
      found.map(({ type, key, value }) => [type, key, value]),
      [
        ['put', key, { name: 'Ann' }],
        ['del', key, undefined]
      ]
    )
    const userKey = Buffer.concat([Buffer.from('!users!'), key])
    const everything = await all(ofAll.read({ keyEncoding: 'buffer' }))
    assert.deepEqual(
      everything.map(({ type, key }) => [type, key]),
      [
        ['put', userKey],
        ['put', Buffer.from('!posts!p')],
        ['put', Buffer.from('!posts!q')],
        ['del', userKey],
        ['put', Buffer.from('!posts!r')]
      ]
    )
    assert.deepEqual(await posts.keys().all(), ['p', 'q', 'r'])
    assert.deepEqual(await users.keys().all(), [])
  })

  test(`${name}: clear is recorded as dels`, async (t) => {
    const db = await open(t)
    const sub = db.sublevel('sub')
    const changes = feed(sub)
    await sub.batch([...'abcdef'].map((key) => ({ type: 'put', key, value: key })))
    await db.put('outside', '1')
    const after = await changes.lastSequence()
    await sub.clear({ gt: 'a', limit: 2 })
    await sub.clear({ gte: 'f' })
    await sub.clear({ lt: 'a' })

    assert.deepEqual(
      (await all(changes.read({ after }))).map(({ type, key }) => [type, key]),
      [
        ['del', 'b'],
        ['del', 'c'],
        ['del', 'f']
      ]
    )
    assert.deepEqual(await sub.keys().all(), ['a', 'd', 'e'])
    assert.equal(await db.get('outside'), '1')
  })

  test(`${name}: a refused write leaves nothing but a gap in the numbers, if that`, async (t) => {
    const db = await open(t)
    const changes = feed(db)
    const refuse = ({ value }) => {
      if (value === 'bad') throw new Error('refused')
    }
    db.hooks.prewrite.add(refuse)
    await db.put('a', '1')
    const batch = ['good', 'bad'].map((value) => ({ type: 'put', key: value, value }))
    const refused = db.batch(batch)
    const later = db.put('b', '2')
    await assert.rejects(refused, { code: 'LEVEL_HOOK_ERROR' })
    await later
    await assert.rejects(db.put(null, '3'), { code: 'LEVEL_INVALID_KEY' })

    const found = await all(changes.read())
    assert.deepEqual(
      found.map(({ key }) => key),
      ['a', 'b']
    )
    // Where hooks see every write, the feed's function runs after the one that refuses.
    assert.ok(isExact(db) ? found[1].sequence === 2 : found[1].sequence > 2)
    assert.equal(await db.get('good'), undefined)
  })

  test(`${name}: numbers go on after closing and opening`, async (t) => {
    const db = await open(t)
    const sub = db.sublevel('data')
    const changes = feed(sub)
    await sub.put('a', '1')
    const [first] = await all(changes.read())
    await db.close()
    await db.open()
    await sub.open()
    await sub.put('b', '2')
    await changes.close()

    const again = feed(sub)
    await sub.put('c', '3')
    const found = await all(again.read({ after: first.sequence }))
    assert.deepEqual(
      found.map(({ sequence, key }) => [sequence, key]),
      [
        [2, 'b'],
        [3, 'c']
      ]
    )
  })

  test(`${name}: a write called before the database is open is recorded`, async (t) => {
    const db = await open(t)
    await db.close()
    const opening = db.open()
    const changes = feed(db)
    await Promise.all([opening, db.put('a', '1'), db.put('b', '2')])
    assert.deepEqual(
      (await all(changes.read())).map(({ key }) => key),
      ['a', 'b']
    )
  })

  test(`${name}: a closed feed records nothing more, and its name is free`, async (t) => {
    const db = await open(t)
    const changes = feed(db)
    assert.throws(() => feed(db), { code: 'FEED_IN_USE' })
    await db.put('a', '1')
    await changes.close()
    await db.put('b', '2')
    assert.throws(() => changes.read(), { code: 'FEED_CLOSED' })
    await assert.rejects(changes.lastSequence(), { code: 'FEED_CLOSED' })

    const again = feed(db)
    assert.deepEqual(
      (await all(again.read())).map(({ key }) => key),
      ['a']
    )
    await db.batch().put('c', '3').write()
    assert.equal(await again.lastSequence(), 2)
  })
}

test('options that cannot be are refused', async (t) => {
  const db = await databases['memory-level'](t)
  const invalid = { code: 'FEED_INVALID_OPTION' }
  assert.throws(() => feed(db, { name: 'a b' }), invalid)
  assert.throws(() => feed(db, { name: 1 }), invalid)
  assert.throws(() => feed(db, { retention: { count: 0 } }), invalid)
  assert.throws(() => feed(db, { retention: { ageMs: -1 } }), invalid)
  assert.throws(() => feed(db, { retention: { sizeBytes: 1.5 } }), invalid)
  assert.throws(() => feed(db, { range: { prefix: 'a', gt: 'a' } }), invalid)

  const changes = feed(db)
  assert.throws(() => changes.read({ after: -1 }), invalid)
  assert.throws(() => changes.read({ after: 1.5 }), invalid)
  assert.throws(() => changes.read({ limit: Number.NaN }), invalid)
  assert.throws(() => changes.read({ prefix: 'a', lt: 'b' }), invalid)
})

test('a database that keeps text alone is refused', async (t) => {
  const db = await databases['memory-level'](t, { storeEncoding: 'utf8' })
  assert.throws(() => feed(db), { code: 'FEED_NOT_SUPPORTED' })
})

test('a database whose hooks cannot read is refused by the call, not at the first write', async () => {
  const backend = new ArrayBackend({ sync: true })
  backend.manifest.syncReads = false
  backend.getSync = undefined
  const db = new BackendLevel(backend)
  assert.throws(() => feed(db), { code: 'FEED_NOT_SUPPORTED', message: /getSync/ })
  assert.throws(() => count(db, { name: 'all', of: () => 'all' }), { code: 'FEED_NOT_SUPPORTED' })
  await db.put('a', '1')
  assert.equal(await db.get('a'), '1')
  await db.close()
})
