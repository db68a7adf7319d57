import assert from 'node:assert/strict'
import { AbstractLevel } from 'abstract-level'
import { entries, newLevel, openLevel, test } from './support/databases.js'

test('putSync(), delSync() and batchSync() are done when they return', async (t) => {
  const db = await openLevel(t)

  db.putSync('a', '1')
  assert.equal(db.getSync('a'), '1')
  db.putSync('b', '2', { sync: true })
  assert.equal(db.getSync('b'), '2')
  db.delSync('a')
  assert.equal(db.getSync('a'), undefined)
  db.batchSync([
    { type: 'put', key: 'c', value: '3' },
    { type: 'del', key: 'b' }
  ])
  assert.equal(db.getSync('c'), '3')
  assert.equal(db.getSync('b'), undefined)
  db.batchSync([])
})

test('encodings of the options and of operations are used', async (t) => {
  const db = await openLevel(t)

  db.putSync(Buffer.from([1, 2]), { n: 1 }, { keyEncoding: 'buffer', valueEncoding: 'json' })
  assert.equal(db.getSync('\u0001\u0002'), '{"n":1}')
  db.batchSync([{ type: 'put', key: 'x', value: [1], valueEncoding: 'json' }], { valueEncoding: 'utf8' })
  assert.equal(db.getSync('x'), '[1]')
  db.delSync(Buffer.from('x'), { keyEncoding: 'view' })
  assert.equal(db.getSync('x'), undefined)
})

test('batchSync() writes to sublevels, and to those of other databases it does not', async (t) => {
  const db = await openLevel(t)
  const other = await openLevel(t)
  const inner = db.sublevel('a', { valueEncoding: 'json' }).sublevel('b')
  const json = db.sublevel('a', { valueEncoding: 'json' })

  db.batchSync([
    { type: 'put', key: 'k', value: { n: 1 }, sublevel: json },
    { type: 'put', key: 'k', value: 'deep', sublevel: inner }
  ])
  assert.deepEqual(await json.get('k'), { n: 1 })
  assert.equal(await inner.get('k'), 'deep')

  const elsewhere = [{ type: 'put', key: 'k', value: 'v', sublevel: other.sublevel('a') }]
  assert.throws(() => db.batchSync(elsewhere), { code: 'LEVEL_INVALID_ARGUMENT' })
})

test('a synchronous write comes after the writes that were called before, also while they wait', async (t) => {
  const db = await openLevel(t)
  const results = []

  for (let round = 0; round < 50; round++) {
    results.push(db.put('key', `async ${round}`, { sync: round % 2 === 0 }))
    db.putSync('key', `sync ${round}`)
    assert.equal(db.getSync('key'), `sync ${round}`)
  }

  results.push(db.clear())
  db.putSync('after', 'clear')
  assert.equal(db.getSync('key'), undefined)
  assert.equal(db.getSync('after'), 'clear')
  await Promise.all(results)
  assert.equal(await db.get('after'), 'clear')
})

test('the event write is emitted as for the other methods', async (t) => {
  const db = await openLevel(t)
  const sublevel = db.sublevel('s', { valueEncoding: 'json' })
  const events = []
  db.on('write', (operations) => events.push(operations))

  const operations = [
    { type: 'put', key: 'a', value: '1', mine: true },
    { type: 'put', key: 'b', value: { n: 2 }, sublevel },
    { type: 'del', key: 'c' }
  ]
  for (const options of [{}, { sync: true }, { keyEncoding: 'buffer', mine: 'too' }]) {
    events.length = 0
    // The code of abstract-level, to which batch() falls back only if it must.
    await AbstractLevel.prototype.batch.call(db, operations, options)
    await db.batch(operations, options)
    db.batchSync(operations, options)
    assert.equal(events.length, 3)
    assert.deepEqual(events[1], events[0])
    assert.deepEqual(events[2], events[0])
  }
  events.length = 0

  await db.put('a', '1')
  db.putSync('a', '1')
  assert.deepEqual(events[1], events[0])

  await db.del('a')
  db.delSync('a')
  assert.deepEqual(events[3], events[2])
})

test('an invalid operation is an error before anything is written', async (t) => {
  const db = await openLevel(t)

  assert.throws(() => db.putSync(null, 'v'), { code: 'LEVEL_INVALID_KEY' })
  assert.throws(() => db.putSync('k', undefined), { code: 'LEVEL_INVALID_VALUE' })
  assert.throws(() => db.delSync(undefined), { code: 'LEVEL_INVALID_KEY' })
  assert.throws(() => db.batchSync('no array'), TypeError)
  assert.throws(
    () =>
      db.batchSync([
        { type: 'put', key: 'k', value: 'v' },
        { type: 'get', key: 'k' }
      ]),
    TypeError
  )
  assert.deepEqual(await db.keys().all(), [])
})

test('a database that is not open refuses', async (t) => {
  const db = newLevel(t)
  assert.throws(() => db.putSync('a', '1'), { code: 'LEVEL_DATABASE_NOT_OPEN' })
  await db.open()
  db.putSync('a', '1')

  await db.close()
  assert.throws(() => db.putSync('a', '1'), { code: 'LEVEL_DATABASE_NOT_OPEN' })
})

test('more than a write buffer is written synchronously, and found again', async (t) => {
  const db = await openLevel(t, { writeBufferSize: 64 * 1024 })
  const all = entries(10_000, 'v'.repeat(100))

  for (const { key, value } of all) db.putSync(key, value)
  for (const { key, value } of all) assert.equal(db.getSync(key), value)
})
