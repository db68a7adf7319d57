// What a hook function reads: every earlier write, stored or not.

import assert from 'node:assert/strict'
import { scaled } from '../../../tests/support/form.mjs'
import { stepsOf } from '../../../tests/support/steps.mjs'
import { turns } from '../../../tests/support/waiting.mjs'
import { openLevel, test, testHookReads, testOnAll, testOnEngine, writesAtOnce } from './support/databases.js'

const code = new URL('../dist/', import.meta.url)

/** Counts writes in the key `count` of the sublevel `counts`, by reading the last count. */
function countWrites(space, counts) {
  space.hooks.prewrite.add(
    (_, batch) => {
      const count = Number(counts.getSync('count') ?? 0)
      batch.add({ type: 'put', key: 'count', value: String(count + 1), sublevel: counts })
    },
    { everyWrite: true }
  )
}

/** Indexes users by name, and drops stale entries of the index. */
function indexNames(users, names) {
  users.hooks.prewrite.add(
    (operation, batch) => {
      const old = users.getSync(operation.key)
      if (old !== undefined) batch.add({ type: 'del', key: `${old}!${operation.key}`, sublevel: names })
      if (operation.type === 'del') return
      batch.add({ type: 'put', key: `${operation.value}!${operation.key}`, value: '', sublevel: names })
    },
    { everyWrite: true }
  )
}

/** What the index must contain. */
async function expectedNames(users) {
  return (await users.iterator().all()).map(([key, name]) => `${name}!${key}`).sort()
}

testOnEngine('64 concurrent writes with sync count exactly, and share syncs', async (t) => {
  const db = await openLevel(t)
  const items = db.sublevel('items')
  const counts = db.sublevel('counts')
  await counts.open()
  countWrites(items, counts)

  for (let round = 1; round <= 4; round++) {
    const before = db.stats().lastSequence
    await Promise.all(Array.from({ length: 64 }, (_, i) => items.put(`k${i}`, 'v', { sync: true })))
    assert.equal(await counts.get('count'), String(64 * round))
    assert.equal(db.stats().lastSequence - before, 128)
    // The first of them is written alone, and then all others at once; later all of them are.
    assert.ok(db.namespace.store.writes <= round + 1, String(db.namespace.store.writes))
  }
})

testHookReads(
  'an index stays right under concurrent writes of the same keys, in every way of writing',
  async (t) => {
    const db = await openLevel(t)
    const users = db.sublevel('users')
    const names = db.sublevel('names')
    await Promise.all([users.open(), names.open()])
    indexNames(users, names)

    const written = []
    let seed = 1
    const random = (end) => {
      seed = (seed * 48271) % 0x7fffffff
      return seed % end
    }

    for (let i = 0; i < scaled(600, 200); i++) {
      const key = `k${random(5)}`
      const value = `name${random(4)}`
      const options = { sync: random(4) === 0 }
      const way = random(9)

      if (way === 0) written.push(users.put(key, value, options))
      if (way === 1) written.push(users.del(key, options))
      if (way === 2 && writesAtOnce(db)) users.putSync(key, value)
      if (way === 3) written.push(db.batch([{ type: 'put', key, value, sublevel: users }], options))
      if (way === 4) written.push(users.batch().put(key, value).del('k0').write(options))
      if (way === 5) written.push(db.put(`unhooked${key}`, value, options))
      if (way === 6 && random(4) === 0) written.push(users.clear({ gte: key }))
      if (way === 7) {
        const operations = ['x', 'x', 'y'].map((key, n) => ({ type: 'put', key, value: `${value}${n}` }))
        written.push(users.batch(operations, options))
      }
      if (way === 8 && random(8) === 0) await turns(random(3))
    }

    await Promise.all(written)
    assert.deepEqual(await names.keys().all(), await expectedNames(users))
  }
)

test('a function reads the earlier operations of its batch, also what was added for them', async (t) => {
  const db = await openLevel(t)
  await db.put('a', 'old')
  const seen = []
  db.hooks.prewrite.add((operation, batch) => {
    seen.push([operation.key, db.getSync('a'), db.getSync('added')])
    batch.add({ type: 'put', key: 'added', value: operation.key })
  })

  const operations = [
    { type: 'put', key: 'a', value: 'new' },
    { type: 'del', key: 'a' },
    { type: 'put', key: 'b', value: 'v' }
  ]
  await db.batch(operations)
  assert.deepEqual(seen.splice(0), [
    ['a', 'old', undefined],
    ['a', 'new', 'a'],
    ['b', undefined, 'a']
  ])

  await db.put('a', 'old')
  await db.del('added')
  seen.length = 0
  await db.batch().put('a', 'new').del('a').put('b', 'v').write()
  assert.deepEqual(seen.slice(0, 3), [
    ['a', 'old', 'added'].with(2, seen[0][2]),
    ['a', 'new', 'a'],
    ['b', undefined, 'a']
  ])
})

