// Parts of the toolbox over a database of SlateDB, and a server before it. tests/back-ends runs the whole tests of the toolbox over it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_KEY_SIZE_BYTES } from 'terrace-slatedb'
import { count, feed } from 'terrace-toolbox/feed'
import { index } from 'terrace-toolbox/index'
import { testToolbox } from '../../../../tests/support/back-ends/toolbox.mjs'
import { openLevel } from './support/databases.js'

testToolbox({ test, openLevel, longestBytes: MAX_KEY_SIZE_BYTES })

test('an index, a count and a feed, whose hooks wait for what they read', async (t) => {
  const users = (await openLevel(t)).sublevel('users', { valueEncoding: 'json' })
  const byCity = index(users, { name: 'city', on: 'city' })
  const cities = count(users, { name: 'cities', of: (_, { city }) => city })
  const changes = feed(users, { oldValues: true })
  await Promise.all([byCity.ready, cities.ready()])

  for (const moved of [0, 1]) {
    const city = (i) => `city ${(i + moved) % 10}`
    await Promise.all(Array.from({ length: 100 }, (_, i) => users.put(`k${i}`, { city: city(i) })))
    assert.deepEqual(await byCity.verify(), { records: 100, entries: 100, missing: 0, stale: 0, wrong: 0 })
    assert.deepEqual(await cities.verify(), [])
  }
  await users.clear()
  assert.equal(await cities.get('city 1'), 0)
  assert.equal(await changes.lastSequence(), 300)
})
