import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { index } from 'terrace-toolbox/index'
import { holdClock } from '../../../../tests/support/clock.mjs'
import { isShort, scaled } from '../../../../tests/support/form.mjs'
import { countTurns } from '../../../../tests/support/waiting.mjs'
import { all } from '../support/collect.js'
import { databases, isExact } from '../support/databases.js'
import { inStep, refusalOf } from './support/indexes.js'

const RECORDS = scaled(2600, 1300)

/** Writes records with 13 different groups. */
async function fill(db, count = RECORDS) {
  const operations = []
  for (let i = 0; i < count; i++)
    operations.push({ type: 'put', key: `k${i}`, value: { group: i % 13, number: i } })
  await db.batch(operations)
}

for (const [name, open] of Object.entries(databases)) {
  test(`${name}: builds an index of existing records, step by step, with progress`, async (t) => {
    const db = await open(t, { valueEncoding: 'json' })
    await fill(db)
    await fill(db.sublevel('other', { valueEncoding: 'json' }))
    const progress = []
    const counter = countTurns(t)
    const byGroup = index(db, {
      name: 'group',
      on: 'group',
      onProgress(step) {
        progress.push(step)
        throw new Error('not the business of the index')
      }
    })
    await byGroup.ready
    const { turns } = counter
    assert.deepEqual(progress.at(-1), { records: RECORDS, entries: RECORDS })
    assert.ok(progress.length >= RECORDS / 500)
    assert.ok(progress.every(({ records }, i) => i === 0 || records >= progress[i - 1].records))
    assert.ok(turns > 1, 'timers ran meanwhile')
    assert.deepEqual(await byGroup.verify(), inStep(RECORDS))
    assert.equal((await all(byGroup.keys({ equals: 4 }))).length, RECORDS / 13)
  })

  test(`${name}: writes while it is built are right`, async (t) => {
    const db = await open(t, { valueEncoding: 'json' })
    await fill(db)
    const byNumber = index(db, { name: 'number', on: 'number', unique: true })
    let random = 1
    const next = (below) => {
      random = (random * 48271) % 0x7fffffff
      return random % below
    }
    let isBuilt = false
    byNumber.ready.then(() => {
      isBuilt = true
    })
    let writes = 0
    while (!isBuilt || writes < 200) {
      const key = `k${next(RECORDS + 300)}`
      if (next(3) === 0) await db.del(key)
      else await db.put(key, { number: RECORDS + ++writes })
      if (next(4) === 0) await setImmediate()
    }
    const numbers = []
    for await (const { number } of db.values({ gte: 'k' })) numbers.push(number)
    const found = (await all(byNumber.entries())).map(([, , number]) => number)
    assert.deepEqual(
      found,
      numbers.sort((a, b) => a - b)
    )
    const { records, missing, stale, wrong } = await byNumber.verify()
    assert.deepEqual([missing, wrong], [0, 0])
    if (isExact(db)) assert.equal(stale, 0)
    assert.equal(records, found.length)
  })

  test(`${name}: a step with many entries is not larger`, async (t) => {
    const db = await open(t, { valueEncoding: 'json' })
    const words = Array.from({ length: 900 }, (_, i) => i)
    const keys = isShort ? 'abcd' : 'abcdefgh'
    for (const key of keys) await db.put(key, { words })
    const entries = keys.length * words.length
    const steps = []
    const byWord = index(db, {
      name: 'word',
      on: 'words',
      multiple: true,
      onProgress: ({ entries }) => steps.push(entries)
    })
    await byWord.ready
    assert.equal(steps.at(-1), entries)
    assert.ok(steps.every((entries, i) => entries - (steps[i - 1] ?? 0) <= 2700))
    assert.deepEqual(await byWord.verify(), inStep(keys.length, entries))
  })

  test(`${name}: building resumes where it was when the database was closed`, async (t) => {
    // A step that took too long would be shorter, and a step without records may follow.
    holdClock(t)
    const db = await open(t)
    const users = db.sublevel('users', { valueEncoding: 'json' })
    await fill(users)
    const progress = []
    let closing
    const byGroup = index(users, {
      name: 'group',
      on: 'group',
      onProgress({ records }) {
        progress.push(records)
        if (progress.length === 2) closing = db.close()
      }
    })
    await assert.rejects(byGroup.ready, { code: 'LEVEL_DATABASE_NOT_OPEN' })
    await closing
    assert.equal(progress.length, 2)
    assert.ok(progress[1] <= 1000)
    await db.open()
    await users.open()
    await byGroup.ready
    assert.ok(
      progress.every((records, i) => i === 0 || records > progress[i - 1]),
      `${progress}`
    )
    assert.equal(progress.at(-1), RECORDS)
    const steps = progress.length
    assert.deepEqual(await byGroup.verify(), inStep(RECORDS))

    // Once ready, it is not built again.
    await db.close()
    await db.open()
    await users.open()
    await users.put('k0', { group: 'new' })
    assert.deepEqual(await all(byGroup.keys({ equals: 'new' })), ['k0'])
    assert.equal(progress.length, steps)
  })

  test(`${name}: closing while it begins`, async (t) => {
    const db = await open(t)
    const users = db.sublevel('users', { valueEncoding: 'json' })
    await users.put('a', { group: 1 })
    const byGroup = index(users, { name: 'group', on: 'group' })
    await db.close()
    await assert.rejects(byGroup.ready, { code: 'LEVEL_DATABASE_NOT_OPEN' })
    await db.open()
    await users.open()
    assert.deepEqual(await all(byGroup.keys()), ['a'])
  })

  test(`${name}: an index that was declared differently is rebuilt`, async (t) => {
    const db = await open(t, { valueEncoding: 'json' })
    await fill(db, 20)
    let builds = 0
    // A step covers as many records as it has time for.
    const onProgress = ({ records }) => {
      if (records === 20) builds++
    }
    const declared = async (options) => {
      const made = index(db, { name: 'x', onProgress, ...options })
      await made.ready
      const { entries, ...report } = await made.verify()
      assert.deepEqual(report, { records: 20, missing: 0, stale: 0, wrong: 0 })
      const found = (await all(made.entries())).map(([, , indexed]) => indexed)
      // Another program makes the next declaration, and finds what this one leaves.
      await db.close()
      await db.open()
      await made.ready
      await forget(db, made)
      return [entries, found.at(-1)]
    }
    assert.deepEqual(await declared({ on: 'group' }), [20, 12])
    assert.equal(builds, 1)
    assert.deepEqual(await declared({ on: 'group' }), [20, 12])
    assert.equal(builds, 1)
    assert.deepEqual(await declared({ on: 'number', unique: true }), [20, 19])
    assert.deepEqual(await declared({ on: 'number' }), [20, 19])
    assert.deepEqual(await declared({ on: ['group', 'number'] }), [20, [12, 12]])
    assert.deepEqual(await declared({ on: ({ number }) => number || undefined }), [19, 19])
    assert.equal(builds, 5)
    assert.deepEqual(await declared({ on: ({ number }) => number + 1, version: 1 }), [20, 20])
    assert.deepEqual(await declared({ on: ({ number }) => number, version: 'two' }), [20, 19])
    assert.equal(builds, 7)
  })

  test(`${name}: values that are not unique stop the building, until they are changed`, async (t) => {
    const db = await open(t, { valueEncoding: 'json' })
    await db.put('a', { email: 'x' })
    await db.put('b', { email: 'x' })
    const byEmail = index(db, { name: 'email', on: 'email', unique: true })
    const isRefused = (error) => {
      assert.deepEqual(
        [error.code, error.value, error.key, error.refusedKey],
        ['TOOLBOX_UNIQUE', 'x', 'a', 'b']
      )
      return true
    }
    await assert.rejects(byEmail.ready, isRefused)
    await assert.rejects(byEmail.get('x'), { code: 'TOOLBOX_INDEX_NOT_READY' })
    await assert.rejects(byEmail.rebuild(), isRefused)
    await db.put('b', { email: 'y' })
    await byEmail.rebuild()
    assert.equal(await byEmail.getKey('y'), 'b')
    assert.deepEqual(await byEmail.verify(), inStep(2))
  })

  test(`${name}: a value that cannot be indexed stops the building, until it is changed`, async (t) => {
    const db = await open(t, { valueEncoding: 'json' })
    await db.put('a', { at: 1 })
    await db.put('b', { at: {} })
    const at = index(db, { name: 'at', on: 'at' })
    await assert.rejects(at.ready, { code: 'TOOLBOX_INDEX_VALUE', key: 'b' })
    assert.equal((await refusalOf(db.put('b', { at: {} }))).code, 'TOOLBOX_INDEX_VALUE')
    await db.del('b')
    await db.close()
    await db.open()
    assert.deepEqual(await all(at.keys()), ['a'])
  })

  test(`${name}: queries wait or throw`, async (t) => {
    const db = await open(t, { valueEncoding: 'json' })
    await fill(db, 600)
    const waits = index(db, { name: 'waits', on: 'group' })
    const throws = index(db, { name: 'throws', on: 'group', wait: false })
    await assert.rejects(all(throws.keys()), { code: 'TOOLBOX_INDEX_NOT_READY' })
    assert.equal((await all(waits.keys())).length, 600)
    await throws.ready
    assert.equal((await all(throws.values())).length, 600)
  })

  test(`${name}: declared before the database is open`, async (t) => {
    const db = await open(t)
    const users = db.sublevel('users', { valueEncoding: 'json' })
    const made = index(users, { name: 'group', on: 'group' })
    const put = users.put('a', { group: 1 })
    await put
    assert.deepEqual(await all(made.keys()), ['a'])
  })
}

