// Two writers: the one that opened the database last has it; the other is fenced.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Other } from '../../../../tests/support/back-ends/processes.mjs'
import { scaled } from '../../../../tests/support/form.mjs'
import { openLevel, temporaryDirectory } from './support/databases.js'
import { assertNoneLost, takeTurns } from './support/turns.js'

const WRITER = new URL('support/writer.js', import.meta.url)

test('a writer that has been replaced is fenced, and stores nothing more', async (t) => {
  const location = temporaryDirectory(t)
  const old = await openLevel(t, {}, location)
  await old.put('a', 'old')
  const successor = await openLevel(t, {}, location)
  assert.equal(await successor.get('a'), 'old')

  await assert.rejects(old.put('b', 'old'), { code: 'LEVEL_FENCED', location })
  await assert.rejects(old.batch([{ type: 'del', key: 'a' }]), { code: 'LEVEL_FENCED' })
  await assert.rejects(old.clear(), { code: 'LEVEL_FENCED' })
  await assert.rejects(old.get('a'), { code: 'LEVEL_FENCED' })
  await assert.rejects(old.keys().all(), { code: 'LEVEL_FENCED' })
  await old.close()
  await successor.put('b', 'successor')
  assert.deepEqual(await successor.iterator().all(), [
    ['a', 'old'],
    ['b', 'successor']
  ])

  await old.open()
  assert.equal(await old.get('b'), 'successor')
  await assert.rejects(successor.put('c', ''), { code: 'LEVEL_FENCED' })
})

test('a writer that waits for nothing learns from its close that its last writes are lost', async (t) => {
  const location = temporaryDirectory(t)
  const old = await openLevel(t, { acknowledge: 'memory', flushIntervalMs: 50 }, location)
  await old.put('a', 'kept', { sync: true })
  const successor = await openLevel(t, {}, location)
  await old.put('b', 'lost')
  await assert.rejects(old.close(), (error) => error.cause.code === 'LEVEL_FENCED')
  assert.equal(old.status, 'closed')
  await old.close()
  assert.equal(await successor.get('b'), undefined)
})

test('writers that fence each other lose no acknowledged write', async (t) => {
  assertNoneLost(await takeTurns(t, temporaryDirectory(t), {}, scaled(10, 3)))
})

test('a writer of another process is fenced', async (t) => {
  const location = temporaryDirectory(t)
  const other = new Other(t, WRITER, location, '1', JSON.stringify({ flushIntervalMs: 0 }))
  await other.line()
  const db = await openLevel(t, {}, location)
  let line
  do line = await other.line()
  while (line !== undefined && !line.startsWith('failed'))
  assert.equal(line, 'failed LEVEL_FENCED')
  assert.equal(await other.end(), 0)
  assert.notEqual(await db.get('u1'), undefined)
})
