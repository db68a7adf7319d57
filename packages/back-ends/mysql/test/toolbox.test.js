// Parts of the toolbox over a database in MariaDB, and a server before it. tests/back-ends runs the whole tests of the toolbox over it.

import assert from 'node:assert/strict'
import { MAX_KEY_SIZE_BYTES } from 'terrace-mysql'
import { count } from 'terrace-toolbox/feed'
import { index } from 'terrace-toolbox/index'
import { testToolbox } from '../../../../tests/support/back-ends/toolbox.mjs'
import { openLevel, test } from './support/databases.js'

const openAlone = (t) => openLevel(t, { shared: false })
testToolbox({ test, openLevel: openAlone, longestBytes: MAX_KEY_SIZE_BYTES })

test('an index and a count, whose hooks wait for what they read, and a shared database, which is refused', async (t) => {
  const users = (await openLevel(t, { shared: false })).sublevel('users', { valueEncoding: 'json' })
  const byCity = index(users, { name: 'city', on: 'city' })
  const cities = count(users, { name: 'cities', of: (_, { city }) => city })
  await Promise.all([byCity.ready, cities.ready()])
  await Promise.all(Array.from({ length: 60 }, (_, i) => users.put(`k${i % 30}`, { city: `city ${i % 7}` })))
  assert.deepEqual(await byCity.verify(), { records: 30, entries: 30, missing: 0, stale: 0, wrong: 0 })
  assert.deepEqual(await cities.verify(), [])

  const shared = await openLevel(t)
  assert.throws(() => index(shared, { name: 'city', on: 'city' }), { code: 'TOOLBOX_SHARED' })
  shared.hooks.prewrite.add(() => shared.getSync('k'))
  await assert.rejects(shared.put('k', 'v'), ({ cause }) => cause.code === 'LEVEL_NOT_SUPPORTED')
})
