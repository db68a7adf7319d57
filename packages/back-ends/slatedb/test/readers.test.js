// Readers beside a writer, in this process and in others.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Other } from '../../../../tests/support/back-ends/processes.mjs'
import { roundOf } from '../../../../tests/support/back-ends/rounds.mjs'
import { newLevel, openLevel, pause, temporaryDirectory } from './support/databases.js'
import { missing, Store } from './support/store.js'

const READER = new URL('support/reader.js', import.meta.url)

let store

before(async () => {
  if (missing === undefined) store = await Store.start()
})
// After the databases of all tests are closed: a close waits for the store.
after(() => store?.stop())

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
  for (let tries = 0; (await reader.get('a')) === undefined; tries++) {
    assert.ok(tries < 500)
    await pause(20)
  }
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
  const reader = await openLevel(t, { readOnly: true, snapshotLifetimeMs: 1000 }, location)
  const snapshot = reader.snapshot()
  assert.equal(await reader.get('a', { snapshot }), '1')
  await pause(1100)
  await assert.rejects(reader.get('a', { snapshot }), { code: 'LEVEL_SNAPSHOT_LOST' })
  await reader.refresh()
  assert.equal(await reader.get('a'), '1')
  await snapshot.close()
})

/** A reader in another process while batches are written. */
async function readBeside(t, location, options, rounds, refreshIntervalMs) {
  const writer = await openLevel(t, options, location)
  await writer.batch(roundOf(0))
  const other = new Other(t, READER, location, JSON.stringify({ ...options, refreshIntervalMs }))
  assert.equal(await other.line(), 'open')
  for (let round = 1; round <= rounds; round++) await writer.batch(roundOf(round))
  other.tell('r000')
  assert.equal(parseInt(await other.line(), 10), rounds)
  await writer.put('last', 'put')
  other.tell('last')
  assert.equal(await other.line(), 'put')
  const end = other.end()
  const counts = JSON.parse(await other.line())
  t.diagnostic(JSON.stringify(counts))
  assert.equal(await end, 0)
  assert.equal(counts.torn, 0)
  assert.equal(counts.backwards, 0)
  assert.ok(counts.reads > 20 && counts.states > 1)
}

test('a reader of another process sees whole batches, and after a refresh all that were acknowledged', async (t) => {
  await readBeside(t, temporaryDirectory(t), { flushIntervalMs: 5 }, 300, 50)
})

test('a reader of another process on an object store', { skip: missing ?? false }, async (t) => {
  await readBeside(t, store.location(), { ...store.options, flushIntervalMs: 50 }, 40, 1000)
})