testHookReads('a function reads values of its batch in the format that it asks for', async (t) => {
  const db = await openLevel(t)
  const json = db.sublevel('j', { valueEncoding: 'json' })
  await json.open()
  const seen = []
  json.hooks.prewrite.add(({ key }) => {
    if (key !== 'last') return
    seen.push(json.getSync('é'), db.getSync('!j!é'))
    seen.push(db.getSync(Buffer.from('!j!é'), { keyEncoding: 'buffer', valueEncoding: 'buffer' }))
    seen.push(db.getSync(Buffer.from('!j!bytes'), { keyEncoding: 'view' }))
  })

  await json.batch([
    { type: 'put', key: 'é', value: { name: 'ü' } },
    {
      type: 'put',
      key: Buffer.from('bytes'),
      keyEncoding: 'buffer',
      value: Buffer.from('ü'),
      valueEncoding: 'buffer'
    },
    { type: 'put', key: 'last', value: 1 }
  ])
  assert.deepEqual(seen, [{ name: 'ü' }, '{"name":"ü"}', Buffer.from('{"name":"ü"}'), 'ü'])
})

testHookReads('a function reads from an explicit snapshot what that has', async (t) => {
  const db = await openLevel(t)
  await db.put('a', 'old')
  const snapshot = db.snapshot()
  const seen = []
  db.hooks.prewrite.add(() => seen.push(db.getSync('a', { snapshot })))
  await db.batch([
    { type: 'put', key: 'a', value: 'new' },
    { type: 'put', key: 'b', value: 'v' }
  ])
  assert.deepEqual(seen, ['old', 'old'])
})

testHookReads(
  'an operation on the key of one that was added before it wins, both in reads and in the write',
  async (t) => {
    const db = await openLevel(t)
    const users = db.sublevel('users')
    const names = db.sublevel('names')
    await Promise.all([users.open(), names.open()])
    indexNames(users, names)
    const addGuest = ({ key, sublevel }, batch) => {
      if (sublevel == null && key.startsWith('guest'))
        batch.add({ type: 'put', key, value: 'nobody', sublevel: users })
    }

    // What a function with everyWrite adds comes right after the operation that it saw. What another function adds comes at the
    // end.
    for (const [everyWrite, last] of [
      [true, 'grace'],
      [false, 'nobody']
    ]) {
      db.hooks.prewrite.add(addGuest, { everyWrite })
      await db.batch([
        { type: 'put', key: 'guest1', value: 'v' },
        { type: 'put', key: 'guest1', value: 'ada', sublevel: users },
        { type: 'put', key: 'guest1', value: 'v' },
        { type: 'put', key: 'guest1', value: 'grace', sublevel: users }
      ])
      assert.equal(await users.get('guest1'), last)
      assert.deepEqual(await names.keys().all(), await expectedNames(users))
      db.hooks.prewrite.delete(addGuest)
    }
  }
)

