// Hook functions that read over a back-end which cannot read within a call: they are stopped there, and called again.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BackendLevel } from 'terrace-core'
import { ArrayBackend, FAILURE } from './support/array-backend.js'
import { entries, opened } from './support/databases.js'

/** A database over an array that answers later. */
async function openArray(t, options) {
  const backend = new ArrayBackend({ seed: 1, ...options })
  return { backend, db: await opened(t, new BackendLevel(backend)) }
}

async function withSublevels(t, options) {
  const { backend, db } = await openArray(t, options)
  const [users, names] = [db.sublevel('users'), db.sublevel('names')]
  await Promise.all([users.open(), names.open()])
  return { backend, db, users, names }
}

/** Counts writes in the key `count` of the sublevel `names`. */
function countIn(names) {
  return (_, batch) => {
    const count = Number(names.getSync('count') ?? 0)
    batch.add({ type: 'put', key: 'count', value: String(count + 1), sublevel: names })
  }
}

/** Keeps in `names` which users have a name, as an index does. */
function indexIn(users, names) {
  return (operation, batch) => {
    const old = users.getSync(operation.key)
    if (old !== undefined) batch.add({ type: 'del', key: `${old}!${operation.key}`, sublevel: names })
    if (operation.type === 'del') return
    batch.add({ type: 'put', key: `${operation.value}!${operation.key}`, value: '', sublevel: names })
  }
}

test('a function that does not read runs once, and within the call if nothing is on its way', async (t) => {
  const { db } = await openArray(t)
  const seen = []
  db.hooks.prewrite.add(({ key }) => seen.push(`before ${key}`), { everyWrite: true })
  db.hooks.prewrite.add(
    ({ key }) => {
      if (key === 'b') db.getSync('a')
    },
    { everyWrite: true }
  )
  db.hooks.prewrite.add(({ key }) => seen.push(`after ${key}`), { everyWrite: true })

  const first = db.put('a', 'v')
  assert.deepEqual(seen.splice(0), ['before a', 'after a'])
  await first
  const second = db.put('b', 'v')
  assert.deepEqual(seen.splice(0), ['before b'])
  await second
  assert.deepEqual(seen, ['after b'])
})

test('what a function did before it was stopped counts for nothing', async (t) => {
  const { users, names } = await withSublevels(t)
  await names.batch(entries(3))
  const heard = []
  const calls = []

  for (const everyWrite of [true, false]) {
    const change = (operation, batch) => {
      calls.push([operation.value, operation.note])
      operation.value += '+'
      operation.note = 'left over'
      batch.add({ type: 'put', key: `before ${operation.value}`, value: 'v' })
      for (const key of ['k0', 'k1', 'none']) names.getSync(key)
      batch.add({ type: 'put', key: `after ${operation.value}`, value: 'v' })
    }
    const listen = (operations) => heard.push(...operations.map(({ key }) => key))
    users.hooks.prewrite.add(change, { everyWrite })
    users.on('write', listen)
    await users.put('ada', 'a')
    users.off('write', listen)
    users.hooks.prewrite.delete(change)

    assert.deepEqual(calls.splice(0), Array(4).fill(['a', undefined]))
    assert.deepEqual(heard.splice(0), ['ada', 'before a+', 'after a+'])
    assert.deepEqual(await users.iterator().all(), [
      ['ada', 'a+'],
      ['after a+', 'v'],
      ['before a+', 'v']
    ])
    await users.clear()
  }
})

test('a function that catches what stops it is called again all the same', async (t) => {
  const { db, users, names } = await withSublevels(t)
  await names.put('k', 'stored')
  const found = []
  users.hooks.prewrite.add(({ key }) => {
    try {
      found.push([key, names.getSync('k')])
    } catch {
      found.push('stopped')
    }
  })
  await users.put('a', 'v')
  assert.deepEqual(found, ['stopped', ['a', 'stored']])
  await db.close()
})

