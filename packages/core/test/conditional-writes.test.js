// Writes with the option `if`: they happen if all conditions hold, and otherwise leave nothing.

import assert from 'node:assert/strict'
import { test as nodeTest } from 'node:test'
import { BackendLevel } from 'terrace-core'
import { scaled } from '../../../tests/support/form.mjs'
import { ArrayBackend } from './support/array-backend.js'
import {
  newLevel,
  opened,
  openLevel,
  testConditions,
  testOnEngine,
  writesAtOnce
} from './support/databases.js'

/** What `conditions` come to for a write of `db`: the indices of those that fail. Nothing may be written if there are any. */
async function failed(db, conditions) {
  const before = await db.iterator().all()
  try {
    await db.batch([], { if: conditions })
    return []
  } catch (error) {
    assert.equal(error.code, 'LEVEL_CONFLICT')
    const again = db.batch(
      [
        { type: 'put', key: 'new', value: 'x' },
        { type: 'del', key: 'a' }
      ],
      { if: conditions }
    )
    await assert.rejects(again, {
      code: 'LEVEL_CONFLICT',
      conditions: error.conditions,
      message: error.message
    })
    assert.deepEqual(await db.iterator().all(), before)
    return error.conditions
  }
}

testConditions('conditions on keys hold or fail', async (t) => {
  const db = await openLevel(t)
  await db.batch([
    { type: 'put', key: 'a', value: '1' },
    { type: 'put', key: 'empty', value: '' }
  ])

  assert.deepEqual(await failed(db, []), [])
  assert.deepEqual(
    await failed(db, [
      { key: 'a', exists: true },
      { key: 'b', exists: false },
      { key: 'a', value: '1' },
      { key: 'empty', value: '' }
    ]),
    []
  )
  assert.deepEqual(
    await failed(db, [
      { key: 'a', exists: false },
      { key: 'a', exists: true },
      { key: 'b', exists: true },
      { key: 'a', value: '2' },
      { key: 'b', value: '1' },
      { key: 'empty', value: ' ' }
    ]),
    [0, 2, 3, 4, 5]
  )
})

testConditions('put() and del() take conditions', async (t) => {
  const db = await openLevel(t)
  await db.put('a', '1', { if: [{ key: 'a', exists: false }] })
  await assert.rejects(db.put('a', '2', { if: [{ key: 'a', exists: false }] }), {
    code: 'LEVEL_CONFLICT',
    conditions: [0]
  })
  assert.equal(await db.get('a'), '1')
  await assert.rejects(db.del('a', { if: [{ key: 'a', value: '2' }] }), { code: 'LEVEL_CONFLICT' })
  await db.del('a', { if: [{ key: 'a', value: '1' }], sync: true })
  assert.equal(await db.get('a'), undefined)
})

testConditions('a range is unchanged until an entry in it is added, changed or deleted', async (t) => {
  const changes = {
    'a key before it': [false, (db) => db.put('a', '2')],
    'the key at its end': [false, (db) => db.put('d', '2')],
    'the key at its beginning': [true, (db) => db.put('b', '2')],
    'a new key': [true, (db) => db.put('bb', '2')],
    'a deletion': [true, (db) => db.del('c')]
  }
  for (const [name, [isChange, change]] of Object.entries(changes)) {
    const db = await openLevel(t)
    await db.batch(['a', 'b', 'c', 'd'].map((key) => ({ type: 'put', key, value: '1' })))
    const snapshot = db.snapshot()
    const condition = { gte: 'b', lt: 'd', unchangedSince: snapshot }
    assert.deepEqual(await failed(db, [condition, { unchangedSince: snapshot }]), [], name)
    await change(db)
    assert.deepEqual(
      await failed(db, [condition, { unchangedSince: snapshot }]),
      isChange ? [0, 1] : [1],
      name
    )
    await snapshot.close()
  }
})

testConditions('conditions have the keys and encodings of the database, or of a sublevel', async (t) => {
  const db = await openLevel(t)
  const users = db.sublevel('users', { keyEncoding: 'json', valueEncoding: 'json' })
  await users.put([7], { name: 'Ada' })
  await db.put('[7]', 'text')
  const snapshot = db.snapshot()

  assert.deepEqual(await failed(db, [{ sublevel: users, key: [7], value: { name: 'Ada' } }]), [])
  assert.deepEqual(await failed(db, [{ sublevel: users, key: [7], value: { name: 'Bob' } }]), [0])
  assert.deepEqual(
    await failed(db, [
      { key: '"x"', keyEncoding: 'json', exists: true },
      { key: '[7]', exists: true }
    ]),
    [0]
  )
  await users.put([8], 'new', {
    if: [
      { key: [8], exists: false },
      { key: [7], exists: true },
      { sublevel: db, key: '[7]', value: 'text' }
    ]
  })
  assert.equal(await users.get([8]), 'new')
  await assert.rejects(users.put([9], 1, { if: [{ unchangedSince: snapshot }] }), { code: 'LEVEL_CONFLICT' })
  await users.put([9], 1, { if: [{ gt: [8], unchangedSince: snapshot }] })
  await db.put('other', '1')
  await snapshot.close()
  const later = db.snapshot()
  await db.put('other', '2', { if: [{ sublevel: users, unchangedSince: later }] })
  await later.close()
})

