// Prewrite hooks: who sees what, in which order, and what happens with errors.

import assert from 'node:assert/strict'
import { turns, until } from '../../../tests/support/waiting.mjs'
import { openLevel, test, testOnAll } from './support/databases.js'

/** Adds functions that note where, and with what, they were called. */
function noteCalls(spaces, options) {
  const calls = []

  for (const [name, space] of Object.entries(spaces)) {
    space.hooks.prewrite.add((operation) => calls.push(`${name}:${operation.key}`), options)
  }

  return () => calls.splice(0)
}

testOnAll('functions see a write deepest first, each in its own terms', async (t) => {
  const db = await openLevel(t)
  const users = db.sublevel('users', { keyEncoding: 'json', valueEncoding: 'json' })
  const seen = []
  db.hooks.prewrite.add((operation) => seen.push({ ...operation }))
  users.hooks.prewrite.add((operation) => seen.push({ ...operation }))

  await users.put([1], { n: 1 }, { mine: true })
  assert.deepEqual(seen, [
    {
      type: 'put',
      key: [1],
      value: { n: 1 },
      mine: true,
      keyEncoding: users.keyEncoding('json'),
      valueEncoding: users.valueEncoding('json')
    },
    {
      type: 'put',
      key: '!users![1]',
      value: '{"n":1}',
      mine: true,
      keyEncoding: db.keyEncoding('utf8'),
      valueEncoding: db.valueEncoding('utf8')
    }
  ])
  assert.equal(await db.get('!users![1]'), '{"n":1}')
})

testOnAll('ancestors see keys of bytes as bytes', async (t) => {
  const db = await openLevel(t)
  const a = db.sublevel('a')
  const bytes = a.sublevel('b', { keyEncoding: 'view', valueEncoding: 'buffer' })
  const seen = []
  db.hooks.prewrite.add((operation) => seen.push(Buffer.from(operation.key).toString('latin1')))
  a.hooks.prewrite.add((operation) => seen.push(Buffer.from(operation.key).toString('latin1')))

  await bytes.put(new Uint8Array([200, 1]), Buffer.from([3]))
  assert.deepEqual(seen, ['!b!\u00c8\u0001', '!a!!b!\u00c8\u0001'])
  assert.deepEqual(await bytes.get(new Uint8Array([200, 1])), Buffer.from([3]))
})

test('a function with everyWrite sees writes through every object of its key space and below', async (t) => {
  const db = await openLevel(t)
  const other = db.sublevel('other')
  const taken = noteCalls({ a: db.sublevel('a') }, { everyWrite: true })
  const a = db.sublevel('a')
  const ab = db.sublevel(['a', 'b'])

  await a.put('1', 'v')
  await a.del('2')
  await a.batch([{ type: 'put', key: '3', value: 'v' }])
  await a.batch().put('4', 'v').del('5').write()
  a.putSync('6', 'v')
  a.delSync('7')
  a.batchSync([{ type: 'del', key: '8' }])
  assert.deepEqual(taken(), ['a:1', 'a:2', 'a:3', 'a:4', 'a:5', 'a:6', 'a:7', 'a:8'])

  await ab.put('1', 'v')
  await a.sublevel('b').put('2', 'v')
  assert.deepEqual(taken(), ['a:!b!1', 'a:!b!2'])

  for (const from of [db, other, ab]) {
    await from.batch([{ type: 'put', key: '1', value: 'v', sublevel: a }])
    await from.batch().put('2', 'v', { sublevel: a }).write()
    from.batchSync([{ type: 'del', key: '3', sublevel: ab }])
    await from.put('4', 'v', { sublevel: a })
    await from.del('5', { sublevel: a })
    assert.deepEqual(taken(), ['a:1', 'a:2', 'a:!b!3', 'a:4', 'a:5'])
  }

  assert.equal(await a.get('4'), 'v')
})

testOnAll(
  'without everyWrite a function sees what is written through its own object, and through those made from it',
  async (t) => {
    const db = await openLevel(t)
    const a = db.sublevel('a')
    const taken = noteCalls({ a, root: db })

    await db.sublevel('a').put('1', 'v')
    await db.sublevel(['a', 'b']).put('2', 'v')
    assert.deepEqual(taken(), ['root:!a!1', 'root:!a!!b!2'])
    await a.put('1', 'v')
    await a.sublevel('b').put('2', 'v')
    assert.deepEqual(taken(), ['a:1', 'root:!a!1', 'a:!b!2', 'root:!a!!b!2'])
    await db.batch([{ type: 'del', key: '3', sublevel: a }])
    await a.batch([{ type: 'del', key: '4', sublevel: a }])
    assert.deepEqual(taken(), ['root:3', 'a:4', 'root:!a!4'])
  }
)

