import assert from 'node:assert/strict'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { test } from 'node:test'
import { readable, readableKeys, readableValues, writable } from 'terrace-toolbox/streams'
import { turns } from '../../../../tests/support/waiting.mjs'
import { databases } from '../support/databases.js'
import { countClosed, fill, json, key } from './support.js'

const collect = (stream) => stream.toArray()

for (const [name, open] of Object.entries(databases)) {
  test(`${name}: entries, keys and values of a range`, async (t) => {
    const db = await open(t, json)
    await fill(db, 2000)
    assert.deepEqual(
      await collect(readable(db)),
      Array.from({ length: 2000 }, (_, index) => ({ key: key(index), value: index }))
    )
    assert.deepEqual(await collect(readableKeys(db, { gt: key(5), limit: 3 })), [key(6), key(7), key(8)])
    assert.deepEqual(await collect(readableValues(db, { reverse: true, lt: key(3) })), [2, 1, 0])
    assert.deepEqual(await collect(readable(db, { gte: 'x' })), [])
    assert.deepEqual(await collect(readableValues(db, { limit: 1, valueEncoding: 'utf8' })), ['0'])
    assert.deepEqual(await collect(readableKeys(db, { limit: 2, highWaterMark: 1 })), [key(0), key(1)])
  })

  test(`${name}: a stream shows the database as it was at the call`, async (t) => {
    const db = await open(t, json)
    await fill(db, 1000)
    const stream = readableValues(db, { highWaterMark: 1 })
    await db.clear()
    assert.equal((await collect(stream)).length, 1000)
  })

  test(`${name}: no more is read ahead than is asked for`, async (t) => {
    const db = await open(t, json)
    await fill(db, 5000)
    const stream = readable(db, { highWaterMark: 10 })
    await new Promise((resolve) => stream.once('readable', resolve))
    await turns(20)
    assert.ok(stream.readableLength <= 20, `${stream.readableLength} were read`)
    stream.destroy()
  })

  test(`${name}: destroying a stream closes its iterator`, async (t) => {
    const db = await open(t, json)
    await fill(db, 1000)
    const closed = countClosed(db)
    for await (const { value } of readable(db)) if (value === 5) break
    assert.equal(closed(), 1)
    assert.equal((await collect(readable(db))).length, 1000)
    assert.equal(closed(), 2)
    const stream = readable(db)
    stream.destroy()
    await new Promise((resolve) => stream.once('close', resolve))
    assert.equal(closed(), 3)
  })

  test(`${name}: from one database into another by a pipeline`, async (t) => {
    const from = await open(t, json)
    const to = (await open(t)).sublevel('copy', json)
    await fill(from, 5000)
    await to.put('old', 1)
    const doubling = new Transform({
      objectMode: true,
      transform: ({ key, value }, _encoding, done) => done(null, [key, value * 2])
    })
    await pipeline(readable(from), doubling, writable(to))
    await pipeline(Readable.from([{ type: 'del', key: 'old' }]), writable(to))
    const values = await to.values().all()
    assert.deepEqual(
      values,
      Array.from({ length: 5000 }, (_, index) => index * 2)
    )
  })

  test(`${name}: entries are written in batches, and no more are taken than fit in one`, async (t) => {
    const db = await open(t)
    const sizes = []
    db.on('write', (operations) => sizes.push(operations.length))
    const stream = writable(db, { batchSize: 100 })
    let refused = 0
    for (let index = 0; index < 1000; index++) {
      if (stream.write([key(index), 'x'])) continue
      refused++
      assert.ok(stream.writableLength <= 100)
      await new Promise((resolve) => stream.once('drain', resolve))
    }
    await new Promise((resolve) => stream.end(resolve))
    assert.equal(
      sizes.reduce((sum, size) => sum + size),
      1000
    )
    assert.ok(refused >= 9)
    assert.ok(sizes.length <= 30, `${sizes.length} batches`)
    assert.ok(Math.max(...sizes) <= 100)
  })

  test(`${name}: the callback of a write is called once it is in the database`, async (t) => {
    const db = await open(t)
    const stream = writable(db)
    for (let index = 0; index < 10; index++) {
      await new Promise((resolve, reject) => {
        stream.write({ key: key(index), value: 'x' }, (error) => (error ? reject(error) : resolve()))
      })
      assert.equal(await db.get(key(index)), 'x')
    }
    await new Promise((resolve) => stream.end(resolve))
  })

  test(`${name}: operations keep their options, and the stream has its own`, async (t) => {
    const db = await open(t)
    const stream = writable(db, { valueEncoding: 'json' })
    stream.write({ type: 'put', key: 'a', value: { b: 1 } })
    stream.write({ type: 'put', key: 'c', value: 'text', valueEncoding: 'utf8' })
    await new Promise((resolve) => stream.end({ key: 'e', value: [1] }, resolve))
    assert.deepEqual(await db.iterator().all(), [
      ['a', '{"b":1}'],
      ['c', 'text'],
      ['e', '[1]']
    ])
  })

  test(`${name}: anything but an entry destroys the stream`, async (t) => {
    const db = await open(t)
    for (const bad of [5, 'a', {}, { key: 'a' }, { type: 'get', key: 'a' }, ['a'], ['a', 'b', 'c']]) {
      await assert.rejects(pipeline(Readable.from([bad]), writable(db)), { code: 'STREAM_INVALID_ENTRY' })
    }
    await assert.rejects(pipeline(Readable.from([['a', null]]), writable(db)), {
      code: 'LEVEL_INVALID_VALUE'
    })
    assert.deepEqual(await db.keys().all(), [])
  })

  test(`${name}: a value that cannot be decoded destroys the stream`, async (t) => {
    const db = await open(t)
    await db.put('a', '{')
    await assert.rejects(collect(readable(db, json)), { code: 'LEVEL_DECODE_ERROR' })
    await db.put('a', 'null')
    await assert.rejects(collect(readableValues(db, json)), { code: 'STREAM_INVALID_ITEM' })
    assert.deepEqual(await collect(readable(db, json)), [{ key: 'a', value: null }])
  })

  test(`${name}: closing the database ends its streams with an error`, async (t) => {
    const db = await open(t, json)
    await fill(db, 5000)
    const ended = { code: 'STREAM_DATABASE_CLOSED' }
    const idle = readable(db)
    const reading = collect(readableKeys(db, { highWaterMark: 1 }))
    const writing = writable(db)
    writing.write(['x', 1])
    const slow = readable(db)
    slow.once('data', () => slow.pause())

    const failed = [idle, writing, slow].map(
      (stream) => new Promise((resolve) => stream.once('error', resolve))
    )
    const [, ...results] = await Promise.allSettled([db.close(), reading, ...failed])
    assert.equal(results[0].reason.code, ended.code)
    for (const { value } of results.slice(1)) assert.equal(value.code, ended.code)
    assert.throws(() => readable(db), { code: 'LEVEL_DATABASE_NOT_OPEN' })
    await assert.rejects(pipeline(Readable.from([['a', 1]]), writable(db)), {
      code: 'LEVEL_DATABASE_NOT_OPEN'
    })
  })

  test(`${name}: an ended stream does not mind that the database closes`, async (t) => {
    const db = await open(t, json)
    await fill(db, 10)
    const stream = readable(db)
    const writing = writable(db)
    await collect(stream)
    await new Promise((resolve) => writing.end(['x', 1], resolve))
    await new Promise(setImmediate)
    await db.close()
    assert.equal(stream.errored, null)
    assert.equal(writing.errored, null)
  })

  test(`${name}: an aborted signal destroys the stream`, async (t) => {
    const db = await open(t, json)
    await fill(db, 1000)
    const controller = new AbortController()
    const stream = readable(db, { signal: controller.signal, highWaterMark: 1 })
    stream.once('data', () => controller.abort())
    await assert.rejects(
      collect(stream),
      ({ code, name }) => code === 'LEVEL_ABORTED' || name === 'AbortError'
    )
  })
}

test('options that are none are refused', async (t) => {
  const db = await databases['memory-level'](t)
  const refused = { code: 'STREAM_INVALID_OPTION' }
  for (const count of [0, -1, 1.5, '5', NaN, 2 ** 20 + 1]) {
    assert.throws(() => readable(db, { highWaterMark: count }), refused)
    assert.throws(() => writable(db, { batchSize: count }), refused)
  }
})