testConditions('hook functions run before the check, and what they add depends on it', async (t) => {
  const db = await openLevel(t)
  const index = db.sublevel('index')
  const seen = []
  db.hooks.prewrite.add((operation, batch) => {
    seen.push(operation)
    batch.add({ type: 'put', key: operation.key, value: 'indexed', sublevel: index })
  })
  const events = []
  db.on('write', (operations) => events.push(operations.map(({ key }) => key)))

  await db.put('a', '1', { if: [{ key: 'a', exists: false }] })
  await assert.rejects(db.put('b', '1', { if: [{ key: 'a', exists: false }] }), { code: 'LEVEL_CONFLICT' })
  assert.deepEqual(await index.keys().all(), ['a'])
  assert.deepEqual(
    events,
    [['a', '!index!a']].map((keys) => keys.slice(0, events[0].length))
  )
  assert.deepEqual(
    seen.map(({ key }) => key),
    ['a', 'b']
  )
  assert.ok(
    seen.every((operation) => !('if' in operation)),
    'functions do not see the conditions'
  )
})

testConditions('conditions see the writes called before, whether or not those wait', async (t) => {
  const db = await openLevel(t)
  for (const hooked of [false, true]) {
    if (hooked) db.hooks.prewrite.add(() => {}, { everyWrite: true })
    const writes = []
    for (let i = 0; i < 60; i++) {
      writes.push(db.put('turn', String(i), { sync: i % 7 === 0 }))
      writes.push(db.put('turn', `${i}!`, { if: [{ key: 'turn', value: String(i) }], sync: i % 5 === 0 }))
      const wrong = db.put('turn', 'no', { if: [{ key: 'turn', value: String(i) }] })
      writes.push(assert.rejects(wrong, { code: 'LEVEL_CONFLICT' }))
    }
    await Promise.all(writes)
    assert.equal(await db.get('turn'), '59!')
  }
})

testConditions('no increment is lost between callers', async (t) => {
  const db = await openLevel(t, { valueEncoding: 'json' })
  const count = scaled(100)
  let conflicts = 0

  async function increment(key) {
    for (;;) {
      const value = await db.get(key)
      const condition = value === undefined ? { key, exists: false } : { key, value }
      try {
        await db.put(key, (value ?? 0) + 1, { if: [condition] })
        return
      } catch (error) {
        assert.equal(error.code, 'LEVEL_CONFLICT')
        conflicts++
      }
    }
  }

  await Promise.all(
    Array.from({ length: 5 }, async () => {
      for (let i = 0; i < count; i++) await increment(`key ${i % 2}`)
    })
  )
  assert.deepEqual(await db.getMany(['key 0', 'key 1']), [count * 2.5, count * 2.5])
  assert.ok(conflicts > 0, 'the callers met')
})

testConditions('synchronous writes take conditions', async (t) => {
  const db = await openLevel(t)
  if (!writesAtOnce(db)) return
  for (const hooked of [false, true]) {
    if (hooked) db.hooks.prewrite.add(() => {})
    db.putSync('a', '1', { if: [{ key: 'a', exists: false }] })
    assert.throws(() => db.putSync('a', '2', { if: [{ key: 'a', exists: false }] }), {
      code: 'LEVEL_CONFLICT',
      conditions: [0]
    })
    assert.throws(() => db.batchSync([{ type: 'del', key: 'a' }], { if: [{ key: 'b', exists: true }] }), {
      code: 'LEVEL_CONFLICT'
    })
    assert.equal(db.getSync('a'), '1')
    db.delSync('a', { if: [{ key: 'a', value: '1' }] })
    assert.equal(db.getSync('a'), undefined)
  }
})

