// `update()`: a value is replaced by what a function makes of it, whoever else writes.

import assert from 'node:assert/strict'
import { test as nodeTest } from 'node:test'
import { BackendLevel } from 'terrace-core'
import { scaled } from '../../../tests/support/form.mjs'
import { ArrayBackend, FAILURE } from './support/array-backend.js'
import { newLevel, opened, openLevel, testConditions } from './support/databases.js'

testConditions('update() writes what the function makes of the value, and returns it', async (t) => {
  const db = await openLevel(t, { valueEncoding: 'json' })
  assert.equal(await db.update('n', (n = 0) => n + 1), 1)
  assert.equal(await db.update('n', async (n) => n + 1), 2)
  assert.equal(await db.get('n'), 2)
  assert.equal(await db.update('n', (n) => n * 10, { sync: true }), 20)
  assert.equal(await db.update('n', () => undefined), undefined)
  assert.equal(await db.has('n'), false)
  assert.equal(await db.update('n', () => undefined), undefined, 'nothing is there to delete')
})

testConditions('update() has the keys and encodings of the database, a sublevel or the call', async (t) => {
  const db = await openLevel(t)
  const users = db.sublevel('users', { keyEncoding: 'json', valueEncoding: 'json' })
  await users.update([7], () => ({ visits: 1 }))
  await users.update([7], ({ visits }) => ({ visits: visits + 1 }))
  await db.update([7], ({ visits }) => ({ visits: visits + 1 }), { sublevel: users })
  assert.deepEqual(await users.get([7]), { visits: 3 })
  const list = {
    format: 'utf8',
    encode: (items) => items.join(),
    decode: (text) => text.split(',')
  }
  for (const item of ['x', 'y']) {
    await db.update('list', (items = []) => [...items, item], { valueEncoding: list })
  }
  assert.equal(await db.get('list'), 'x,y')
  await db.update('text', () => 'é', { keyEncoding: 'json' })
  assert.equal(await db.get('"text"'), 'é')
})

testConditions('concurrent updates of a database all take place, with and without hooks', async (t) => {
  for (const hooked of [false, true]) {
    const db = await openLevel(t, { valueEncoding: 'json' })
    const written = []
    if (hooked) db.hooks.prewrite.add(({ value }) => written.push(value))
    const count = scaled(60)
    const results = await Promise.all(
      Array.from({ length: count }, (_, index) =>
        db.update(`key ${index % 3}`, index % 2 === 0 ? (n = 0) => n + 1 : async (n = 0) => n + 1)
      )
    )
    const expected = Array.from({ length: count / 3 }, (_, index) => index + 1)
    for (const rest of [0, 1, 2]) {
      const own = results.filter((_, index) => index % 3 === rest)
      assert.deepEqual(
        own.sort((a, b) => a - b),
        expected
      )
    }
    if (hooked) assert.ok(written.length >= count)
  }
})

testConditions(
  'update() calls the function again with the new value if others have changed it',
  async (t) => {
    const db = await openLevel(t)
    await db.put('a', '1')
    const seen = []
    const result = await db.update('a', async (value) => {
      seen.push(value)
      if (seen.length <= 3) await db.put('a', `other ${seen.length}`)
      return `${value}!`
    })
    assert.deepEqual(seen, ['1', 'other 1', 'other 2', 'other 3'])
    assert.equal(result, 'other 3!')
    assert.equal(await db.get('a'), 'other 3!')
  }
)

testConditions('update() gives up after its retries, and has written nothing', async (t) => {
  const db = await openLevel(t)
  let calls = 0
  const meddled = db.update(
    'a',
    async () => {
      await db.put('a', String(++calls))
      return 'mine'
    },
    { retries: 2 }
  )
  await assert.rejects(meddled, { code: 'LEVEL_CONFLICT' })
  assert.equal(calls, 3)
  assert.equal(await db.get('a'), '3')
})

testConditions(
  'update() within the function of an update of the same key conflicts, and does not hang',
  async (t) => {
    const db = await openLevel(t, { valueEncoding: 'json' })
    const nested = db.update('n', async (n = 0) => (await db.update('n', (n = 0) => n + 1)) + n, {
      retries: 3
    })
    await assert.rejects(nested, { code: 'LEVEL_CONFLICT' })
    assert.equal(await db.get('n'), 4)
  }
)

testConditions('an update whose function fails writes nothing, and its error is passed on', async (t) => {
  const db = await openLevel(t)
  const failure = new Error('no')
  const fail = () => {
    throw failure
  }
  await assert.rejects(db.update('a', fail), failure)
  await assert.rejects(
    db.update('a', async () => fail()),
    failure
  )
  await assert.rejects(
    db.update('a', () => null),
    { code: 'LEVEL_INVALID_VALUE' }
  )
  assert.equal(await db.has('a'), false)
})

testConditions('a signal ends an update before its next attempt', async (t) => {
  const db = await openLevel(t)
  const reason = new Error('enough')
  await assert.rejects(
    db.update('a', () => '1', { signal: AbortSignal.abort(reason) }),
    { code: 'LEVEL_ABORTED', name: 'AbortError', cause: reason }
  )
  const controller = new AbortController()
  let calls = 0
  const meddled = db.update(
    'a',
    async () => {
      await db.put('a', String(++calls))
      if (calls === 3) controller.abort(reason)
      return 'mine'
    },
    { signal: controller.signal }
  )
  await assert.rejects(meddled, { code: 'LEVEL_ABORTED', cause: reason })
  assert.equal(calls, 3)
})

testConditions('the function of an update may change the bytes that it is given', async (t) => {
  const db = await openLevel(t, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
  const key = Buffer.from('a')
  await db.put(key, Buffer.from([1]))
  const done = db.update(key, async (value) => {
    await null
    value[0] += 1
    return value
  })
  key.fill(0)
  assert.deepEqual(await done, Buffer.from([2]))
  assert.deepEqual(await db.get(Buffer.from('a')), Buffer.from([2]))
})

testConditions('what update() does not take is refused', async (t) => {
  const db = await openLevel(t)
  const invalid = { code: 'LEVEL_INVALID_ARGUMENT' }
  await assert.rejects(db.update('a'), invalid)
  await assert.rejects(
    db.update('a', () => '1', { retries: -1 }),
    invalid
  )
  await assert.rejects(
    db.update('a', () => '1', { retries: 0.5 }),
    invalid
  )
  await assert.rejects(
    db.update('a', () => '1', { sublevel: newLevel(t).sublevel('b') }),
    invalid
  )
  await assert.rejects(
    db.update(null, () => '1'),
    { code: 'LEVEL_INVALID_KEY' }
  )
})

testConditions('an update waits for the open, and fails after the close', async (t) => {
  const db = newLevel(t)
  await db.update('a', () => '1')
  assert.equal(await db.get('a'), '1')
  await db.close()
  await assert.rejects(
    db.update('a', () => '2'),
    { code: 'LEVEL_DATABASE_NOT_OPEN', message: /update\(\)/ }
  )
})

testConditions(
  'a database without conditions refuses update()',
  async (t) => {
    const db = await openLevel(t)
    await assert.rejects(
      db.update('a', () => '1'),
      { code: 'LEVEL_NOT_SUPPORTED' }
    )
  },
  { refused: true }
)

nodeTest('an update fails with the error of the store, and is not repeated', async (t) => {
  const backend = new ArrayBackend()
  const db = await opened(t, new BackendLevel(backend))
  backend.failures = 1
  let calls = 0
  await assert.rejects(
    db.update('a', () => String(++calls)),
    { code: FAILURE }
  )
  assert.ok(calls <= 1)
  backend.failures = 0
})
