// Transactions of two nodes that conflict: what one of them gets acknowledged is there. Long, because a cluster takes its time
// to start, and many batches must meet.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MysqlLevel } from 'terrace-mysql'
import { HANG_MS } from '../../../../tests/support/waiting.mjs'
import { clusterMissing, startCluster } from './cluster/index.js'

/** How many batches each writer on two nodes writes to the same keys. Without care, some of a thousand are lost. */
const BATCHES = 250
const KEYS = 10

test('batches that conflict with those of another node are not acknowledged and lost', {
  skip: clusterMissing() ?? false
}, async (t) => {
  const cluster = await startCluster({ size: 2 })
  t.after(() => cluster.stop())
  const dbs = [0, 0, 1, 1].map(
    (index) => new MysqlLevel(cluster.nodes[index].url, { poolSize: 8, deadlineMs: HANG_MS })
  )
  t.after(() => Promise.all(dbs.map((db) => db.close())))
  for (const db of dbs) await db.open()

  const acknowledged = []
  const write = async (db, writer) => {
    for (let number = 0; number < BATCHES; number++) {
      const value = `${writer}.${number}`
      const common = Array.from({ length: KEYS }, (_, i) => ({ type: 'put', key: `common/${i}`, value }))
      await db.batch([{ type: 'put', key: `own/${value}`, value }, ...common])
      acknowledged.push(`own/${value}`)
    }
  }
  await Promise.all(dbs.map(write))

  const found = new Set(await dbs[0].keys({ gte: 'own/', lt: 'own0' }).all())
  t.diagnostic(`${acknowledged.length} batches`)
  assert.equal(acknowledged.length, 4 * BATCHES)
  assert.deepEqual(
    acknowledged.filter((key) => !found.has(key)),
    []
  )
  assert.equal(new Set(await dbs[1].values({ gte: 'common/', lt: 'common0' }).all()).size, 1)
})