testHookReads(
  'a function with everyWrite of the root sees all writes in the order in which they take effect',
  async (t) => {
    const db = await openLevel(t)
    const spaces = [db.sublevel('a'), db.sublevel('b'), db.sublevel(['a', 'c'])]
    await Promise.all(spaces.map((space) => space.open()))
    const mirror = new Map()
    db.hooks.prewrite.add(
      ({ type, key, value }) => {
        if (type === 'put') mirror.set(key, value)
        else mirror.delete(key)
      },
      { everyWrite: true }
    )

    let seed = 7
    const random = (end) => {
      seed = (seed * 48271) % 0x7fffffff
      return seed % end
    }
    const key = () => `k${random(6)}`

    for (const [index, space] of spaces.entries()) {
      space.hooks.prewrite.add(
        (operation, batch) => {
          if (operation.type === 'put' && random(3) === 0)
            operation.value += `+${space.getSync(key())?.length ?? 0}`
          if (random(4) === 0)
            batch.add({ type: 'put', key: key(), value: 'added', sublevel: spaces[random(3)] })
          if (random(4) === 0) batch.add({ type: 'del', key: key() })
        },
        { everyWrite: index !== 1 }
      )
    }

    const written = []
    for (let i = 0; i < scaled(2000, 600); i++) {
      const space = spaces[random(3)]
      const operations = Array.from({ length: random(5) }, (_, n) => {
        const operation =
          random(3) === 0 ? { type: 'del', key: key() } : { type: 'put', key: key(), value: `v${i}.${n}` }
        return random(3) === 0 ? { ...operation, sublevel: spaces[random(3)] } : operation
      })
      const options = { sync: random(20) === 0 }
      const way = random(6)

      if (way === 0) written.push(space.put(key(), `v${i}`, options))
      if (way === 1) written.push(space.batch(operations, options))
      if (way === 2) written.push(db.batch(operations, options))
      if (way === 3 && writesAtOnce(db)) space.batchSync(operations)
      if (way === 4) written.push(space.del(key(), options))
      if (way === 5 && random(10) === 0) written.push(space.clear({ gte: key(), limit: random(3) }))
      if (random(50) === 0) await turns(2)
    }

    const results = await Promise.allSettled(written)
    assert.deepEqual(
      results.flatMap(({ reason }) => (reason === undefined ? [] : [reason.cause?.code])),
      []
    )
    assert.deepEqual(
      await db.iterator().all(),
      [...mirror].sort(([a], [b]) => (a < b ? -1 : 1))
    )
  }
)

testHookReads('a function for an operation that was added does not read that operation', async (t) => {
  const db = await openLevel(t)
  const items = db.sublevel('items')
  const added = db.sublevel('added')
  await Promise.all([items.open(), added.open()])
  await added.put('last', '0')
  const seen = []
  items.hooks.prewrite.add(({ key }, batch) =>
    batch.add({ type: 'put', key: 'last', value: key, sublevel: added })
  )
  added.hooks.prewrite.add(({ key }) => seen.push(added.getSync(key)), { everyWrite: true })

  await items.batch(['1', '2', '3'].map((key) => ({ type: 'put', key, value: 'v' })))
  assert.deepEqual(seen, ['0', '1', '2'])
})

testHookReads(
  'a call whose function throws is left out whole, and those beside it are written',
  async (t) => {
    const db = await openLevel(t)
    const items = db.sublevel('items')
    const counts = db.sublevel('counts')
    await counts.open()
    countWrites(items, counts)
    items.hooks.prewrite.add(({ key }) => {
      if (key.endsWith('3')) throw new Error('no threes')
    })

    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) =>
        items.batch(
          [`a${i}`, `b${i}`].map((key) => ({ type: 'put', key, value: 'v' })),
          { sync: true }
        )
      )
    )
    assert.deepEqual(
      results.flatMap(({ status, reason }, i) => (status === 'rejected' ? [[i, reason.code]] : [])),
      [
        [3, 'LEVEL_HOOK_ERROR'],
        [13, 'LEVEL_HOOK_ERROR']
      ]
    )
    assert.equal((await items.keys().all()).length, 36)
    assert.equal(await counts.get('count'), '36')
  }
)

/** How many items arrays move or copy meanwhile, which takes no step of the code that has them do so. */
async function itemsMovedBy(run) {
  const { shift, unshift, splice, slice } = Array.prototype
  let moved = 0
  const counting = (method) =>
    function (...args) {
      const result = method.apply(this, args)
      moved += method === slice ? result.length : this.length
      return result
    }
  for (const method of [shift, unshift, splice, slice]) Array.prototype[method.name] = counting(method)
  try {
    await run()
  } finally {
    Object.assign(Array.prototype, { shift, unshift, splice, slice })
  }
  return moved
}

test('a hundred thousand writes can wait, and take effect in their order', async (t) => {
  const db = await openLevel(t)
  let runs = 0
  db.hooks.prewrite.add((operation) => {
    runs++
    operation.value += `,${db.getSync(operation.key)?.split(',')[0]}`
  })

  const count = scaled(100_000, 20_000)
  let steps
  let runsWithinCalls
  const moved = await itemsMovedBy(async () => {
    steps = await stepsOf(code, async () => {
      const written = [db.put('first', 'v', { sync: true })]
      for (let i = 0; i < count; i++) written.push(db.put(`k${i % 100}`, String(i)))
      runsWithinCalls = runs
      await Promise.all(written)
    })
  })

  // Each takes about a hundred steps, and a back-end may move the hundred keys. If either grew with the square of the number of
  // writes, it would be tens of thousands.
  t.diagnostic(`${steps} steps, ${moved} items moved, ${db.namespace.store.writes} writes`)
  assert.equal(runs, count + 1)
  assert.ok(steps < 500 * count, `${steps} steps`)
  assert.ok(moved < 500 * count, `${moved} items moved`)
  // Where the first one is done when its call returns, none waits.
  if (runsWithinCalls <= count) {
    assert.ok(db.namespace.store.writes < count / 500, `${db.namespace.store.writes} writes`)
  }
  assert.equal(await db.get('k7'), `${count - 93},${count - 193}`)
})