testOnAll('a function with everyWrite does not see what is written to other key spaces', async (t) => {
  const db = await openLevel(t)
  const a = db.sublevel('a')
  const taken = noteCalls({ a }, { everyWrite: true })

  await a.batch([{ type: 'put', key: '1', value: 'v', sublevel: db.sublevel('b') }])
  await db.sublevel('aa').put('2', 'v')
  await db.put('3', 'v')
  assert.deepEqual(taken(), [])
  assert.deepEqual(await db.keys().all(), ['!aa!2', '!b!1', '3'])
})

testOnAll('changes that functions make are seen by the next ones, and written', async (t) => {
  const db = await openLevel(t)
  const a = db.sublevel('a', { valueEncoding: 'json' })
  a.hooks.prewrite.add((operation) => {
    operation.key += '1'
    operation.value = 'text'
    operation.valueEncoding = 'utf8'
    operation.type = 'nothing that may be changed'
  })
  db.hooks.prewrite.add((operation) => {
    assert.deepEqual([operation.type, operation.key, operation.value], ['put', '!a!k1', 'text'])
    operation.key = 'elsewhere'
  })

  await a.put('k', { n: 1 })
  assert.deepEqual(await db.iterator().all(), [['elsewhere', 'text']])
})

testOnAll(
  'functions with everyWrite see what others add, including functions of their own object',
  async (t) => {
    const db = await openLevel(t)
    const users = db.sublevel('users')
    const index = db.sublevel('index')
    const taken = noteCalls({ users, index, root: db }, { everyWrite: true })
    users.hooks.prewrite.add((operation, batch) => {
      batch.add({ type: 'put', key: 'count', value: '1' })
      batch.add({ type: 'put', key: operation.value, value: operation.key, sublevel: index })
    })

    await users.put('1', 'ada')
    assert.deepEqual(taken(), [
      'users:1',
      'root:!users!1',
      'users:count',
      'root:!users!count',
      'index:ada',
      'root:!index!ada'
    ])
    assert.deepEqual(await db.keys().all(), ['!index!ada', '!users!1', '!users!count'])
  }
)

testOnAll('an operation can be added again and again', async (t) => {
  const db = await openLevel(t)
  const log = db.sublevel('log')
  const operation = { type: 'put', key: 'last', value: 'v', sublevel: log }
  db.hooks.prewrite.add((_, batch) => batch.add(operation))

  await db.put('1', 'v')
  await db.put('2', 'v')
  assert.equal(operation.key, 'last')
  assert.deepEqual(await db.keys().all(), ['!log!last', '1', '2'])
})

testOnAll('functions that add operations for each other without end are an error', async (t) => {
  const db = await openLevel(t)
  const a = db.sublevel('a')
  const b = db.sublevel('b')
  const add = (sublevel) => (_, batch) => batch.add({ type: 'put', key: 'x', value: 'v', sublevel })
  a.hooks.prewrite.add(add(b), { everyWrite: true })
  b.hooks.prewrite.add(add(a), { everyWrite: true })

  await assert.rejects(a.put('k', 'v'), (error) => {
    assert.equal(error.code, 'LEVEL_HOOK_ERROR')
    assert.equal(error.cause.code, 'LEVEL_HOOK_RECURSION')
    return true
  })
  assert.deepEqual(await db.keys().all(), [])
})

test('when a function throws nothing is written, in any way of writing', async (t) => {
  const db = await openLevel(t)
  const a = db.sublevel('a')
  const cause = new Error('no')
  a.hooks.prewrite.add((operation, batch) => {
    batch.add({ type: 'put', key: 'added', value: 'v' })
    if (operation.key === 'bad') throw cause
  })
  const operations = ['good', 'bad'].map((key) => ({ type: 'put', key, value: 'v' }))
  const isHookError = (error) => error.code === 'LEVEL_HOOK_ERROR' && error.cause === cause

  await assert.rejects(a.put('bad', 'v'), isHookError)
  await assert.rejects(a.del('bad'), isHookError)
  await assert.rejects(a.batch(operations), isHookError)
  assert.throws(() => a.putSync('bad', 'v'), isHookError)
  assert.throws(() => a.delSync('bad'), isHookError)
  assert.throws(() => a.batchSync(operations), isHookError)

  const chained = a.batch()
  assert.throws(() => chained.put('bad', 'v'), isHookError)
  assert.throws(() => chained.del('bad'), isHookError)
  assert.equal(chained.length, 0)
  await chained.write()
  assert.deepEqual(await db.keys().all(), [])
})

testOnAll('an error in an operation that a function adds fails the call', async (t) => {
  const db = await openLevel(t)
  const other = await openLevel(t)
  const wrong = [
    { type: 'put', key: 'k' },
    { type: 'get', key: 'k' },
    { type: 'del', key: null },
    { type: 'del', key: 'k', sublevel: other.sublevel('s') }
  ]

  for (const operation of wrong) {
    const run = (_, batch) => batch.add(operation)
    db.hooks.prewrite.add(run)
    await assert.rejects(db.put('k', 'v'), { code: 'LEVEL_HOOK_ERROR' })
    db.hooks.prewrite.delete(run)
  }

  assert.deepEqual(await db.keys().all(), [])
})

