import assert from 'node:assert/strict'
import { Readable, Writable } from 'node:stream'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { copy, dump, dumpBytes, restore, verifyDump } from 'terrace-toolbox/copy'
import { scaled } from '../../../../tests/support/form.mjs'
import { databases } from '../support/databases.js'

const view = { keyEncoding: 'view', valueEncoding: 'view' }

/** Entries with keys and values of any bytes, some empty, some large. */
function someEntries(count) {
  const entries = []
  for (let index = 0; index < count; index++) {
    const key = Buffer.from([index >> 8, index & 255, ...Array.from({ length: index % 5 }, () => 255)])
    entries.push([key, Buffer.alloc(index === 7 ? 3_000_000 : (index * 7) % 300, index)])
  }
  return entries
}

async function fill(db, count) {
  const operations = someEntries(count).map(([key, value]) => ({ type: 'put', key, value }))
  await db.batch(operations, view)
}

const plain = (entries) => entries.map(([key, value]) => [Buffer.from(key), Buffer.from(value)])
const all = async (db) => plain(await db.iterator(view).all())

/** The checksum of entries, computed as the guide describes. */
function checksumOf(entries) {
  let sum = 0
  for (const [key, value] of entries) {
    const lengths = Buffer.alloc(8)
    lengths.writeUInt32LE(key.length, 0)
    lengths.writeUInt32LE(value.length, 4)
    sum = crc32(Buffer.concat([lengths, key, value]), sum)
  }
  return sum
}

/** A stream of Node that keeps what is written to it. */
function keeper() {
  const pieces = []
  const stream = new Writable({
    write(piece, _encoding, done) {
      pieces.push(piece)
      done()
    }
  })
  return { stream, bytes: () => Buffer.concat(pieces) }
}

