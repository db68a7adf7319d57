// Writes take effect in the order of their calls, whether they are made at once or have to wait.

import assert from 'node:assert/strict'
import { scaled } from '../../../tests/support/form.mjs'
import { entries, openLevel, testOnAll, testOnEngine } from './support/databases.js'

testOnEngine('a write that need not wait is done within the call', async (t) => {
  const db = await openLevel(t)
  const written = db.put('a', '1')
  assert.equal(db.getSync('a'), '1')
  const deleted = db.del('a')
  assert.equal(db.getSync('a'), undefined)
  const batched = db.batch([{ type: 'put', key: 'b', value: '2' }])
  assert.equal(db.getSync('b'), '2')
  await Promise.all([written, deleted, batched])
})

testOnEngine('a read that memory can answer is done within the call', async (t) => {
  const db = await openLevel(t)
  await db.put('a', '1')

  assert.equal(db._get('a', { valueEncoding: 'utf8' }), '1')
  assert.deepEqual(db._get('a', { valueEncoding: 'buffer' }), Buffer.from('1'))
  assert.equal(db._get('b', { valueEncoding: 'utf8' }), undefined)
  assert.equal(db._has('a', {}), true)
  assert.deepEqual(db._getMany(['a', 'b'], { valueEncoding: 'utf8' }), ['1', undefined])
  assert.deepEqual(db._hasMany(['a', 'b'], {}), [true, false])
})

testOnAll('a synchronous write does not hold up the event loop', async (t) => {
  const db = await openLevel(t)
  const result = db._put('a', '1', { sync: true })
  assert.ok(result instanceof Promise)
  await result
  assert.equal(await db.get('a'), '1')
})

testOnAll('writes after one that waits wait, too', async (t) => {
  const db = await openLevel(t)
  const waiting = db.put('a', 'first', { sync: true })
  const behind = db.put('a', 'second')
  await Promise.all([waiting, behind])

  assert.equal(await db.get('a'), 'second')
})

testOnAll('a clear deletes what was written before it, and nothing that is written after it', async (t) => {
  const db = await openLevel(t)
  await db.batch(entries(5000))

  const calls = [
    db.put('before', '1', { sync: true }),
    db.clear(),
    db.put('key0001', 'after'),
    db.batch([{ type: 'put', key: 'key4999', value: 'after' }]),
    db.clear({ gte: 'key4' }),
    db.put('last', 'after')
  ]

  await Promise.all(calls)
  assert.deepEqual(await db.iterator().all(), [
    ['key0001', 'after'],
    ['last', 'after']
  ])
})

testOnAll('the last of many writes to a key wins', async (t) => {
  const db = await openLevel(t, { writeBufferSize: 65536 })
  const model = new Map()
  const promises = []
  let state = 1

  // A small seeded generator, so that a failure can be reproduced.
  const random = (n) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    return (state >> 8) % n
  }

  for (let i = 0; i < scaled(20_000, 4000); i++) {
    const key = `key${random(200)}`
    const value = `${i}`.padEnd(random(200), '.')
    const options = { sync: random(100) === 0 }

    switch (random(20)) {
      case 0:
        promises.push(db.del(key, options))
        model.delete(key)
        break
      case 1: {
        const other = `key${random(200)}`
        promises.push(
          db.batch(
            [
              { type: 'put', key, value },
              { type: 'del', key: other }
            ],
            options
          )
        )
        model.set(key, value)
        model.delete(other)
        break
      }
      case 2:
        if (random(20) === 0) {
          promises.push(db.clear({ gte: key, limit: 5 }))
          for (const found of [...model.keys()]
            .sort()
            .filter((other) => other >= key)
            .slice(0, 5)) {
            model.delete(found)
          }
        }
        break
      case 3:
        promises.push(db.batch().put(key, value).write(options))
        model.set(key, value)
        break
      default:
        promises.push(db.put(key, value, options))
        model.set(key, value)
    }
  }

  await Promise.all(promises)
  const expected = [...model].sort(([a], [b]) => (a < b ? -1 : 1))
  assert.deepEqual(await db.iterator().all(), expected)
  await db.close()
  await db.open()
  assert.deepEqual(await db.iterator().all(), expected)
})