test('what hundreds of writes need is read together, and they are written together', async (t) => {
  const { backend, users, names } = await withSublevels(t)
  await users.batch(Array.from({ length: 300 }, (_, i) => ({ type: 'put', key: `k${i}`, value: `old${i}` })))
  const run = indexIn(users, names)
  users.hooks.prewrite.add(run, { everyWrite: true, prepare: ({ key }) => users.getSync(key) })

  Object.assign(backend.calls, { write: 0, read: 0 })
  await Promise.all(Array.from({ length: 300 }, (_, i) => users.put(`k${i}`, `new${i}`)))
  assert.ok(backend.calls.write <= 2, `${backend.calls.write} writes`)
  assert.ok(backend.calls.read <= 4, `${backend.calls.read} reads`)
  assert.equal((await names.keys().all()).length, 300)

  // The same within one batch, in a chained batch, and when a range is cleared.
  backend.calls.read = 0
  const operations = Array.from({ length: 300 }, (_, i) => ({ type: 'put', key: `k${i}`, value: `b${i}` }))
  await users.batch(operations)
  const chained = users.batch()
  for (let i = 0; i < 300; i++) chained.put(`k${i}`, `c${i}`)
  await chained.write()
  await users.clear()
  assert.ok(backend.calls.read <= 5, `${backend.calls.read} reads`)
  assert.deepEqual(await names.keys().all(), [])
})

test('without reading ahead, writes that were called together are written together as well', async (t) => {
  const { backend, users, names } = await withSublevels(t)
  users.hooks.prewrite.add(countIn(names), { everyWrite: true })
  backend.calls.write = 0
  await Promise.all(Array.from({ length: 200 }, (_, i) => users.put(`k${i}`, 'v')))
  assert.ok(backend.calls.write <= 2, `${backend.calls.write} writes`)
  assert.equal(await names.get('count'), '200')
})

test('a batch of thousands, each of which a function reads for, takes time in proportion', async (t) => {
  const { users, names } = await withSublevels(t)
  let calls = 0
  const run = indexIn(users, names)
  users.hooks.prewrite.add(
    (operation, batch) => {
      calls++
      run(operation, batch)
    },
    { everyWrite: true }
  )
  await users.batch(Array.from({ length: 2000 }, (_, i) => ({ type: 'put', key: `k${i}`, value: 'n' })))
  assert.equal(calls, 4000)
  assert.equal((await names.keys().all()).length, 2000)
})

test('what reads ahead may throw, and need not be complete', async (t) => {
  const { users, names } = await withSublevels(t)
  await users.batch(entries(5))
  const prepares = [
    () => {
      throw new Error('not ready')
    },
    () => users.getSync('another key'),
    // It always asks for more.
    () => users.getSync(`${Math.random()}`)
  ]
  for (const [index, prepare] of prepares.entries()) {
    const run = indexIn(users, names)
    users.hooks.prewrite.add(run, { everyWrite: true, prepare })
    await Promise.all(entries(5).map(({ key }) => users.put(key, `n${index}`)))
    assert.equal((await names.keys().all()).length, 5)
    users.hooks.prewrite.delete(run)
  }
})

test('a read that fails fails the write that needs it, and no other', async (t) => {
  const { backend, users, names } = await withSublevels(t)
  const read = backend.getMany
  backend.getMany = function (keys, ...rest) {
    if (keys.some((key) => String(key).endsWith('bad'))) {
      return Promise.reject(Object.assign(new Error('unreadable'), { code: FAILURE }))
    }
    return read.call(this, keys, ...rest)
  }

  for (const prepare of [undefined, ({ key }) => users.getSync(key)]) {
    const run = indexIn(users, names)
    users.hooks.prewrite.add(run, { everyWrite: true, prepare })
    const results = await Promise.allSettled(['a', 'bad', 'b', 'c'].map((key) => users.put(key, 'v')))
    assert.deepEqual(
      results.map(({ reason }) => [reason?.code, reason?.cause?.code]),
      [
        [undefined, undefined],
        ['LEVEL_HOOK_ERROR', FAILURE],
        [undefined, undefined],
        [undefined, undefined]
      ]
    )
    await assert.rejects(users.batch().put('d', 'v').put('bad', 'v').write(), { code: 'LEVEL_HOOK_ERROR' })
    assert.deepEqual(await users.keys().all(), ['a', 'b', 'c'])
    assert.deepEqual(await names.keys().all(), ['v!a', 'v!b', 'v!c'])
    users.hooks.prewrite.delete(run)
    await Promise.all([users.clear(), names.clear()])
  }
})

test('a function reads from an explicit snapshot, which may be closed meanwhile', async (t) => {
  const { db } = await openArray(t)
  await db.put('a', 'old')
  const snapshot = db.snapshot()
  await db.put('a', 'new')
  const found = []
  db.hooks.prewrite.add(() => found.push([db.getSync('a', { snapshot }), db.getSync('a')]))
  const written = db.put('b', 'v')
  const closed = snapshot.close()
  // It closes when the read has ended, and the function that is called again finds it closed.
  await assert.rejects(written, ({ cause }) => cause.code === 'LEVEL_SNAPSHOT_NOT_OPEN')
  await closed
  assert.deepEqual(found, [])
})

