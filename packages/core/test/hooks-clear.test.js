// clear() when hook functions with everyWrite see what it deletes.

import assert from 'node:assert/strict'
import { entries, openLevel, test, testOnAll } from './support/databases.js'

async function openUsers(t) {
  const db = await openLevel(t)
  const users = db.sublevel('users', { keyEncoding: 'json' })
  await users.open()
  await users.batch([1, 2, 3].map((key) => ({ type: 'put', key, value: `v${key}` })))
  await db.batch(['a', 'z'].map((key) => ({ type: 'put', key, value: 'v' })))
  return { db, users }
}

function noteDeletions(space) {
  const seen = []
  space.hooks.prewrite.add(
    (operation) => {
      assert.equal(operation.type, 'del')
      seen.push(operation.key)
    },
    { everyWrite: true }
  )
  return () => seen.splice(0)
}

testOnAll('clear() of a sublevel runs its functions and those of its ancestors', async (t) => {
  const { db, users } = await openUsers(t)
  const taken = [noteDeletions(users), noteDeletions(db)]
  await users.clear({ gt: 1 })
  assert.deepEqual(
    taken.map((each) => each()),
    [
      [2, 3],
      ['!users!2', '!users!3']
    ]
  )
  assert.deepEqual(await db.keys().all(), ['!users!1', 'a', 'z'])
})

testOnAll('clear() of the root runs the functions of the sublevels below', async (t) => {
  const { db, users } = await openUsers(t)
  const taken = noteDeletions(users)
  await db.clear({ lt: 'b' })
  assert.deepEqual(taken(), [1, 2, 3])
  assert.deepEqual(await db.keys().all(), ['z'])
})

testOnAll('clear() heeds limit, reverse and snapshot', async (t) => {
  const { db, users } = await openUsers(t)
  const snapshot = db.snapshot()
  await users.put(4, 'v')
  const taken = noteDeletions(users)

  await users.clear({ reverse: true, limit: 2, snapshot })
  assert.deepEqual(taken(), [3, 2])
  await users.clear({ limit: 0 })
  assert.deepEqual(taken(), [])
  await users.clear({ reverse: true, lt: 4 })
  assert.deepEqual(taken(), [1])
  assert.deepEqual(await users.keys().all(), [4])
  await snapshot.close()
})

testOnAll('keys that the encoding of the functions’ sublevel does not make are shown as bytes', async (t) => {
  const db = await openLevel(t)
  const taken = noteDeletions(db.sublevel('a'))
  const odd = Buffer.from([0xff, 0x01])
  await db.put(Buffer.concat([Buffer.from('!a!'), odd]), 'v', { keyEncoding: 'buffer' })
  await db.clear()
  assert.deepEqual(taken(), [odd])
  assert.deepEqual(await db.keys().all(), [])
})

testOnAll('clear() of many keys deletes them in batches with what functions add', async (t) => {
  const db = await openLevel(t)
  const items = db.sublevel('items')
  const index = db.sublevel('index')
  await Promise.all([items.open(), index.open()])
  await items.batch(entries(1000))
  await index.batch(entries(1000))
  items.hooks.prewrite.add(({ key }, batch) => batch.add({ type: 'del', key, sublevel: index }), {
    everyWrite: true
  })

  const cleared = items.clear({ gte: 'key0100' })
  const later = items.put('key0500', 'later')
  assert.equal((await db.keys().all()).length % 2, 0)
  await Promise.all([cleared, later])
  assert.equal((await items.keys().all()).length, 101)
  assert.equal((await index.keys().all()).length, 100)
})

test('a synchronous write finishes a clear() that was called before', async (t) => {
  const db = await openLevel(t)
  const items = db.sublevel('items')
  await items.open()
  const counted = []
  await items.batch(entries(2000))
  items.hooks.prewrite.add(({ key }) => counted.push(key), { everyWrite: true })

  const cleared = [items.clear({ reverse: true }), items.clear()]
  items.putSync('key0001', 'after')
  assert.equal(counted.length, 2001)
  await Promise.all(cleared)
  assert.deepEqual(await items.keys().all(), ['key0001'])
})

test('a function that throws fails clear(), and its batch is left out whole', async (t) => {
  const db = await openLevel(t)
  const items = db.sublevel('items')
  await items.open()
  await items.batch(entries(1000))
  items.hooks.prewrite.add(
    ({ key }) => {
      if (key === 'key0700') throw new Error('keep it')
    },
    { everyWrite: true }
  )

  await assert.rejects(items.clear(), { code: 'LEVEL_HOOK_ERROR' })
  const left = await items.keys().all()
  assert.equal(left.at(-1), 'key0999')
  assert.ok(left[0] <= 'key0700' && left[0] > 'key0400', left[0])

  const cleared = items.clear()
  const failed = assert.rejects(cleared, { code: 'LEVEL_HOOK_ERROR' })
  items.putSync('last', 'v')
  await failed
  await items.put('works', 'still')
})

testOnAll('clear() emits its event as without functions, and no event write', async (t) => {
  const { db, users } = await openUsers(t)
  const events = []
  const listen = (name, space) => {
    space.on('clear', (options) => events.push([name, options.gt]))
    space.on('write', () => events.push([name, 'write']))
  }
  listen('root', db)
  listen('users', users)

  await users.clear({ gt: 2 })
  users.hooks.prewrite.add(() => {}, { everyWrite: true })
  await users.clear({ gt: 1 })
  assert.deepEqual(events, [
    ['root', '!users!2'],
    ['users', 2],
    ['root', '!users!1'],
    ['users', 1]
  ])
})

testOnAll('the event clear does not come after events of writes that were called later', async (t) => {
  const { db, users } = await openUsers(t)
  const events = []
  for (const space of [db, users]) {
    const name = space === db ? '' : 'users '
    space.on('clear', () => events.push(`${name}clear`))
    space.on('write', (operations) => events.push(name + operations.map(({ key }) => key).join()))
  }
  const calls = (key) => {
    const later = db.batch().put(`${key}2`, '').put(`${key}3`, '')
    return [db.put(`${key}1`, ''), users.clear(), later.write(), db.clear(), db.put(`${key}4`, '')]
  }
  const wanted = (key) => [`${key}1`, 'clear', 'users clear', `${key}2,${key}3`, 'clear', `${key}4`]

  db.hooks.prewrite.add(() => {}, { everyWrite: true })
  await Promise.all(calls('a'))
  assert.deepEqual(events.splice(0), wanted('a'))
  // Many keys, and calls that come while these are deleted.
  await db.batch(entries(2000))
  events.length = 0
  await Promise.all([...calls('b'), ...calls('c')])
  assert.deepEqual(events, [...wanted('b'), ...wanted('c')])
})
