// Readers beside a writer, in this process and in others.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holdClock } from '../../../../tests/support/clock.mjs'
import { scaled } from '../../../../tests/support/form.mjs'
import { HANG_MS, until } from '../../../../tests/support/waiting.mjs'
import { newLevel, openLevel, temporaryDirectory } from './support/databases.js'
import { readBeside } from './support/read-beside.js'

test('a reader shows what the writer had stored at its last refresh', async (t) => {
  const location = temporaryDirectory(t)
  const writer = await openLevel(t, {}, location)
  await writer.put('a', '1')
  const reader = await openLevel(t, { readOnly: true }, location)
  assert.equal(await reader.get('a'), '1')

  await writer.put('a', '2')
  await writer.put('b', '2')
  assert.equal(await reader.get('a'), '1')
  const snapshot = reader.snapshot()
  const iterator = reader.iterator()
  await reader.refresh()
  assert.equal(await reader.get('a'), '2')
  assert.deepEqual(await reader.getMany(['a', 'b', 'c']), ['2', '2', undefined])
  assert.deepEqual(await reader.keys({ reverse: true }).all(), ['b', 'a'])
  // What was there before keeps the state that it shows.
  assert.deepEqual(await iterator.all(), [['a', '1']])
  assert.equal(await reader.get('a', { snapshot }), '1')
  await snapshot.close()

  // Readers do not fence the writer.
  await writer.put('c', '3')
  await reader.close()
  await writer.put('d', '4')
})

test('a reader refreshes by itself', async (t) => {
  const location = temporaryDirectory(t)
  const writer = await openLevel(t, {}, location)
  const reader = await openLevel(t, { readOnly: true, refreshIntervalMs: 50 }, location)
  await writer.put('a', '1')
  await until(async () => (await reader.get('a')) === '1')
})

test('a reader refuses writes', async (t) => {
  const location = temporaryDirectory(t)
  const writer = await openLevel(t, {}, location)
  await writer.put('a', '1')
  await writer.close()
  const reader = await openLevel(t, { readOnly: true }, location)
  const refused = { code: 'LEVEL_READ_ONLY' }
  await assert.rejects(reader.put('b', ''), refused)
  await assert.rejects(reader.del('a'), refused)
  await assert.rejects(reader.batch([{ type: 'put', key: 'b', value: '' }]), refused)
  await assert.rejects(reader.clear(), refused)
  assert.deepEqual(await reader.keys().all(), ['a'])
})

test('a reader of no database fails, and makes none', async (t) => {
  const location = temporaryDirectory(t)
  for (let i = 0; i < 2; i++) {
    const reader = newLevel(t, { readOnly: true }, location)
    await assert.rejects(reader.open(), ({ cause }) => cause.code === 'LEVEL_DATABASE_MISSING')
  }
})

test('a snapshot of a reader that is too old says so', async (t) => {
  const location = temporaryDirectory(t)
  const writer = await openLevel(t, {}, location)
  await writer.put('a', '1')
  const reader = await openLevel(t, { readOnly: true, snapshotLifetimeMs: HANG_MS }, location)
  const clock = holdClock(t)
  const snapshot = reader.snapshot()
  assert.equal(await reader.get('a', { snapshot }), '1')
  clock.advance(HANG_MS)
  await assert.rejects(reader.get('a', { snapshot }), { code: 'LEVEL_SNAPSHOT_LOST' })
  await reader.refresh()
  assert.equal(await reader.get('a'), '1')
  await snapshot.close()
})

test('a reader of another process sees whole batches, and after a refresh all that were acknowledged', async (t) => {
  await readBeside(t, temporaryDirectory(t), { flushIntervalMs: 5 }, scaled(300, 60), 50)
})
