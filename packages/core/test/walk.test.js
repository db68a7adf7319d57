import assert from 'node:assert/strict'
import { countTurns } from '../../../tests/support/waiting.mjs'
import { entries, openLevel, test, testOnAll } from './support/databases.js'

const COUNT = 5000

async function filled(t, options) {
  const db = await openLevel(t, options)
  await db.batch(entries(COUNT))
  return db
}

const expected = entries(COUNT).map(({ key, value }) => [key, value])

async function collect(iterable) {
  const items = []
  for await (const item of iterable) items.push(item)
  return items
}

test('for await and for visit every entry, in both directions', async (t) => {
  const db = await filled(t)

  for (const reverse of [false, true]) {
    const wanted = reverse ? expected.toReversed() : expected
    assert.deepEqual(await collect(db.iterator({ reverse })), wanted)
    assert.deepEqual([...db.iterateSync({ reverse })], wanted)
    assert.deepEqual(
      [...db.keys({ reverse })],
      wanted.map(([key]) => key)
    )
    assert.deepEqual(
      await collect(db.values({ reverse })),
      wanted.map(([, value]) => value)
    )
  }
})

test('ranges, limits and encodings are kept', async (t) => {
  const db = await filled(t)
  const range = { gt: 'key0010', lte: 'key0099' }

  assert.deepEqual([...db.iterateSync(range)], expected.slice(11, 100))
  assert.deepEqual([...db.iterateSync({ ...range, limit: 7 })], expected.slice(11, 18))
  assert.deepEqual(await collect(db.iterator({ limit: 1500 })), expected.slice(0, 1500))
  assert.deepEqual([...db.iterateSync({ limit: 0 })], [])

  await db.put('json', '{"a":1}')
  const json = { gte: 'json', lte: 'json', valueEncoding: 'json' }
  assert.deepEqual([...db.iterateSync(json)], [['json', { a: 1 }]])
  for await (const entry of db.iterator(json)) assert.deepEqual(entry, ['json', { a: 1 }])
  const buffers = { keyEncoding: 'buffer', valueEncoding: 'view', limit: 1 }
  assert.deepEqual(await collect(db.iterator(buffers)), [...db.iterateSync(buffers)])
  assert.deepEqual([...db.iterateSync({ gte: 'k', keys: false, limit: 1 })], [[undefined, 'value0']])
  assert.deepEqual(await collect(db.iterator({ gte: 'k', values: false, limit: 1 })), [
    ['key0000', undefined]
  ])
})

testOnAll('count counts what was taken, whichever way', async (t) => {
  const db = await filled(t)
  const iterator = db.iterator()
  await iterator.next()
  let seen = 1

  for await (const _ of iterator) {
    assert.equal(iterator.count, ++seen)
    if (seen === 300) break
  }

  assert.equal(iterator.count, 300)
})

testOnAll('a loop may seek, and goes on from there', async (t) => {
  const db = await filled(t)
  const seen = []
  const iterator = db.keys()

  for await (const key of iterator) {
    seen.push(key)
    if (key === 'key0300') iterator.seek('key4998')
  }

  assert.equal(seen.length, 303)
  assert.deepEqual(seen.slice(-2), ['key4998', 'key4999'])
})

test('leaving a loop closes the iterator', async (t) => {
  const db = await filled(t)

  for (const leave of ['break', 'throw']) {
    const iterator = db.iterator()
    const loop = async () => {
      for await (const _ of iterator) {
        if (leave === 'break') break
        throw new Error('mine')
      }
    }
    if (leave === 'break') await loop()
    else await assert.rejects(loop(), { message: 'mine' })
    await assert.rejects(iterator.next(), { code: 'LEVEL_ITERATOR_NOT_OPEN' })
  }

  const iterator = db.iterator()
  for (const _ of iterator) break
  await assert.rejects(iterator.next(), { code: 'LEVEL_ITERATOR_NOT_OPEN' })
  assert.throws(() => iterator[Symbol.iterator]().next(), { code: 'LEVEL_ITERATOR_NOT_OPEN' })
})

