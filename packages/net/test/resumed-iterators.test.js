// Iterators and snapshots whose connection is cut, or whose server is restarted: no entry is missing or repeated.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filled, proxied, readOn, state } from './support/proxied.js'
import { Random, seed } from './support/random.js'

for (const method of ['keys', 'values', 'iterator']) {
  test(`${method} give each entry once, from one state, while connections are cut (TERRACE_SEED=${seed})`, async (t) => {
    const random = new Random()
    const { db, proxy, connect } = await proxied(t)
    const entries = await filled(db, 6000)
    const client = connect()
    await client.open()
    proxy.cutAfter = () => 20_000 + random.below(80_000)
    proxy.cut()
    // Both directions, and more until at least one connection was cut: no connection lasts for all these walks.
    for (let walk = 0; walk < 2 || (proxy.cuts === 0 && walk < 10); walk++) {
      const reverse = walk % 2 === 1
      const iterator = client[method]({ reverse })
      const found = await iterator.nextv(10)
      // These writes must not be visible. The next walk finds the same entries.
      await db.batch([
        { type: 'put', key: Buffer.from('k001500a'), value: Buffer.from('new') },
        { type: 'del', key: Buffer.from('k002000') }
      ])
      await readOn(iterator, found, () => 1 + random.below(300))
      await iterator.close()
      await db.batch([
        { type: 'del', key: Buffer.from('k001500a') },
        { type: 'put', key: Buffer.from('k002000'), value: Buffer.from('value 2000') }
      ])
      const expected = reverse ? entries.toReversed() : entries
      assert.deepEqual(
        found,
        method === 'iterator' ? expected : expected.map(([key, value]) => (method === 'keys' ? key : value))
      )
    }
    assert.ok(proxy.cuts > 0)
  })
}

test('an iterator seeks to where it is told while connections are cut', async (t) => {
  const random = new Random()
  const { db, proxy, connect } = await proxied(t)
  const entries = await filled(db, 1000)
  const client = connect()
  await client.open()
  for (const reverse of [false, true]) {
    const iterator = client.iterator({ reverse })
    for (let seeks = 0; seeks < 20; seeks++) {
      const index = random.below(entries.length)
      const count = random.below(300)
      if (random.below(2) === 0) proxy.cut()
      iterator.seek(entries[index][0])
      if (random.below(2) === 0) proxy.cut()
      const found = count === 0 ? [] : await iterator.nextv(count)
      const expected = reverse ? entries.slice(0, index + 1).reverse() : entries.slice(index)
      assert.deepEqual(found, expected.slice(0, count))
    }
    await iterator.close()
  }
})

test('a snapshot survives a connection that is cut', async (t) => {
  const { db, proxy, connect } = await proxied(t)
  const entries = await filled(db, 100)
  const client = connect()
  await client.open()
  const snapshot = client.snapshot()
  const iterator = client.iterator({ snapshot })
  assert.deepEqual(await iterator.next(), entries[0])
  proxy.cut()
  await client.put('k000001', 'changed')
  proxy.cut()
  assert.equal(await client.get('k000001', { snapshot }), 'value 1')
  proxy.cut()
  assert.deepEqual(await iterator.all(), entries.slice(1))
  await snapshot.close()
})

for (const reverse of [false, true]) {
  const direction = reverse ? 'backwards' : 'forwards'
  test(`an iterator ${direction} goes on after its last key when the server was started anew`, async (t) => {
    const { db, connect, restart } = await proxied(t)
    const entries = await filled(db, 500)
    const expected = reverse ? entries.toReversed() : entries
    const client = connect()
    await client.open()
    const iterator = client.iterator({ reverse, gte: 'k000100', lt: 'k000400' })
    const found = await iterator.nextv(50)
    await restart()
    found.push(...(await iterator.nextv(50)))
    await restart()
    found.push(...(await iterator.all()))
    assert.deepEqual(
      found,
      expected.filter(([key]) => key >= 'k000100' && key < 'k000400')
    )
  })

  test(`an iterator ${direction} can seek back to what it has passed when the server was started anew`, async (t) => {
    const { db, connect, restart } = await proxied(t)
    const entries = await filled(db, 20)
    const expected = reverse ? entries.toReversed() : entries
    const client = connect()
    await client.open()
    const iterator = client.iterator({ reverse })
    await iterator.nextv(10)
    await restart()
    assert.deepEqual(await iterator.nextv(2), expected.slice(10, 12))
    iterator.seek(expected[3][0])
    assert.deepEqual(await iterator.nextv(100), expected.slice(3))
    await iterator.close()
  })
}

test('a snapshot fails with NET_SESSION_LOST when the server was started anew', async (t) => {
  const { db, connect, restart } = await proxied(t)
  const entries = await filled(db, 1000)
  const client = connect()
  await client.open()
  const snapshot = client.snapshot()
  const iterator = client.iterator({ snapshot, highWaterMarkBytes: 100 })
  await iterator.next()
  await restart()
  await assert.rejects(client.get('k000001', { snapshot }), { code: 'NET_SESSION_LOST' })
  await assert.rejects(iterator.all(), { code: 'NET_SESSION_LOST' })
  const late = client.keys({ snapshot })
  await assert.rejects(late.all(), { code: 'NET_SESSION_LOST' })
  await snapshot.close()
  assert.deepEqual(await client.iterator().all(), entries)
})

test('an iterator that was away for too long fails, and does not leave out entries', async (t) => {
  const { db, proxy, connect } = await proxied(t)
  const entries = await filled(db, 1000)
  const client = connect({ offlineTimeoutMs: 30 })
  await client.open()
  const iterator = client.iterator({ highWaterMarkBytes: 200 })
  const found = await iterator.nextv(5)
  proxy.isRefusing = true
  proxy.cut()
  const read = () => readOn(iterator, found, () => 5)
  await assert.rejects(read(), { code: 'NET_OFFLINE' })
  proxy.restore()
  await state(client, true)
  await assert.rejects(read(), { code: 'NET_OFFLINE' })
  assert.deepEqual(found, entries.slice(0, found.length))
})
