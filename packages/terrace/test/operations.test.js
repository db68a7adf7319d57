// Behaviour of single operations that abstract-level's suite does not cover.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesAllocatedBy, uncounted } from '../../../tests/support/allocations.mjs'
import { entries, newLevel, openLevel } from './support/databases.js'

test('keys and values of any bytes and lengths come back as they were', async (t) => {
  const db = await openLevel(t, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
  const lengths = [0, 1, 2, 127, 128, 1018, 1019, 1020, 1021, 1022, 1023, 1024, 1025, 4096, 70_000, 2_000_000]

  for (const length of lengths) {
    const key = Buffer.alloc(length, 255)
    const value = Buffer.alloc(length, length)
    await db.put(key, value)
    assert.ok(value.equals(await db.get(key)), String(length))
    assert.ok(value.equals(db.getSync(key)), String(length))
    assert.equal(await db.has(key), true)
  }

  await db.compactRange(Buffer.alloc(0), Buffer.alloc(10, 255))
  for (const length of lengths) assert.equal((await db.get(Buffer.alloc(length, 255))).length, length)
})

test('strings of any length and script come back as they were', async (t) => {
  const db = await openLevel(t)
  const scripts = ['a', 'é', '漢', '😀']

  for (const script of scripts) {
    for (const length of [0, 1, 200, 255, 256, 339, 340, 341, 509, 510, 1018, 1020, 1023, 1024, 5000]) {
      const text = script.repeat(length)
      await db.put(`key${text}`, text)
      assert.equal(await db.get(`key${text}`), text)
      assert.equal(db.getSync(`key${text}`), text)
    }
  }
})

test('views of all kinds are bytes', async (t) => {
  const db = await openLevel(t, { keyEncoding: 'view', valueEncoding: 'view' })
  const bytes = Uint8Array.from({ length: 32 }, (_, i) => i)
  const { buffer } = bytes

  for (const view of [
    new Uint8Array(buffer, 8, 16),
    new Uint8ClampedArray(buffer, 8, 16),
    new Uint16Array(buffer, 8, 8),
    new Int32Array(buffer, 8, 4),
    new Float64Array(buffer, 8, 2),
    new BigUint64Array(buffer, 8, 2),
    new DataView(buffer, 8, 16),
    Buffer.from(buffer, 8, 16)
  ]) {
    await db.put(view, view)
    assert.deepEqual(new Uint8Array(await db.get(view)), bytes.slice(8, 24), view.constructor.name)
    await db.del(view)
    assert.equal(await db.get(view), undefined)
  }

  const resizable = new ArrayBuffer(2, { maxByteLength: 16 })
  await db.put(new Uint8Array(resizable), new Uint8Array([1]))
  assert.deepEqual(new Uint8Array(await db.get(new Uint8Array(resizable))), new Uint8Array([1]))
})

test('what was passed may be changed once the call has returned', async (t) => {
  const db = await openLevel(t, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
  const key = Buffer.from('key')
  const value = Buffer.from('value')
  const written = [
    db.put(key, value, { sync: true }),
    db.batch([{ type: 'put', key: Buffer.from('batch'), value }], { sync: true }),
    db.batch().put(Buffer.from('chained'), value).write({ sync: true })
  ]
  key.fill(0)
  value.fill(0)
  await Promise.all(written)

  assert.deepEqual(await db.keys({ keyEncoding: 'utf8' }).all(), ['batch', 'chained', 'key'])
  assert.deepEqual(await db.values({ valueEncoding: 'utf8' }).all(), ['value', 'value', 'value'])
})

test('a key over the limit is refused, and nothing is written', async (t) => {
  const db = await openLevel(t, { keyEncoding: 'buffer' })
  const tooLong = Buffer.alloc(64 * 1024 * 1024 + 1)
  const refused = { code: 'LEVEL_INVALID_ARGUMENT' }

  await assert.rejects(db.put(tooLong, 'value'), refused)
  await assert.rejects(
    db.batch([
      { type: 'put', key: Buffer.from('a'), value: '1' },
      { type: 'del', key: tooLong }
    ]),
    refused
  )
  assert.throws(() => db.batch().put(tooLong, 'value'), refused)
  assert.deepEqual(await db.keys().all(), [])
})

test('reads that need the disk come as promises, and agree with those that do not', async (t) => {
  const db = await openLevel(t, { cacheSize: 0, compression: false })
  await db.batch(entries(2000))
  await db.compactRange('a', 'z')
  await db.close()
  await db.open()
  const keys = entries(2000).map((entry) => entry.key)
  const values = entries(2000).map((entry) => entry.value)

  assert.deepEqual(await Promise.all(keys.map((key) => db.get(key))), values)
  assert.deepEqual(await db.getMany([...keys, 'missing']), [...values, undefined])
  assert.deepEqual(await db.getMany(keys.slice(0, 5)), values.slice(0, 5))
  assert.deepEqual(await Promise.all(['key0000', 'nope', 'key1999'].map((key) => db.has(key))), [
    true,
    false,
    true
  ])
  assert.deepEqual(await db.hasMany([...keys, 'missing']), [...keys.map(() => true), false])
  assert.deepEqual(
    keys.map((key) => db.getSync(key)),
    values
  )
})

test('a read shows the state at the time of its call', async (t) => {
  const db = await openLevel(t, { cacheSize: 0 })
  await db.batch(entries(1000))
  await db.compactRange('a', 'z')
  await db.close()
  await db.open()

  const reads = [
    db.get('key0005'),
    db.getMany(['key0005', 'key0900']),
    db.has('key0005'),
    db.hasMany(['key0005']),
    db.keys({ limit: 1 }).all()
  ]

  const cleared = db.clear()
  assert.deepEqual(await Promise.all(reads), ['value5', ['value5', 'value900'], true, [true], ['key0000']])
  await cleared
  assert.equal(await db.get('key0005'), undefined)
})

test('a snapshot keeps its state through writes, compactions and a clear', async (t) => {
  const db = await openLevel(t)
  await db.batch(entries(1000))
  const snapshot = db.snapshot()
  await db.batch(entries(1000, 'changed'))
  await db.compactRange('a', 'z')
  await db.clear()
  await db.compactRange('a', 'z')

  assert.equal(await db.get('key0005', { snapshot }), 'value5')
  assert.equal(db.getSync('key0005', { snapshot }), 'value5')
  assert.equal(await db.has('key0005', { snapshot }), true)
  assert.deepEqual(await db.getMany(['key0005'], { snapshot }), ['value5'])
  assert.deepEqual(await db.hasMany(['key0005'], { snapshot }), [true])
  assert.equal((await db.iterator({ snapshot }).all()).length, 1000)
  assert.deepEqual(await db.keys().all(), [])
  await snapshot.close()
})

test('a snapshot closed during has() serves it to the end', async (t) => {
  const db = await openLevel(t, { cacheSize: 0 })
  await db.batch(entries(1000))
  await db.compactRange('a', 'z')
  await db.close()
  await db.open()
  const snapshot = db.snapshot()
  await db.del('key0005')
  const [found] = await Promise.all([db.has('key0005', { snapshot }), snapshot.close()])

  assert.equal(found, true)
})

test('a snapshot of another database is refused', async (t) => {
  const db = await openLevel(t)
  const other = await openLevel(t)
  const snapshot = other.snapshot()
  await assert.rejects(db.get('a', { snapshot }), { code: 'LEVEL_INVALID_ARGUMENT' })
  await assert.rejects(db.iterator({ snapshot }).next(), { code: 'LEVEL_INVALID_ARGUMENT' })
  await assert.rejects(db.clear({ snapshot }), { code: 'LEVEL_INVALID_ARGUMENT' })
  const imitation = { ref() {}, unref() {} }
  await assert.rejects(db.get('a', { snapshot: imitation }), { code: 'LEVEL_INVALID_ARGUMENT' })
})

test('clear() deletes a range, from either end, up to a limit', async (t) => {
  const db = await openLevel(t)
  const left = () => db.keys().all()

  for (const [options, expected] of [
    [{}, []],
    [{ gte: 'key0003' }, ['key0000', 'key0001', 'key0002']],
    [{ gt: 'key0001', lt: 'key0004' }, ['key0000', 'key0001', 'key0004', 'key0005']],
    [{ limit: 2 }, ['key0002', 'key0003', 'key0004', 'key0005']],
    [{ limit: 2, reverse: true }, ['key0000', 'key0001', 'key0002', 'key0003']],
    [{ limit: 0 }, ['key0000', 'key0001', 'key0002', 'key0003', 'key0004', 'key0005']],
    [{ lte: 'key0002', limit: 1, reverse: true }, ['key0000', 'key0001', 'key0003', 'key0004', 'key0005']]
  ]) {
    await db.batch(entries(6))
    await db.clear(options)
    assert.deepEqual(await left(), expected, JSON.stringify(options))
  }
})

test('clear() of many keys with large ones takes several batches', async (t) => {
  const db = await openLevel(t)
  const operations = entries(3000).map((entry) => ({ ...entry, key: entry.key.padEnd(2000, '-') }))
  await db.batch(operations)
  await db.clear({ gte: 'key0010' })

  assert.equal((await db.keys().all()).length, 10)
})

test('operations before opening has finished are deferred', async (t) => {
  const db = newLevel(t)
  const [, value, keys] = await Promise.all([db.put('a', '1'), db.get('a'), db.keys().all(), db.checkpoint])
  assert.equal(value, '1')
  assert.deepEqual(keys, ['a'])
})

test('sublevels are ranges of the same database', async (t) => {
  const db = await openLevel(t)
  const users = db.sublevel('users', { valueEncoding: 'json' })
  const names = db.sublevel('names')
  await db.batch([
    { type: 'put', sublevel: users, key: '1', value: { name: 'ada' } },
    { type: 'put', sublevel: names, key: 'ada', value: '1' }
  ])

  assert.deepEqual(await users.get('1'), { name: 'ada' })
  assert.deepEqual(await names.iterator().all(), [['ada', '1']])
  await users.clear()
  assert.deepEqual(await db.keys().all(), ['!names!ada'])
})

test('chained batches are written whole, or not at all', async (t) => {
  const db = await openLevel(t)
  const batch = db.batch().put('a', '1').put('b', '2').del('a')
  assert.equal(batch.length, 3)
  assert.deepEqual(await db.keys().all(), [])
  await batch.write()
  assert.deepEqual(await db.keys().all(), ['b'])

  await db.batch().put('c', '3').clear().put('d', '4').write()
  await db.batch().put('e', '5').close()
  assert.deepEqual(await db.keys().all(), ['b', 'd'])
})

test('getMany() and hasMany() of more keys than can be passed at once answer them all, from one state', async (t) => {
  const db = await openLevel(t)
  const all = entries(6000)
  await db.batch(all.filter((_, i) => i % 3 !== 0))
  const keys = all.map(({ key }) => key)
  const wanted = all.map(({ value }, i) => (i % 3 === 0 ? undefined : value))

  const values = db.getMany(keys)
  const buffers = db.getMany(keys, { valueEncoding: 'buffer' })
  const answers = db.hasMany(keys)
  await db.clear()

  assert.deepEqual(await values, wanted)
  assert.deepEqual(
    (await buffers).map((value) => value?.toString()),
    wanted
  )
  assert.deepEqual(
    await answers,
    wanted.map((value) => value !== undefined)
  )
})

test('buffers of every size are the values that were written, also when many are kept', async (t) => {
  const db = await openLevel(t, { keyEncoding: 'view', valueEncoding: 'buffer' })
  const bytesOf = (i) => Buffer.alloc((i * 37) % 3000, i % 251)
  const keyOf = (i) => new Uint8Array([i >> 8, i & 255])
  for (let i = 0; i < 500; i++) db.putSync(keyOf(i), bytesOf(i))

  const kept = []
  for (let i = 0; i < 500; i++) kept.push(await db.get(keyOf(i)), db.getSync(keyOf(i)))
  const many = await db.getMany(Array.from({ length: 500 }, (_, i) => keyOf(i)))
  const looped = []
  for await (const [key, value] of db.iterator()) looped.push([Uint8Array.from(key), value])

  for (let i = 0; i < 500; i++) {
    assert.deepEqual(kept[2 * i], bytesOf(i))
    assert.deepEqual(kept[2 * i + 1], bytesOf(i))
    assert.deepEqual(many[i], bytesOf(i))
    assert.deepEqual(looped[i], [keyOf(i), bytesOf(i)])
  }
})

test('batch() with options holds JavaScript up no longer than without', async (t) => {
  if (uncounted !== undefined) return t.diagnostic(`skipped: ${uncounted}`)
  const db = await openLevel(t)
  const operations = Array.from({ length: 10_000 }, (_, i) => ({ type: 'put', key: `k${i}`, value: `v${i}` }))
  const allocated = { without: 0, sync: 0 }

  // What is allocated once is allocated in the first round.
  for (let round = 0; round < 3; round++) {
    for (const [name, options] of [['without'], ['sync', { sync: true }]]) {
      let written
      allocated[name] = await bytesAllocatedBy(() => {
        written = db.batch(operations, options)
      })
      await written
    }
  }

  // It once took twelve times as long, because each operation was copied together with the options. A copy has 50 bytes or more.
  const copies = 50 * operations.length
  assert.ok(allocated.sync - allocated.without < copies / 2, JSON.stringify(allocated))
})

test('batch() does not change its arguments, and rejects invalid operations', async (t) => {
  const db = await openLevel(t)
  const operations = [
    { type: 'put', key: { n: 1 }, value: [1], keyEncoding: 'json', valueEncoding: 'json' },
    { type: 'del', key: 'gone' }
  ]
  const before = structuredClone(operations)
  await db.batch(operations, { sync: true })
  assert.deepEqual(operations, before)
  assert.equal(await db.get('{"n":1}'), '[1]')

  await assert.rejects(db.batch([{ type: 'put', key: null, value: 'v' }]), { code: 'LEVEL_INVALID_KEY' })
  await assert.rejects(db.batch([{ type: 'put', key: 'k' }], { sync: true }), { code: 'LEVEL_INVALID_VALUE' })
  await assert.rejects(db.batch([{ type: 'get', key: 'k' }]), TypeError)
  await assert.rejects(db.batch('no array'), TypeError)
  await db.batch([])
  assert.deepEqual(await db.keys().all(), ['{"n":1}'])
})

test('batch() runs prewrite hooks', async (t) => {
  const db = await openLevel(t)
  db.hooks.prewrite.add((operation, batch) => {
    batch.add({ type: 'put', key: `${operation.key} too`, value: operation.value })
  })
  await db.batch([{ type: 'put', key: 'a', value: '1' }], { sync: true })
  assert.deepEqual(await db.keys().all(), ['a', 'a too'])
})
