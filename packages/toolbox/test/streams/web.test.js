import assert from 'node:assert/strict'
import { test } from 'node:test'
import { webReadable, webReadableKeys, webReadableValues, webWritable } from 'terrace-toolbox/streams'
import { scaled } from '../../../../tests/support/form.mjs'
import { all } from '../support/collect.js'
import { databases } from '../support/databases.js'
import { countClosed, fill, json, key } from './support.js'

/** A web stream of items. */
const streamOf = (items) => ReadableStream.from(items)

for (const [name, open] of Object.entries(databases)) {
  test(`${name}: entries, keys and values of a range`, async (t) => {
    const db = await open(t, json)
    await fill(db, 2000)
    assert.deepEqual(
      await all(webReadable(db)),
      Array.from({ length: 2000 }, (_, index) => ({ key: key(index), value: index }))
    )
    assert.deepEqual(await all(webReadableKeys(db, { gt: key(5), limit: 3 })), [key(6), key(7), key(8)])
    assert.deepEqual(await all(webReadableValues(db, { reverse: true, lt: key(3) })), [2, 1, 0])
    assert.deepEqual(await all(webReadable(db, { gte: 'x' })), [])
  })

  test(`${name}: from one database into another by pipeThrough and pipeTo`, async (t) => {
    const from = await open(t, json)
    const to = await open(t, json)
    const count = scaled(5000, 1000)
    await fill(from, count)
    const sizes = []
    to.on('write', (operations) => sizes.push(operations.length))
    const doubling = new TransformStream({
      transform: ({ key, value }, controller) => controller.enqueue({ key, value: value * 2 })
    })
    await webReadable(from)
      .pipeThrough(doubling)
      .pipeTo(webWritable(to, { batchSize: 200 }))
    assert.deepEqual(
      await to.values().all(),
      Array.from({ length: count }, (_, index) => index * 2)
    )
    assert.ok(Math.max(...sizes) <= 200)
    await streamOf([{ type: 'del', key: key(0) }, [key(1), 'one']]).pipeTo(webWritable(to))
    assert.deepEqual(await to.getMany([key(0), key(1)]), [undefined, 'one'])
  })

  test(`${name}: entries that come at once go into few batches`, async (t) => {
    const db = await open(t)
    const sizes = []
    db.on('write', (operations) => sizes.push(operations.length))
    const writer = webWritable(db, { batchSize: 100 }).getWriter()
    const writes = Array.from({ length: 1000 }, (_, index) => writer.write([key(index), 'x']))
    await Promise.all(writes)
    await writer.close()
    assert.equal(
      sizes.reduce((sum, size) => sum + size),
      1000
    )
    assert.ok(Math.max(...sizes) <= 100)
    if (name === 'classic-level') assert.ok(sizes.length < 500, `${sizes.length} batches`)
  })

  test(`${name}: canceling closes the iterator, and reads no more`, async (t) => {
    const db = await open(t, json)
    await fill(db, 5000)
    const closed = countClosed(db)
    for await (const { value } of webReadable(db)) if (value === 5) break
    assert.equal(closed(), 1)
    await webReadable(db).cancel()
    assert.equal(closed(), 2)
  })

  test(`${name}: what cannot be read or written fails the stream`, async (t) => {
    const db = await open(t)
    await db.put('a', '{')
    await assert.rejects(all(webReadable(db, json)), { code: 'LEVEL_DECODE_ERROR' })
    await assert.rejects(streamOf([5]).pipeTo(webWritable(db)), { code: 'STREAM_INVALID_ENTRY' })
    await assert.rejects(streamOf([['b', null]]).pipeTo(webWritable(db)), { code: 'LEVEL_INVALID_VALUE' })
    const writer = webWritable(db).getWriter()
    await writer.write(['c', 'x'])
    await writer.abort(new Error('enough'))
    assert.deepEqual(await db.keys().all(), ['a', 'c'])
  })

  test(`${name}: closing the database fails its streams`, async (t) => {
    const db = await open(t, json)
    await fill(db, 2000)
    const ended = { code: 'STREAM_DATABASE_CLOSED' }
    const reader = webReadable(db, { highWaterMark: 1 }).getReader()
    await reader.read()
    const writer = webWritable(db).getWriter()
    const whenWriterEnds = assert.rejects(writer.closed, ended)
    const whenReaderEnds = assert.rejects(reader.closed, ended)
    await db.close()
    await Promise.all([whenWriterEnds, whenReaderEnds])
    await assert.rejects(writer.write(['a', 1]), ended)
    await assert.rejects(reader.read(), ended)
  })
}
