// The order of writes, and writers beside each other.

import assert from 'node:assert/strict'
import { testWrites } from '../../../../tests/support/back-ends/writes.mjs'
import { newName, openLevel, test, theServer } from './support/databases.js'

testWrites({ test, openLevel })

test('a clear of many keys leaves those of other databases in the table', async (t) => {
  const db = await openLevel(t)
  const neighbour = await openLevel(t)
  await neighbour.put('k2000', '')
  const keys = Array.from({ length: 5000 }, (_, i) => `k${String(i).padStart(4, '0')}`)
  await db.batch(keys.map((key) => ({ type: 'put', key, value: 'value' })))
  await db.clear({ limit: 1500 })
  await db.clear({ reverse: true, limit: 1200, lt: 'k4900' })
  const snapshot = db.snapshot()
  await db.clear({ snapshot })
  await snapshot.close()
  assert.deepEqual(await db.keys().all(), [])
  assert.equal(await neighbour.has('k2000'), true)
})

test('writers of the same keys in other orders do not tear or fail each other', async (t) => {
  const name = newName()
  const writers = []
  for (let i = 0; i < 4; i++) writers.push(await openLevel(t, { name }))
  const keys = Array.from({ length: 30 }, (_, i) => `k${i}`)
  await Promise.all(
    writers.map(async (db, writer) => {
      for (let round = 0; round < 30; round++) {
        const operations = keys.map((_, i) => ({
          type: 'put',
          key: keys[(i * 7 + writer) % 30],
          value: `${writer}-${round}`
        }))
        // Deletions come after other keys, so that locks are taken crosswise.
        operations.push(
          { type: round % 2 ? 'del' : 'put', key: `a${writer % 2}`, value: '' },
          { type: 'del', key: `a${(writer + 1) % 2}` }
        )
        await db.batch(operations)
        const values = new Set(await writers[(writer + 1) % 4].values({ gte: 'k' }).all())
        assert.equal(values.size, 1, 'a torn batch')
      }
    })
  )
})

test('puts that wait at the same time share transactions, in order', async (t) => {
  const server = await theServer()
  const db = await openLevel(t)
  const commits = async () => Number((await server.query("SHOW GLOBAL STATUS LIKE 'Com_commit'"))[0].Value)
  const before = await commits()
  await Promise.all(Array.from({ length: 5000 }, (_, i) => db.put(`k${i % 50}`, `${i}`)))
  assert.ok((await commits()) - before < 500)
  assert.deepEqual(
    new Set((await db.iterator().all()).map(([, value]) => Number(value) >= 4950)),
    new Set([true])
  )
})