test('closing the database ends loops with an error, not as if all had been seen', async (t) => {
  const db = await filled(t)
  const loop = async () => {
    let seen = 0
    for await (const _ of db.iterator()) if (++seen === 300) await db.close()
  }
  await assert.rejects(loop(), { code: 'LEVEL_ITERATOR_NOT_OPEN' })

  await db.open()
  let closing
  assert.throws(
    () => {
      for (const _ of db.iterateSync()) closing ??= db.close()
    },
    { code: 'LEVEL_ITERATOR_NOT_OPEN' }
  )
  await closing
})

test('an aborted signal ends loops', async (t) => {
  const db = await filled(t)

  for (const abortAt of [1, 300]) {
    const controller = new AbortController()
    const loop = async () => {
      let seen = 0
      for await (const _ of db.iterator({ signal: controller.signal })) {
        if (++seen === abortAt) controller.abort()
      }
    }
    await assert.rejects(loop(), { code: 'LEVEL_ABORTED' })
  }

  const controller = new AbortController()
  assert.throws(
    () => {
      for (const _ of db.iterateSync({ signal: controller.signal })) controller.abort()
    },
    { code: 'LEVEL_ABORTED' }
  )
})

test('a value that cannot be decoded ends loops with an error, and closes the iterator', async (t) => {
  const db = await openLevel(t)
  await db.batch(entries(3, 'no json '))
  const options = { valueEncoding: 'json' }

  await assert.rejects(collect(db.iterator(options)), { code: 'LEVEL_DECODE_ERROR' })
  assert.throws(() => [...db.iterateSync(options)], { code: 'LEVEL_DECODE_ERROR' })

  const iterator = db.values(options)
  await assert.rejects(collect(iterator), { code: 'LEVEL_DECODE_ERROR' })
  await assert.rejects(iterator.next(), { code: 'LEVEL_ITERATOR_NOT_OPEN' })
})

testOnAll('steps that are not waited for follow each other', async (t) => {
  const db = await filled(t)
  const walk = db.keys()[Symbol.asyncIterator]()
  const steps = await Promise.all(Array.from({ length: COUNT + 2 }, () => walk.next()))

  assert.deepEqual(
    steps.map(({ value }) => value),
    [...expected.map(([key]) => key), undefined, undefined]
  )
})

test('a loop shows the state at its beginning', async (t) => {
  const db = await filled(t)
  let seen = 0

  for (const [key, value] of db.iterateSync()) {
    assert.equal(value, expected[seen++][1])
    db.putSync(key, 'changed')
    db.delSync('key4999')
  }

  assert.equal(seen, COUNT)
})

testOnAll('iterateSync() needs an open database', async (t) => {
  const db = await openLevel(t)
  await db.close()
  assert.throws(() => db.iterateSync(), { code: 'LEVEL_DATABASE_NOT_OPEN' })
})

testOnAll('loops over items that are answered at once let timers have their turn', async (t) => {
  const db = await filled(t)
  // Each look at the clock finds that a while has passed.
  let now = performance.now()
  t.mock.method(performance, 'now', () => ++now)
  const counter = countTurns(t)
  const repeated = async (times, work) => {
    const before = counter.turns
    for (let time = 0; time < times; time++) await work()
    const turns = counter.turns - before
    assert.ok(turns >= 10, `${turns} turns of the event loop amid ${times} of ${work}`)
  }

  await repeated(700, () => db.put('a', '1'))
  await repeated(700, () => db.get('a'))
  await repeated(700, () => db.getMany(['a', 'b']))
  await repeated(30, () => db.batch(entries(100)))
  await repeated(30, () => db.keys({ limit: 100 }).all())
  await repeated(6, async () => {
    for await (const _ of db.iterator());
  })
})
