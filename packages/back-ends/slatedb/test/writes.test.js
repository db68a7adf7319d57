// The order of writes, when they are acknowledged, and what is written of them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testWrites } from '../../../../tests/support/back-ends/writes.mjs'
import { holdClock } from '../../../../tests/support/clock.mjs'
import { isShort } from '../../../../tests/support/form.mjs'
import { openLevel, temporaryDirectory } from './support/databases.js'

testWrites({ test, openLevel: (t, options) => openLevel(t, { flushIntervalMs: 50, ...options }) })

test('closing keeps what was acknowledged in memory', async (t) => {
  holdClock(t)
  const db = await openLevel(t, { acknowledge: 'memory', flushIntervalMs: 30_000 })
  for (let i = 0; i < 100; i++) await db.put(`k${i}`, 'value')
  await db.close()
  await db.open()
  assert.equal((await db.keys().all()).length, 100)
})

test('a write without sync waits for others; one with sync does not, and what came before it is stored with it', async (t) => {
  holdClock(t)
  const location = temporaryDirectory(t)
  const db = await openLevel(t, { flushIntervalMs: 30_000 }, location)
  let isAcknowledged = false
  const first = db.put('first', '1').then(() => {
    isAcknowledged = true
  })
  await db.get('first')
  // Another database stores its writes meanwhile.
  const other = await openLevel(t)
  for (let i = 0; i < 20; i++) await other.put('key', `${i}`)
  assert.equal(isAcknowledged, false)
  await db.put('second', '2', { sync: true })
  await first
  // Another instance finds both in the store.
  const reader = await openLevel(t, { readOnly: true }, location)
  assert.deepEqual(await reader.keys().all(), ['first', 'second'])
})

test('a write of no operations is acknowledged after the earlier ones', async (t) => {
  const db = await openLevel(t)
  const order = []
  await Promise.all([
    db.put('a', '').then(() => order.push('put')),
    db.batch([]).then(() => order.push('empty'))
  ])
  assert.equal(order.length, 2)
})

test('hundreds of writes each in the store by itself, and large values', async (t) => {
  const db = await openLevel(t)
  const count = isShort ? 100 : 250
  for (let i = 0; i < count; i++) await db.put(`k${i}`, `${i}`, { sync: true })
  const large = 'x'.repeat(6_000_000)
  await Promise.all([db.put('large', large), db.put('large too', large), db.put('small', '1')])
  await db.close()
  await db.open()
  assert.equal((await db.keys({ gte: 'k', lt: 'l' }).all()).length, count)
  assert.equal(await db.get('large'), large)
  assert.equal(await db.get('small'), '1')
})
