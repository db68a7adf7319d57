// The order of writes, around a `clear` and otherwise.

import assert from 'node:assert/strict'

const put = (key) => ({ type: 'put', key, value: 'value' })

/** Registers the tests that hold for any back-end. */
export function testWrites({ test, openLevel }) {
  test('a clear deletes what was written before it and nothing that is written after it', async (t) => {
    const db = await openLevel(t)
    const order = []
    const note = (name) => () => order.push(name)
    await Promise.all([
      db.put('a', '').then(note('put a')),
      db.batch([put('b'), put('c')]).then(note('batch')),
      db.clear().then(note('clear')),
      db.put('d', '').then(note('put d')),
      db.clear({ gte: 'd' }).then(note('clear d')),
      db.put('e', '').then(note('put e'))
    ])
    assert.deepEqual(await db.keys().all(), ['e'])
    assert.ok(order.indexOf('clear') < order.indexOf('clear d'))
  })

  const clears = {
    'of all': {},
    'of a range': { gte: 'a', lt: 'z' },
    'with a limit': { limit: 3 },
    'in reverse': { reverse: true, limit: 3 },
    'of a snapshot': { isOfSnapshot: true }
  }
  for (const [kind, { isOfSnapshot = false, ...options }] of Object.entries(clears)) {
    test(`a clear ${kind} deletes nothing that is written after it`, async (t) => {
      const db = await openLevel(t)
      const keys = ['a', 'b', 'c']
      await db.batch(keys.map(put))
      const snapshot = isOfSnapshot ? db.snapshot() : undefined
      await Promise.all([
        db.put('b', 'before'),
        db.clear({ ...options, snapshot }),
        ...keys.map((key) => db.put(key, 'after')),
        db.clear({ ...options, snapshot }),
        db.put('b', 'last')
      ])
      assert.deepEqual(await db.iterator().all(), [['b', 'last']])
      await snapshot?.close()
    })
  }

  test('what a caller changes while its write waits for a clear is not written', async (t) => {
    const db = await openLevel(t, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
    await db.put(Buffer.from('old'), Buffer.from('old'))
    const key = Buffer.from('key')
    const value = Buffer.from('value')
    const writes = [db.clear(), db.put(key, value)]
    key.fill(0)
    value.fill(0)
    await Promise.all(writes)
    assert.deepEqual(await db.iterator().all(), [[Buffer.from('key'), Buffer.from('value')]])
  })

  test('a clear of many keys, with a limit and in both directions', async (t) => {
    const db = await openLevel(t)
    const keys = Array.from({ length: 5000 }, (_, i) => `k${String(i).padStart(4, '0')}`)
    await db.batch(keys.map(put))
    await db.clear({ limit: 1500 })
    assert.deepEqual(await db.keys().all(), keys.slice(1500))
    await db.clear({ reverse: true, limit: 1200, lt: 'k4900' })
    assert.deepEqual(await db.keys().all(), [...keys.slice(1500, 3700), ...keys.slice(4900)])
    await db.clear({ limit: 0 })
    await db.clear({ gt: 'k1500', lte: 'k3600' })
    assert.deepEqual(await db.keys().all(), [keys[1500], ...keys.slice(3601, 3700), ...keys.slice(4900)])
    const snapshot = db.snapshot()
    await db.put('later', '')
    await db.clear({ snapshot })
    assert.deepEqual(await db.keys().all(), ['later'])
    await snapshot.close()
  })

  test('clear() that waits for earlier writes when close() is called deletes what they have written', async (t) => {
    const db = await openLevel(t)
    const calls = [
      ...Array.from({ length: 20 }, (_, i) => db.put(`k${i}`, 'value')),
      db.clear(),
      db.put('after', '1'),
      db.clear({ gt: 'b' }),
      db.close()
    ]
    await Promise.all(calls)
    await db.open()
    assert.deepEqual(await db.keys().all(), ['after'])
  })

  test('closing waits for writes and clears that were called before', async (t) => {
    const db = await openLevel(t)
    await db.batch(Array.from({ length: 3000 }, (_, i) => put(`old${i}`)))
    const calls = [db.clear(), db.put('a', '1'), db.batch([put('b'), put('c')])]
    await db.close()
    await Promise.all(calls)
    await db.open()
    assert.deepEqual(await db.keys().all(), ['a', 'b', 'c'])
  })

  test('writes of one turn take effect in the order of the calls, and a batch keeps the last operation on a key', async (t) => {
    const db = await openLevel(t)
    const calls = []
    for (let i = 0; i < 3000; i++) calls.push(i % 3 === 2 ? db.del('key') : db.put('key', `${i}`))
    calls.push(db.put('key', 'last'))
    await Promise.all(calls)
    assert.equal(await db.get('key'), 'last')
    await db.batch([
      put('key'),
      { type: 'del', key: 'key' },
      { type: 'put', key: 'key', value: 'again' },
      put('other'),
      { type: 'del', key: 'other' }
    ])
    assert.deepEqual(await db.iterator().all(), [['key', 'again']])
  })
}