test('a function waits for a promise, and throws the error of one that is rejected', async (t) => {
  const { db } = await openArray(t)
  let state
  let loads = 0
  const load = async () => {
    loads++
    await db.get('state')
    if (state === 'broken') throw new Error('cannot load')
    state = 'loaded'
  }
  db.hooks.prewrite.add(
    (operation, batch) => {
      if (state !== 'loaded') batch.waitFor(load())
      operation.value = state
    },
    { everyWrite: true }
  )

  state = 'broken'
  await assert.rejects(db.put('a', 'v'), ({ code, cause }) => {
    assert.equal(cause.message, 'cannot load')
    return code === 'LEVEL_HOOK_ERROR'
  })
  state = undefined
  loads = 0
  await Promise.all([db.put('b', 'v'), db.put('c', 'v')])
  assert.equal(loads, 1)
  assert.deepEqual(await db.iterator().all(), [
    ['b', 'loaded'],
    ['c', 'loaded']
  ])
})

test('where functions need not wait they cannot', async (t) => {
  const db = await opened(t, new BackendLevel(new ArrayBackend({ sync: true })))
  db.hooks.prewrite.add((_, batch) => batch.waitFor(Promise.resolve()))
  await assert.rejects(db.put('a', 'v'), ({ cause }) => cause.code === 'LEVEL_NOT_SUPPORTED')
})

test('in the put() of a chained batch a function cannot read, since that cannot wait', async (t) => {
  const { db } = await openArray(t)
  db.hooks.prewrite.add(() => db.getSync('a'))
  const batch = db.batch()
  assert.throws(
    () => batch.put('a', 'v'),
    ({ code, cause }) => code === 'LEVEL_HOOK_ERROR' && cause.code === 'LEVEL_NOT_SUPPORTED'
  )
  await batch.close()
})

test('writes that a function calls while it reads come after its own, and close() waits for all', async (t) => {
  const { db, users, names } = await withSublevels(t)
  const called = []
  const seen = []
  users.hooks.prewrite.add(({ key }) => {
    if (key === 'a') called.push(users.put('called', 'by a'))
  })
  users.hooks.prewrite.add(countIn(names), { everyWrite: true })
  users.hooks.prewrite.add(({ key }) => seen.push(key), { everyWrite: true })
  users.on('write', ([{ key }]) => {
    if (key === 'called') called.push(users.put('listened', 'v'))
  })

  const written = [
    users.put('a', 'v'),
    users.put('b', 'v'),
    db.put('plain', 'v'),
    users.clear({ gte: 'b', lt: 'c' })
  ]
  await Promise.all(written)
  const last = users.put('c', 'v')
  await db.close()
  await Promise.all([...called, last])
  assert.deepEqual(
    seen,
    ['a', 'b', 'b', 'called', 'c', 'listened'].toSorted((x, y) => seen.indexOf(x) - seen.indexOf(y))
  )
  await db.open()
  await names.open()
  assert.equal(await names.get('count'), String(seen.length))
})

test('a write that the back-end refuses leaves nothing known of what it would have written', async (t) => {
  const { backend, users, names } = await withSublevels(t)
  users.hooks.prewrite.add(countIn(names), { everyWrite: true })
  await users.put('a', 'v')
  backend.write = () => Promise.reject(Object.assign(new Error('full'), { code: FAILURE }))
  await assert.rejects(Promise.all(['b', 'c'].map((key) => users.put(key, 'v'))), { code: FAILURE })
  delete backend.write
  await users.put('d', 'v')
  assert.equal(await names.get('count'), '2')
})

test('a function that asks for something else each time ends with an error, and others go on', async (t) => {
  const { users, names } = await withSublevels(t)
  let calls = 0
  users.hooks.prewrite.add(({ key }) => {
    if (key === 'endless') names.getSync(`${calls++}`)
  })
  const results = await Promise.allSettled(['a', 'endless', 'b'].map((key) => users.put(key, 'v')))
  assert.deepEqual(
    results.map(({ reason }) => reason?.cause?.code),
    [undefined, 'LEVEL_HOOK_RECURSION', undefined]
  )
  assert.equal(calls, 1000)
  assert.deepEqual(await users.keys().all(), ['a', 'b'])
})
