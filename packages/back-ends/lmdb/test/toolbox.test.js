// The toolbox over a database in LMDB, and a server before it. The whole tests of the toolbox run over LMDB in test/common.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_KEY_SIZE_BYTES } from 'terrace-lmdb'
import { feed } from 'terrace-toolbox/feed'
import { index } from 'terrace-toolbox/index'
import { transactions } from 'terrace-toolbox/transaction'
import { ttl } from 'terrace-toolbox/ttl'
import { testToolbox } from '../../../../tests/support/back-ends/toolbox.mjs'
import { until } from '../../../../tests/support/waiting.mjs'
import { openLevel } from './support/databases.js'

test('an index, a feed, a transaction and entries that expire work together', async (t) => {
  const db = await openLevel(t)
  const users = db.sublevel('users', { valueEncoding: 'json' })
  const changes = feed(db)
  const byCity = index(users, { name: 'city', on: 'city', unique: true })
  const transaction = transactions(db)

  await users.put('ann', { city: 'Oslo' })
  await transaction(async (tx) => {
    tx.put('count', `${Number((await tx.get('count')) ?? 0) + 1}`)
  })
  assert.deepEqual(await byCity.get('Oslo'), { city: 'Oslo' })
  assert.equal(await db.get('count'), '1')

  const sessions = ttl(db.sublevel('sessions'), { defaultTtlMs: 1 })
  await sessions.put('id', 'ann')
  await until(async () => (await sessions.get('id')) === undefined)

  const seen = []
  for await (const { key } of changes.read()) seen.push(key)
  assert.ok(seen.includes('count') && seen.some((key) => key.includes('ann')))
})

testToolbox({ test, openLevel, longestBytes: MAX_KEY_SIZE_BYTES })
