// Several processes on one database.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { LmdbLevel } from 'terrace-lmdb'
import { Other } from '../../../../tests/support/back-ends/processes.mjs'
import { roundIn, roundOf } from '../../../../tests/support/back-ends/rounds.mjs'
import { scaled } from '../../../../tests/support/form.mjs'
import { until } from '../../../../tests/support/waiting.mjs'
import { openLevel } from './support/databases.js'

/** How many batches are written at least beside another process. */
const ROUNDS = scaled(200, 40)

const SECOND = new URL('support/second.js', import.meta.url)
const WRITER = new URL('support/writer.js', import.meta.url)

test('a reader beside a writer sees each acknowledged write at once, and no part of a batch', async (t) => {
  const db = await openLevel(t, { shared: true })
  await db.batch(roundOf(1))
  const reader = new Other(t, SECOND, db.location, 'reader')
  assert.equal(await reader.line(), 'open')

  let round = 1
  const write = async () => {
    round++
    await db.batch(roundOf(round))
    await db.put('last', `${round}`)
    reader.tell('last')
    assert.equal(await reader.line(), `${round}`)
  }
  while (round < ROUNDS) await write()
  await until(async () => {
    reader.tell('')
    const { reads, states } = JSON.parse(await reader.line())
    if (reads > 20 && states > 10) return true
    await write()
  }, 'the reader to see more states')

  // The database outgrows the map that the reader began with.
  const large = 'x'.repeat(3 << 20)
  await db.put('large', large)
  reader.tell('large')
  assert.equal((await reader.line()).length, large.length)

  const end = reader.end()
  const counts = JSON.parse(await reader.line())
  assert.equal(await end, 0)
  t.diagnostic(JSON.stringify(counts))
  assert.equal(counts.torn, 0)
})

test('two processes write at once: every batch of both is there whole', async (t) => {
  const db = await openLevel(t, { shared: true })
  const writer = new Other(t, SECOND, db.location, 'writer')
  assert.equal(await writer.line(), 'open')

  let round = 0
  const seen = new Set()
  const write = async () => {
    await db.batch(roundOf(++round))
    const theirs = roundIn([...db.iterateSync({ gte: 'w' })])
    assert.notEqual(theirs, undefined)
    seen.add(theirs)
  }
  while (round < ROUNDS) await write()
  await until(async () => {
    if (seen.size > 10) return true
    await write()
  }, 'the other one to write more')
  writer.tell('')
  const written = Number(await writer.line())
  assert.equal(await writer.end(), 0)

  assert.equal(roundIn(await db.iterator({ gte: 'r', lt: 's' }).all()), round)
  assert.equal(roundIn(await db.iterator({ gte: 'w' }).all()), written)
  t.diagnostic(`${seen.size} states of the other writer seen`)
})

test('a writer that is killed in a transaction does not stop the others', async (t) => {
  const db = await openLevel(t, { shared: true })
  for (let kill = 0; kill < scaled(5, 2); kill++) {
    const writer = new Other(t, WRITER, db.location, '1')
    await writer.line()
    await writer.kill()
    await db.put('mine', `${kill}`)
    assert.equal(await db.get('mine'), `${kill}`)
    assert.notEqual(roundIn(await db.iterator({ gte: 'r', lt: 's' }).all()), undefined)
  }
})

test('threads share a database like processes, and one that is terminated does not stop the others', async (t) => {
  const db = await openLevel(t, { shared: true })
  for (let round = 0; round < 3; round++) {
    const thread = new Worker(new URL('support/thread.js', import.meta.url), { workerData: db.location })
    await once(thread, 'message')
    assert.equal(await db.get('thread'), 'written')
    await thread.terminate()
    await db.put('thread', `${round}`)
    assert.equal(await db.get('thread'), `${round}`)
  }
})

test('hooks of a shared database do not claim to see every write', async (t) => {
  const [alone, shared] = [await openLevel(t), await openLevel(t, { shared: true })]
  assert.equal(alone.supports.everyWrite, true)
  assert.equal(shared.supports.everyWrite, false)
})

for (const kind of ['idle', 'idle-reader', 'reader', 'writer']) {
  test(`destroy() refuses a database that another process has open (${kind}), and removes it once that has ended`, async (t) => {
    const db = await openLevel(t)
    await db.put('key', 'value')
    await db.close()
    const other = new Other(t, SECOND, db.location, kind)
    assert.equal(await other.line(), 'open')

    const error = await LmdbLevel.destroy(db.location).catch((error) => error)
    assert.deepEqual([error.code, error.path], ['LEVEL_LOCKED', db.location])
    assert.match(error.message, /process \d+ has it open/)
    await db.open()
    assert.equal(await db.get('key'), 'value')
    await db.close()

    // A process that was killed has left its traces.
    if (kind === 'idle') await other.end()
    else await other.kill()
    await LmdbLevel.destroy(db.location)
    assert.equal(existsSync(db.location), false)
  })
}

test('destroy() refuses a database that another thread of this process has open', async (t) => {
  const db = await openLevel(t)
  await db.close()
  const code = `
    const { workerData, parentPort } = require('node:worker_threads')
    import('terrace-lmdb').then(async ({ LmdbLevel }) => {
      const db = new LmdbLevel(workerData)
      await db.open()
      parentPort.postMessage('open')
      parentPort.once('message', () => db.close().then(() => parentPort.close()))
    })`
  const worker = new Worker(code, { eval: true, workerData: db.location })
  await once(worker, 'message')
  await assert.rejects(LmdbLevel.destroy(db.location), { code: 'LEVEL_LOCKED' })
  worker.postMessage('close')
  await once(worker, 'exit')
  await LmdbLevel.destroy(db.location)
})
