// MemoryLevel beyond the published suite: what it has of Level's methods, its life, and what it takes over from memory-level.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryLevel as Rival } from 'memory-level'
import terrace, { MemoryLevel } from 'terrace'

test('the default export has it as well', () => {
  assert.equal(terrace.MemoryLevel, MemoryLevel)
})

test('it is constructed as memory-level is', async () => {
  for (const Class of [MemoryLevel, Rival]) {
    for (const args of [
      [],
      [undefined],
      [{ valueEncoding: 'json' }],
      ['ignored', { valueEncoding: 'json' }],
      [null, { valueEncoding: 'json' }],
      [{ storeEncoding: 'utf8', valueEncoding: 'json' }]
    ]) {
      const db = new Class(...args)
      await db.put('a', args[0] === undefined ? '1' : { one: 1 })
      assert.deepEqual(await db.get('a'), args[0] === undefined ? '1' : { one: 1 })
      await db.close()
    }
    assert.throws(() => new Class({ storeEncoding: 'json' }), { code: 'LEVEL_ENCODING_NOT_SUPPORTED' })
  }
})

test('the entries of an instance outlive close(), as those of memory-level do', async () => {
  for (const Class of [MemoryLevel, Rival]) {
    const db = new Class()
    await db.put('a', '1')
    await db.close()
    await db.open()
    assert.equal(await db.get('a'), '1')
    assert.equal(await new Class().get('a'), undefined)
    await db.close()
  }
})

test('its manifest tells what it can do', () => {
  const { supports } = new MemoryLevel()
  const { permanence, createIfMissing, getSync, explicitSnapshots, implicitSnapshots, everyWrite } = supports
  assert.deepEqual(
    { permanence, createIfMissing, getSync, explicitSnapshots, implicitSnapshots, everyWrite },
    {
      permanence: false,
      createIfMissing: false,
      getSync: true,
      explicitSnapshots: true,
      implicitSnapshots: true,
      everyWrite: true
    }
  )
})

test('synchronous reads, writes and loops, hooks and sublevels work together', async () => {
  const db = new MemoryLevel()
  await db.open()
  const names = db.sublevel('names')
  await names.open()
  db.hooks.prewrite.add(({ type, key, value }, batch) => {
    if (type === 'put') batch.add({ type: 'put', key: value, value: key, sublevel: names })
  })
  db.putSync('1', 'ann')
  db.batchSync([{ type: 'put', key: '2', value: 'bob' }])
  assert.equal(names.getSync('bob'), '2')
  db.delSync('1')
  assert.deepEqual(
    [...names.iterateSync()],
    [
      ['ann', '1'],
      ['bob', '2']
    ]
  )
  assert.deepEqual(await db.keys({ lt: '9', gte: '0', reverse: true }).all(), ['2'])
})

test('stats() and approximateSize() count keys, values, and 16 bytes for each entry', async () => {
  const db = new MemoryLevel()
  await db.batch(['a', 'b', 'c'].map((key) => ({ type: 'put', key, value: 'é'.repeat(5) })))
  assert.deepEqual(db.stats(), { entries: 3, sizeBytes: 3 * (1 + 10 + 16) })
  assert.equal(await db.approximateSize('b', 'd'), 2 * 27)
  assert.equal(await db.approximateSize(Buffer.from('b'), Buffer.from('c'), { keyEncoding: 'buffer' }), 27)
  await assert.rejects(db.approximateSize('a'), TypeError)
  await db.clear()
  assert.deepEqual(db.stats(), { entries: 0, sizeBytes: 0 })
  await db.close()
  assert.throws(() => db.stats(), { code: 'LEVEL_DATABASE_NOT_OPEN' })
})

test('a snapshot and an iterator go on showing what was overwritten, deleted and cleared', async () => {
  const db = new MemoryLevel()
  const value = (name, i) => `${name}${i}`.repeat(i % 200)
  const operations = (name) =>
    Array.from({ length: 3000 }, (_, i) => ({
      type: 'put',
      key: String(i).padStart(5, '0'),
      value: value(name, i)
    }))
  await db.batch(operations('old'))
  const snapshot = db.snapshot()
  const iterator = db.values()
  const first = await iterator.nextv(10)

  await db.batch(operations('new'))
  await db.clear({ gte: '00100', limit: 500, reverse: true })
  await db.clear()
  const expected = operations('old').map(({ value }) => value)
  assert.deepEqual(await db.values({ snapshot }).all(), expected)
  assert.deepEqual([...first, ...(await iterator.all())], expected)
  assert.deepEqual(await db.keys().all(), [])

  await db.put('00001', 'later')
  await db.put('zzz', 'stays')
  await db.clear({ snapshot })
  assert.deepEqual(await db.keys().all(), ['zzz'])
  await snapshot.close()
})

test('more keys and operations than one call of the addon takes', async () => {
  const db = new MemoryLevel()
  const keys = Array.from({ length: 10_000 }, (_, i) => `key ${i}`)
  await db.batch(keys.map((key) => ({ type: 'put', key, value: key })))
  assert.deepEqual(await db.getMany([...keys, 'missing']), [...keys, undefined])
  assert.deepEqual(await db.hasMany(['missing', ...keys]), [false, ...keys.map(() => true)])
})