test('of calls that wait together, one that cannot be written fails alone', async (t) => {
  const db = await openLevel(t)
  const items = db.sublevel('items')
  const counts = db.sublevel('counts')
  await counts.open()
  countWrites(items, counts)
  const tooLong = 'k'.repeat((64 << 20) + 1)

  const results = await Promise.allSettled(
    ['a', 'b', tooLong, 'c', 'd'].map((key) => items.put(key, 'v', { sync: true }))
  )
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled']
  )
  assert.equal(results[2].reason.code, 'LEVEL_INVALID_ARGUMENT')
  assert.deepEqual(await items.keys().all(), ['a', 'b', 'c', 'd'])
  assert.equal(await counts.get('count'), '4')

  const more = await Promise.allSettled(['e', tooLong, 'f'].map((key) => items.put(key, 'v', { sync: true })))
  assert.equal(more.filter(({ status }) => status === 'fulfilled').length, 2)
  assert.equal(await counts.get('count'), '6')
})

testOnAll('a write that waits has the bytes that it was called with', async (t) => {
  const db = await openLevel(t)
  db.hooks.prewrite.add(() => {})
  const key = Buffer.from('a')
  const value = Buffer.from('1')
  const options = { keyEncoding: 'buffer', valueEncoding: 'buffer' }

  const first = db.put('first', 'v', { sync: true })
  const second = db.put(key, value, options)
  key.write('b')
  value.write('2')
  await Promise.all([first, second])
  assert.deepEqual(await db.iterator().all(), [
    ['a', '1'],
    ['first', 'v']
  ])
})

testOnAll('writes keep the order of their calls, whether functions see them or not', async (t) => {
  const db = await openLevel(t)
  const a = db.sublevel('a')
  await a.open()
  a.hooks.prewrite.add(() => {})

  for (let round = 0; round < scaled(20, 8); round++) {
    const written = [
      a.put('k', '1', { sync: true }),
      a.put('k', '2'),
      db.batch([{ type: 'put', key: 'k', value: '3', sublevel: a }]),
      db.put('!a!k', '4'),
      a.batch().put('k', '5').write(),
      db.batch().put('!a!k', '6').write(),
      a.clear(),
      db.put('!a!k', '7'),
      a.put('k', '8')
    ]
    const isAtOnce = round % 2 === 0 && writesAtOnce(db)
    if (isAtOnce) a.putSync('k', '9')
    await Promise.all(written)
    assert.equal(await a.get('k'), isAtOnce ? '9' : '8')
  }
})

testOnAll('what waits is written before the database or the sublevel is closed', async (t) => {
  const db = await openLevel(t)
  const a = db.sublevel('a')
  const seen = []
  await a.open()
  a.hooks.prewrite.add(({ key }) => seen.push(key))

  const written = [a.put('1', 'v', { sync: true }), a.put('2', 'v'), a.put('3', 'v')]
  await a.close()
  await a.open()
  written.push(a.put('4', 'v', { sync: true }), a.put('5', 'v'))
  await db.close()
  await Promise.all(written)
  await db.open()
  assert.deepEqual(await db.keys().all(), ['!a!1', '!a!2', '!a!3', '!a!4', '!a!5'])
  assert.deepEqual(seen, ['1', '2', '3', '4', '5'])
})

testHookReads(
  'a chained batch whose functions read runs them again if something was written meanwhile',
  async (t) => {
    const db = await openLevel(t)
    const counts = db.sublevel('counts')
    await counts.open()
    countWrites(db.sublevel('items'), counts)
    const items = db.sublevel('items')
    await items.open()

    const first = items.batch().put('a', 'v')
    const second = items.batch().put('b', 'v').put('c', 'v')
    await items.put('d', 'v')
    await Promise.all([first.write({ sync: true }), second.write()])
    assert.equal(await counts.get('count'), '4')
  }
)
