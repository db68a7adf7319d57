// levelup's streams for a Level: the same items and events as those of levelup over the same database.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { pipeline } from 'node:stream/promises'
import { test } from 'node:test'
import levelup from 'levelup'
import { Level, MemoryLevel } from 'terrace'
import { addStreams } from 'terrace-leveldown/streams'
import { call, leveldown, newLocation } from './support/databases.js'

const KEYS = ['age', 'alias', 'capital', 'dob', 'name', 'occupation', 'son', 'spouse']

async function filled(t, db = new Level(newLocation())) {
  await db.open()
  t.after(() => db.close())
  await db.batch(KEYS.map((key) => ({ type: 'put', key, value: `${key}!` })))
  return addStreams(db)
}

/** Everything that a stream emits. */
async function emitted(stream) {
  const events = []
  stream.on('data', (data) => {
    const { key, value } = data
    events.push(key === undefined ? String(data) : `${key}=${value}`)
  })
  for (const name of ['end', 'close']) stream.on(name, () => events.push(name))
  stream.on('error', (error) => events.push(error.message))
  await new Promise((resolve) => stream.on('close', resolve))
  return events
}

test('streams that read emit what those of levelup emit', async (t) => {
  const db = await filled(t)
  const old = levelup(leveldown.from(db))
  await call(old, 'open')
  let items = 0
  for (const options of [
    undefined,
    {},
    { gt: 'age', lt: 'spouse' },
    { gte: 'age', lte: 'spouse' },
    { gte: 'b', limit: 2 },
    { limit: -1 },
    { limit: 0 },
    { reverse: true, limit: 1 },
    { lt: 'name', reverse: true, fillCache: true },
    { keys: true, values: false, limit: 2 },
    { keys: false, values: true, limit: 2 },
    { start: 'b', end: 'o', limit: 5, fillCache: false },
    { start: 'o', end: 'b', reverse: true },
    { start: 'o' },
    { end: 'c', gte: 'alias' },
    { start: '', end: '' },
    { highWaterMark: 1 }
  ]) {
    for (const name of ['createReadStream', 'createKeyStream', 'createValueStream']) {
      const expected = await emitted(old[name](options))
      assert.deepEqual(await emitted(db[name](options)), expected, `${name} ${JSON.stringify(options)}`)
      assert.deepEqual(expected.slice(-2), ['end', 'close'])
      items += expected.length - 2
    }
    for (const name of ['readStream', 'keyStream', 'valueStream']) assert.equal(typeof db[name], 'function')
  }
  assert.ok(items > 100)
})

test('a stream shows the database as of the call, ends early when it is destroyed, and fails when the database closes', async (t) => {
  const db = await filled(t)
  const stream = db.createKeyStream()
  await db.del('age')
  assert.deepEqual(await emitted(stream), [...KEYS, 'end', 'close'])
  const destroyed = db.createReadStream({ highWaterMark: 1 })
  destroyed.once('data', () => destroyed.destroy())
  assert.deepEqual(await emitted(destroyed), ['alias=alias!', 'close'])
  const failing = db.createReadStream()
  await db.close()
  assert.deepEqual(await emitted(failing), ['Iterator is not open: cannot read after close()', 'close'])
  assert.throws(() => db.createReadStream(), { code: 'LEVEL_DATABASE_NOT_OPEN' })
})

test('a write stream puts and deletes', async (t) => {
  const db = await filled(t)
  const writes = []
  db.on('write', (operations) => writes.push(operations.length))
  const stream = db.createWriteStream({ maxBufferLength: 4 })
  for (let i = 0; i < 10; i++) stream.write({ key: `n${i}`, value: String(i) })
  stream.write({ type: 'del', key: 'age' })
  stream.write({ key: 'json', value: { a: 1 }, valueEncoding: 'json' })
  stream.end()
  assert.deepEqual(await emitted(stream.on('finish', () => writes.push('finish'))).catch(String), ['close'])
  assert.deepEqual(
    [await db.get('age'), await db.get('n9'), await db.get('json')],
    [undefined, '9', '{"a":1}']
  )
  assert.ok(writes.slice(0, -1).every((count) => count <= 4))
  assert.equal(writes.at(-1), 'finish')

  const deleting = db.writeStream({ type: 'del' })
  deleting.end({ key: 'n9' })
  await once(deleting, 'close')
  assert.equal(await db.get('n9'), undefined)

  const failing = db.createWriteStream()
  failing.write({ type: 'none', key: 'a' })
  const [error] = await once(failing, 'error')
  assert.match(error.message, /type/)
})

test('they work in a pipeline, for sublevels and databases in memory, before the database is open', async (t) => {
  const from = addStreams(new MemoryLevel({ valueEncoding: 'json' }))
  const sub = addStreams(from.sublevel('sub', { valueEncoding: 'json' }))
  t.after(() => from.close())
  const writing = from.createWriteStream()
  writing.write({ key: 'a', value: [1] })
  writing.end({ key: 'b', value: 'null', valueEncoding: 'utf8' })
  await once(writing, 'close')
  await pipeline(from.createReadStream({ lt: 'b' }), sub.createWriteStream())
  assert.deepEqual(await sub.iterator().all(), [['a', [1]]])
  assert.deepEqual(await emitted(from.createValueStream({ gte: 'b', lt: 'c' })), [
    'A key or value is null, which a stream cannot hold',
    'close'
  ])
})

test('it takes only databases, and is the same function for require and import', () => {
  for (const db of [undefined, {}, 'db']) assert.throws(() => addStreams(db), TypeError)
  assert.equal(createRequire(import.meta.url)('terrace-leveldown/streams').addStreams, addStreams)
})