testConditions('the caller may change keys, values and conditions after the call', async (t) => {
  const db = await openLevel(t, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
  for (const hooked of [false, true]) {
    if (hooked) db.hooks.prewrite.add(() => {}, { everyWrite: true })
    const [key, value] = [Buffer.from(`a${hooked}`), Buffer.from('1')]
    await db.put(key, value)
    const [ownKey, ownValue] = [Buffer.from(key), Buffer.from(value)]
    const waiting = db.put(Buffer.from('x'), value, { sync: true })
    const condition = { key: ownKey, value: ownValue }
    const list = [condition]
    const written = db.put(key, Buffer.from('2'), { if: list })
    ownKey.fill(0)
    ownValue.fill(0)
    condition.key = undefined
    list.length = 0
    await Promise.all([waiting, written])
    assert.deepEqual(await db.get(key), Buffer.from('2'))
  }
})

testConditions('a snapshot of a condition may be closed while the write waits', async (t) => {
  const db = await openLevel(t)
  db.hooks.prewrite.add(() => {})
  const snapshot = db.snapshot()
  const before = db.put('a', '1', { sync: true })
  const written = db.put('b', '1', { if: [{ gte: 'b', unchangedSince: snapshot }] })
  const closing = snapshot.close()
  await Promise.all([before, written, closing])
  assert.equal(await db.get('b'), '1')
})

testConditions('what is no condition is refused, and nothing is written', async (t) => {
  const db = await openLevel(t)
  const other = await openLevel(t)
  const foreign = other.snapshot()
  const snapshot = db.snapshot()
  const refused = [
    {},
    'a',
    [null],
    ['a'],
    [{}],
    [{ key: 'a' }],
    [{ exists: true }],
    [{ key: null, exists: true }],
    [{ key: 'a', exists: 1 }],
    [{ key: 'a', exists: true, value: '1' }],
    [{ key: 'a', value: null }],
    [{ key: 'a', exists: true, sublevel: other.sublevel('x') }],
    [{ key: 'a', unchangedSince: snapshot }],
    [{ version: 1, unchangedSince: snapshot }],
    [{ key: 'a', exists: true, version: 1 }],
    [{ gte: 'a', unchangedSince: {} }],
    [{ gte: 'a', unchangedSince: null }]
  ]
  for (const [index, conditions] of refused.entries()) {
    const { code } = await db.put('a', '1', { if: conditions }).then(
      () => assert.fail(`number ${index}`),
      (error) => error
    )
    assert.match(code, /^LEVEL_INVALID_(ARGUMENT|KEY|VALUE)$/, `number ${index}`)
  }
  await assert.rejects(db.batch().put('a', '1').write({ if: [] }), { code: 'LEVEL_NOT_SUPPORTED' })
  await foreign.close()
  await snapshot.close()
  assert.deepEqual(await db.keys().all(), [])
})

testOnEngine('a snapshot of another database is refused', async (t) => {
  const [db, other] = [await openLevel(t), await openLevel(t)]
  const snapshot = other.snapshot()
  await assert.rejects(db.put('a', '1', { if: [{ unchangedSince: snapshot }] }), {
    code: 'LEVEL_INVALID_ARGUMENT'
  })
  await snapshot.close()
})

testConditions('a write with conditions waits for the open, and fails after the close', async (t) => {
  const db = newLevel(t)
  await db.put('a', '1', { if: [{ key: 'a', exists: false }] })
  assert.equal(await db.get('a'), '1')
  await db.close()
  await assert.rejects(db.put('a', '1', { if: [] }), { code: 'LEVEL_DATABASE_NOT_OPEN' })
})

testConditions('thousands of conditions are checked', async (t) => {
  const db = await openLevel(t)
  const keys = Array.from({ length: 3000 }, (_, index) => `key ${index}`)
  await db.batch(keys.map((key) => ({ type: 'put', key, value: '1' })))
  const conditions = keys.map((key) => ({ key, value: '1' }))
  await db.put('a', '1', { if: conditions })
  if (writesAtOnce(db)) db.putSync('a', '2', { if: conditions })
  await db.del('key 2999')
  await assert.rejects(db.put('a', '3', { if: conditions }), { code: 'LEVEL_CONFLICT', conditions: [2999] })
})

async function refusesConditions(db) {
  for (const each of [db, db.sublevel('a')]) {
    assert.equal(each.supports.conditionalWrites, false)
    const refused = { code: 'LEVEL_NOT_SUPPORTED' }
    await assert.rejects(each.put('a', '1', { if: [] }), refused)
    await assert.rejects(each.del('a', { if: [{ key: 'a', exists: true }] }), refused)
    await assert.rejects(each.batch([], { if: [] }), refused)
    if (writesAtOnce(each)) assert.throws(() => each.putSync('a', '1', { if: [] }), refused)
    assert.equal(await each.get('a'), undefined)
  }
}

testConditions(
  'a database without conditions refuses a write that has them',
  async (t) => {
    await refusesConditions(await openLevel(t))
  },
  { refused: true }
)

nodeTest('over a back-end that does not declare conditions, a write that has them is refused', async (t) => {
  const backend = new ArrayBackend({ sync: true })
  backend.manifest = { ...backend.manifest, conditionalWrites: false }
  await refusesConditions(await opened(t, new BackendLevel(backend)))
})

nodeTest('a back-end that declares conditions has the methods', () => {
  for (const method of ['writeIf', 'writeIfSync']) {
    const backend = new ArrayBackend({ sync: true })
    backend[method] = undefined
    assert.throws(() => new BackendLevel(backend), {
      name: 'TypeError',
      message: new RegExp(`'conditionalWrites'.*${method}\\(\\)`)
    })
  }
})
