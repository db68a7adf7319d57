// A server that hangs, and one that is gone for a while. Long, because hangs last until a deadline in real time.

import assert from 'node:assert/strict'
import { HANG_MS } from '../../../../tests/support/waiting.mjs'
import { startServer } from './cluster/index.js'
import { newLevel, newName, openLevel, openMadeLevel, pause, test } from './support/databases.js'
import { UNSYNCED } from './support/server.js'

const deadline = { code: 'LEVEL_DEADLINE' }
/** The duration of each hang, and the limit for calls that work. */
const SHORT_MS = 3000

/** A server without synced commits, since a hang loses no data. */
async function startUnsynced(t) {
  const server = await startServer({ args: UNSYNCED })
  t.after(() => server.stop())
  return server
}

test('operations on a server that hangs fail by their deadline, and later ones work again', async (t) => {
  const server = await startUnsynced(t)
  const db = await openMadeLevel(t, { deadlineMs: SHORT_MS }, server.url)
  await db.put('key', 'before')
  const snapshot = db.snapshot()
  assert.equal(await db.get('key', { snapshot }), 'before')
  const iterator = db.iterator({ highWaterMarkBytes: 1 })
  await iterator.next()

  server.suspend()
  const reads = [db.get('key'), db.getMany(['key']), db.iterator().all()]
  for (const read of reads) {
    await assert.rejects(read, ({ code }) => ['LEVEL_DEADLINE', 'LEVEL_UNAVAILABLE'].includes(code))
  }
  await assert.rejects(db.get('key', { snapshot }), deadline)
  server.resume()

  assert.equal(await db.get('key'), 'before')
  await assert.rejects(db.get('key', { snapshot }), { code: 'LEVEL_SNAPSHOT_LOST' })
  await snapshot.close()
  await iterator.close()
})

test('a commit that hangs is of unknown fate; it is decided before anything is written after it', async (t) => {
  const options = { name: newName(), deadlineMs: SHORT_MS }
  const server = await startUnsynced(t)
  const db = await openMadeLevel(t, options, server.url)
  await db.put('key', 'before')

  server.suspend()
  const write = db.put('key', 'hung')
  const later = db.put('later', 'value')
  await assert.rejects(write, { code: 'LEVEL_COMMIT_UNKNOWN' })
  await assert.rejects(later)
  await assert.rejects(db.put('other', 'value'), { code: 'LEVEL_COMMIT_UNKNOWN' })
  const other = await newLevel(t, options, server.url)
  await assert.rejects(other.open(), ({ cause }) =>
    ['LEVEL_COMMIT_UNKNOWN', 'LEVEL_UNAVAILABLE'].includes(cause.code)
  )
  server.resume()

  await other.open()
  const found = await other.get('key')
  assert.ok(['before', 'hung'].includes(found))
  await other.put('key', 'newer')
  await pause(300)
  assert.equal(await other.get('key'), 'newer')
  assert.equal(await other.get('other'), undefined)
  await db.close()
  await db.open()
  await db.put('key', 'newest')
  assert.equal(await other.get('key'), 'newest')
})

test('a server that is killed is connected to again; its snapshots are lost, and no acknowledged write', async (t) => {
  const server = await startServer()
  t.after(() => server.stop())
  // A recovering server takes long to serve again.
  const db = await openLevel(t, { deadlineMs: HANG_MS }, server.url)
  const counts = { acknowledged: 0, failed: 0, kills: 0, missing: 0, late: 0 }
  let isWriting = true
  const acknowledged = new Map(['a', 'b', 'c', 'd'].map((writer) => [writer, []]))
  const writers = [...acknowledged.keys()].map(async (writer) => {
    for (let number = 0; isWriting; number++) {
      const operations = [`${writer}-same`, `${writer}-${number}`].map((key) => ({
        type: 'put',
        key,
        value: `${number}`
      }))
      try {
        await db.batch(operations)
        acknowledged.get(writer).push(number)
        counts.acknowledged++
      } catch (error) {
        counts.failed++
        if (error.code === 'LEVEL_COMMIT_UNKNOWN') {
          // The first writer to notice it reopens the database.
          if (db.status === 'open') await db.close()
          if (db.status === 'closed') await db.open().catch(() => {})
        }
        await pause(10)
      }
    }
  })
  for (; counts.kills < Number(process.env.TERRACE_KILLS ?? 5); counts.kills++) {
    const snapshot = db.snapshot()
    await db.get('a-same', { snapshot })
    await pause(100 + Math.random() * 200)
    await server.kill()
    await server.start()
    await assert.rejects(db.get('a-same', { snapshot }), { code: 'LEVEL_SNAPSHOT_LOST' })
    await snapshot.close().catch(() => {})
    const before = [...acknowledged].map(([writer, numbers]) => [writer, [...numbers]])
    const entries = new Map(await db.iterator().all())
    for (const [writer, numbers] of before) {
      if (numbers.length === 0) continue
      if (!(Number(entries.get(`${writer}-same`)) >= numbers.at(-1))) counts.late++
      counts.missing += numbers.filter((number) => !entries.has(`${writer}-${number}`)).length
    }
  }
  isWriting = false
  await Promise.all(writers)
  // Without its server, it would retry until its deadline.
  await db.close()
  t.diagnostic(JSON.stringify(counts))
  assert.equal(counts.late, 0)
  assert.equal(counts.missing, 0)
  assert.ok(counts.acknowledged > 0)
})