for (const [name, open] of Object.entries(databases)) {
  for (const [targetName, openTarget] of Object.entries(databases)) {
    test(`from ${name} to ${targetName}: copied, and dumped and restored`, async (t) => {
      const from = await open(t)
      const count = scaled(3000, 1500)
      await fill(from, count)
      const entries = await all(from)
      const bytes = entries.reduce((sum, [key, value]) => sum + key.length + value.length, 0)
      const summary = { entries: count, bytes, checksum: checksumOf(entries) }

      const to = await openTarget(t)
      const done = { written: count, deleted: 0, resumed: false }
      assert.deepEqual(await copy(from, to, { batchSize: 700 }), { ...summary, ...done })
      assert.deepEqual(await all(to), entries)

      const { stream, bytes: dumped } = keeper()
      assert.deepEqual(await dump(from, stream), summary)
      assert.ok(stream.writableFinished)
      const restored = (await openTarget(t)).sublevel('restored')
      assert.deepEqual(await verifyDump([dumped()]), summary)
      assert.deepEqual(await restore(restored, Readable.from([dumped()])), summary)
      assert.deepEqual(await all(restored), entries)
    })
  }

  test(`${name}: sublevels and ranges of structured keys`, async (t) => {
    const db = await open(t)
    const from = db.sublevel('from', { keyEncoding: 'json', valueEncoding: 'json' })
    const to = db.sublevel('to', { keyEncoding: 'json', valueEncoding: 'json' })
    for (let index = 1; index < 10; index++) await from.put(index, { index })
    await to.put(100, 'stays')
    await copy(from, to, { range: { gt: 3, lte: 6 }, existing: 'merge' })
    assert.deepEqual(await to.keys().all(), [100, 4, 5, 6])

    const pieces = []
    for await (const piece of dumpBytes(from, { range: { lt: '5', keyEncoding: 'utf8' } })) pieces.push(piece)
    await to.clear()
    assert.equal((await restore(to, pieces)).entries, 4)
    assert.deepEqual(
      await to.values().all(),
      [1, 2, 3, 4].map((index) => ({ index }))
    )
  })

  test(`${name}: a dump shows the database as it was, whatever is written meanwhile`, async (t) => {
    const db = await open(t)
    await fill(db, 3000)
    const entries = await all(db)
    const pieces = []
    for await (const piece of dumpBytes(db)) {
      if (pieces.push(piece) === 1) continue
      await db.clear()
      await db.put('later', 'x')
    }
    const to = await open(t)
    await restore(to, pieces)
    assert.deepEqual(await all(to), entries)
  })

  test(`${name}: an empty value does not make the checksum forget what came before`, async (t) => {
    const db = await open(t)
    await db.batch([
      { type: 'put', key: 'a', value: 'x' },
      { type: 'put', key: 'b', value: '' }
    ])
    const { checksum } = await copy(db, await open(t))
    assert.equal(checksum, checksumOf(await all(db)))
    const { stream, bytes } = keeper()
    assert.equal((await dump(db, stream)).checksum, checksum)
    assert.equal((await verifyDump([bytes()])).checksum, checksum)
  })

  test(`${name}: an empty database`, async (t) => {
    const db = await open(t)
    const to = await open(t)
    const nothing = { entries: 0, bytes: 0, checksum: 0 }
    assert.deepEqual(await copy(db, to), { ...nothing, written: 0, deleted: 0, resumed: false })
    const { stream, bytes } = keeper()
    assert.deepEqual(await dump(db, stream), nothing)
    assert.equal(bytes().length, 41)
    assert.deepEqual(await restore(to, [bytes()]), nothing)
  })

  test(`${name}: through web streams`, async (t) => {
    const db = await open(t)
    await fill(db, 500)
    const through = new TransformStream()
    const to = await open(t)
    const [dumped, restored] = await Promise.all([dump(db, through.writable), restore(to, through.readable)])
    assert.deepEqual(dumped, restored)
    assert.deepEqual(await all(to), await all(db))
  })

  test(`${name}: a target that changes what is written is noticed`, async (t) => {
    const from = await open(t)
    await fill(from, 10)
    const to = await open(t)
    to.hooks.prewrite.add((operation) => {
      if (operation.type === 'put' && operation.key[1] === 5) operation.value = Buffer.from('other')
    })
    await assert.rejects(copy(from, to), { code: 'COPY_MISMATCH' })
    assert.equal((await copy(from, to, { verify: false })).entries, 10)
    await assert.rejects(copy(from, to, { existing: 'merge' }), { code: 'COPY_MISMATCH' })
  })

  test(`${name}: progress is told now and then, and at the end`, async (t) => {
    const from = await open(t)
    await fill(from, 2000)
    const told = []
    // Each reading of the clock, including those of the event loop, advances it by a millisecond.
    let now = performance.now()
    const began = now
    t.mock.method(performance, 'now', () => ++now)
    const to = await open(t)
    const { entries, bytes } = await copy(from, to, { batchSize: 10, onProgress: (each) => told.push(each) })
    const elapsedMs = now - began
    const all = { entries, bytes, estimatedBytes: bytes }
    assert.deepEqual(told.at(-1), { phase: 'verifying', ...all })
    assert.deepEqual(
      told.findLast(({ phase }) => phase === 'copying'),
      { phase: 'copying', ...all }
    )
    assert.ok(elapsedMs > 400 && told.length > 2, `${told.length} in ${elapsedMs} ms`)
    assert.ok(told.length <= 2 + elapsedMs / 250, `${told.length} in ${elapsedMs} ms`)
  })

  test(`${name}: an aborted signal ends the work, and lets everything go`, async (t) => {
    const from = await open(t)
    await fill(from, 2000)
    const to = await open(t)
    const reason = new Error('enough')
    const isAborted = ({ code, cause }) => code === 'COPY_ABORTED' && cause === reason
    const signal = AbortSignal.abort(reason)
    await assert.rejects(copy(from, to, { signal }), isAborted)
    await assert.rejects(dump(from, keeper().stream, { signal }), isAborted)
    await assert.rejects(restore(to, [], { signal }), isAborted)

    const controller = new AbortController()
    let written = 0
    const slow = new Writable({
      write(_piece, _encoding, done) {
        if (++written === 2) controller.abort(reason)
        else done()
      }
    })
    await assert.rejects(dump(from, slow, { signal: controller.signal }), isAborted)
    assert.ok(slow.destroyed)

    const during = new AbortController()
    let writes = 0
    // The first write is the marker's.
    to.on('write', () => ++writes === 3 && during.abort(reason))
    await assert.rejects(copy(from, to, { signal: during.signal, batchSize: 5 }), isAborted)
    const { length } = await all(to)
    assert.ok(length > 1 && length < 30, `${length}`)
    // If anything continued after the abort, the end result would differ.
    assert.equal((await copy(from, to)).entries, 2000)
    assert.deepEqual(await all(to), await all(from))
  })

  test(`${name}: a database that is closed, and one that closes meanwhile`, async (t) => {
    const db = await open(t)
    await fill(db, 3000)
    const pieces = dumpBytes(db)
    await pieces.next()
    await pieces.next()
    await db.close()
    const rest = async () => {
      while (!(await pieces.next()).done);
    }
    await assert.rejects(
      rest,
      ({ code }) => code === 'LEVEL_ITERATOR_NOT_OPEN' || code === 'LEVEL_DATABASE_NOT_OPEN'
    )
    await assert.rejects(dump(db, keeper().stream), { code: 'LEVEL_DATABASE_NOT_OPEN' })
    const other = await open(t)
    await other.put('a', 'b')
    await assert.rejects(copy(other, db), { code: 'LEVEL_DATABASE_NOT_OPEN' })
    await assert.rejects(copy(db, other), { code: 'LEVEL_DATABASE_NOT_OPEN' })
  })

  test(`${name}: a destination or a source that fails`, async (t) => {
    const db = await open(t)
    await fill(db, 100)
    const full = new Writable({ write: (_piece, _encoding, done) => done(new Error('disk full')) })
    await assert.rejects(dump(db, full), /disk full/)
    const webFull = new WritableStream({
      write() {
        throw new Error('disk full')
      }
    })
    await assert.rejects(dump(db, webFull), /disk full/)
    async function* broken() {
      for await (const piece of dumpBytes(db)) {
        yield piece
        throw new Error('cable cut')
      }
    }
    await assert.rejects(restore(await open(t), broken()), /cable cut/)
  })
}

test('options that are none are refused', async (t) => {
  const db = await databases['memory-level'](t)
  const refused = { code: 'COPY_INVALID_OPTION' }
  for (const count of [0, -1, 1.5, '5', NaN, 2 ** 32]) {
    await assert.rejects(copy(db, db, { batchSize: count }), refused)
    await assert.rejects(copy(db, db, { batchSizeBytes: count }), refused)
    await assert.rejects(restore(db, [], { batchSize: count }), refused)
    await assert.rejects(restore(db, [], { maxBlockSizeBytes: count }), refused)
  }
  for (const existing of ['keep', null, true]) await assert.rejects(copy(db, db, { existing }), refused)
})