test('a function that returns a promise is an error, and the rejection of the promise is not reported again', async (t) => {
  const db = await openLevel(t)

  for (const run of [
    async () => {},
    async () => {
      throw new Error('late')
    },
    // biome-ignore lint/suspicious/noThenProperty: a thenable is meant
    () => ({ then: () => {} })
  ]) {
    db.hooks.prewrite.add(run)
    await assert.rejects(db.put('k', 'v'), (error) => {
      assert.equal(error.code, 'LEVEL_HOOK_ERROR')
      assert.match(error.cause.message, /must not return a promise/)
      return true
    })
    assert.throws(() => db.putSync('k', 'v'), { code: 'LEVEL_HOOK_ERROR' })
    db.hooks.prewrite.delete(run)
  }

  assert.deepEqual(await db.keys().all(), [])
})

testOnAll('a function cannot add operations later', async (t) => {
  const db = await openLevel(t)
  let later
  db.hooks.prewrite.add((_, batch) => {
    later = batch
  })
  await db.put('k', 'v')
  assert.throws(() => later.add({ type: 'del', key: 'k' }), { code: 'LEVEL_BATCH_NOT_OPEN' })
})

testOnAll('a function may call for other writes, which come after its own', async (t) => {
  const db = await openLevel(t)
  const a = db.sublevel('a')
  let written
  a.hooks.prewrite.add(() => {
    written ??= db.put('!a!k', 'second')
  })

  await a.put('k', 'first')
  await written
  assert.equal(await a.get('k'), 'second')
})

testOnAll('a function that calls for a write each time leaves the event loop its turn', async (t) => {
  const db = await openLevel(t)
  let calls = 0
  const again = () => {
    calls++
    db.put('again', 'v')
  }
  db.hooks.prewrite.add(again)
  await db.put('k', 'v')
  await until(() => calls > 1, 'the function to be called again')
  db.hooks.prewrite.delete(again)
  await db.put('last', 'v')
  const before = calls
  await turns(5)
  assert.equal(calls, before)
})

testOnAll('a function cannot write synchronously', async (t) => {
  const db = await openLevel(t)
  const a = db.sublevel('a')
  await a.open()
  db.hooks.prewrite.add(() => a.putSync('k', 'v'))
  await assert.rejects(db.put('k', 'v'), (error) => error.cause.code === 'LEVEL_NOT_SUPPORTED')
  assert.deepEqual(await db.keys().all(), [])
})

testOnAll(
  'functions with everyWrite live until they are deleted or their sublevel is closed, and again when it is opened',
  async (t) => {
    const db = await openLevel(t)
    const first = db.sublevel('a')
    await first.open()
    const a = db.sublevel('a')
    const calls = []
    const run = (operation) => calls.push(operation.key)
    first.hooks.prewrite.add(run, { everyWrite: true })
    first.hooks.prewrite.add(run)

    await a.put('1', 'v')
    await first.close()
    await a.put('2', 'v')
    await first.open()
    await a.put('3', 'v')
    first.hooks.prewrite.delete(run)
    await a.put('4', 'v')
    assert.deepEqual(calls, ['1', '3'])
    assert.equal(first.hooks.prewrite.noop, true)
  }
)

testOnAll('functions of a sublevel that was closed before it had opened do not live', async (t) => {
  const db = await openLevel(t)
  const closed = db.sublevel('a')
  const calls = []
  closed.hooks.prewrite.add((operation) => calls.push(operation.key), { everyWrite: true })
  await closed.close()
  await db.sublevel('a').put('1', 'v')
  assert.deepEqual(calls, [])
})

testOnAll('functions that were added before the database has opened see deferred writes', async (t) => {
  const db = await openLevel(t)
  await db.close()
  const opening = db.open()
  const a = db.sublevel('a')
  const taken = noteCalls({ a }, { everyWrite: true })
  await Promise.all([opening, a.put('1', 'v'), db.batch([{ type: 'del', key: '2', sublevel: a }])])
  assert.deepEqual(taken().sort(), ['a:1', 'a:2'])
})

testOnAll(
  'a function can tell which operations are written together: their batch is one object',
  async (t) => {
    const db = await openLevel(t)
    const users = db.sublevel('users')
    const seen = new Map()
    const note = (_operation, batch) => seen.set(batch, (seen.get(batch) ?? 0) + 1)
    db.hooks.prewrite.add(note)
    assert.equal(db.hooks.prewrite.run, note)

    await db.batch([
      { type: 'put', key: 'a', value: '1' },
      { type: 'put', key: 'b', value: '2', sublevel: users },
      { type: 'del', key: 'c' }
    ])
    await users.put('d', '4')
    assert.deepEqual([...seen.values()], [3, 1])
  }
)