/** Removes the declaration of an index, but not its entries. */
async function forget(db, made) {
  const states = db.sublevel('index')
  const entries = db.sublevel(`index.${made.name}`)
  const state = await states.get(made.name)
  const stored = await entries.iterator({ keyEncoding: 'buffer', valueEncoding: 'buffer' }).all()
  await made.drop()
  for (const [key, value] of stored)
    await entries.put(key, value, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
  await states.put(made.name, state)
}

test('a slow function makes steps smaller', async (t) => {
  const db = await databases['memory-level'](t, { valueEncoding: 'json' })
  for (const key of 'abcdefghij') await db.put(key, key)
  const steps = []
  let now = performance.now()
  t.mock.method(performance, 'now', () => now)
  const slow = index(db, {
    name: 'slow',
    on(value) {
      now += 15
      return value
    },
    onProgress: ({ records }) => steps.push(records)
  })
  await slow.ready
  assert.ok(steps.length >= 5, `${steps}`)
  assert.deepEqual(await slow.verify(), inStep(10))
})

test('many indexes of one database do not count as a leak', async (t) => {
  const warnings = []
  const warned = (warning) => warnings.push(warning)
  process.on('warning', warned)
  t.after(() => process.off('warning', warned))
  const db = await databases['memory-level'](t, { valueEncoding: 'json' })
  await db.put('a', { at: 1 })
  const made = Array.from({ length: 15 }, (_, i) => index(db, { name: `at${i}`, on: 'at' }))
  await Promise.all(made.map(({ ready }) => ready))
  for (const one of made) assert.deepEqual(await all(one.keys()), ['a'])
  await Promise.all(made.map((one) => one.drop()))
  await setImmediate()
  assert.deepEqual(warnings, [])
  assert.deepEqual(await db.keys().all(), ['a'])
  assert.equal(db.listenerCount('open'), 0)
  assert.ok(db.hooks.prewrite.noop)
})

test('an unreadable state makes the index be rebuilt', async (t) => {
  const db = await databases['memory-level'](t, { valueEncoding: 'json' })
  await db.sublevel('index').put('at', '{"format":1,')
  await db.put('a', { at: 1 })
  const at = index(db, { name: 'at', on: 'at' })
  assert.deepEqual(await all(at.keys()), ['a'])
})
