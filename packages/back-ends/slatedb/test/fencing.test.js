// Two writers: the one that opened the database last has it; the other is fenced.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Other } from '../../../../tests/support/back-ends/processes.mjs'
import { newLevel, openLevel, pause, temporaryDirectory } from './support/databases.js'
import { missing, Store } from './support/store.js'

const WRITER = new URL('support/writer.js', import.meta.url)

let store

before(async () => {
  if (missing === undefined) store = await Store.start()
})
// After the databases of all tests are closed: a close waits for the store.
after(() => store?.stop())

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
  await old.close()
  assert.equal(await successor.get('b'), undefined)
})

/** Two writers in turns: each opens, writes and is fenced by the other. Counts what was acknowledged and is not there. */
async function takeTurns(t, location, options, turns) {
  const counts = { turns, acknowledged: 0, fenced: 0, missing: 0, other: [] }
  const acknowledged = new Map()
  const running = []
  for (let turn = 0; turn < turns; turn++) {
    const db = newLevel(t, { ...options, pollIntervalMs: 100 }, location)
    await db.open()
    running.push(
      (async () => {
        for (let number = 0; ; number++) {
          const key = `${turn}-${number}`
          try {
            await (number % 3 === 0
              ? db.batch([
                  { type: 'put', key, value: key },
                  { type: 'put', key: 'newest', value: key }
                ])
              : db.put(key, key))
          } catch (error) {
            if (error.code === 'LEVEL_FENCED') counts.fenced++
            else counts.other.push(error.code)
            await db.close()
            return
          }
          acknowledged.set(key, turn)
        }
      })()
    )
    await pause(30 + Math.random() * 150)
  }
  const last = newLevel(t, options, location)
  await last.open()
  await Promise.all(running)
  for (const key of acknowledged.keys()) if ((await last.get(key)) !== key) counts.missing++
  counts.acknowledged = acknowledged.size
  t.diagnostic(JSON.stringify(counts))
  return counts
}

function assertNoneLost({ turns, acknowledged, fenced, missing: lost, other }) {
  assert.ok(acknowledged > turns)
  assert.deepEqual(other, [])
  assert.equal(fenced, turns)
  assert.equal(lost, 0)
}

test('writers that fence each other lose no acknowledged write', async (t) => {
  assertNoneLost(await takeTurns(t, temporaryDirectory(t), {}, 10))
})

test('writers that fence each other in an object store lose no acknowledged write', {
  skip: missing ?? false
}, async (t) => {
  assertNoneLost(await takeTurns(t, store.location(), store.options, 5))
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
