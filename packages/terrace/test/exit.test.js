// A process that ends without closing its databases ends properly, and so does a worker thread.

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { isShort } from '../../../tests/support/form.mjs'
import { until } from '../../../tests/support/waiting.mjs'
import { newLevel, openLevel, temporaryDirectory } from './support/databases.js'

const leave = new URL('./support/leave.js', import.meta.url)

const steps = [
  ['create'],
  ['open'],
  ['open', 'put'],
  ['open', 'put-sync'],
  ['open', 'put', 'iterator'],
  ['open', 'put', 'iterator', 'reading'],
  ['open', 'put', 'iterator', 'close'],
  ['open', 'put', 'clear'],
  ['open', 'put', 'compact'],
  ['open', 'snapshot', 'batch'],
  ['open', 'close'],
  ['open-error']
]

for (const [number, ending] of ['run-out', 'exit', 'throw'].entries()) {
  // In the short form a process ends in each way, and after each of the steps, but not in each way after each.
  for (const list of isShort ? steps.filter((_, i) => i % 3 === number) : steps) {
    test(`a process that ends by ${ending} after ${list.join(', ')}`, async (t) => {
      const location = temporaryDirectory(t)
      const child = fork(leave, [location, ending, ...list], { stdio: ['ignore', 'inherit', 'pipe', 'ipc'] })
      let output = ''
      child.stderr.on('data', (data) => {
        output += data
      })
      const [code, signal] = await once(child, 'exit')

      assert.equal(signal, null, output)
      assert.equal(code, ending === 'throw' ? 7 : 0, output)

      const db = await openLevel(t, undefined, location)
      const kept = list.includes('put') && !list.includes('clear')
      if (kept) assert.equal(await db.get('put'), 'kept')
    })
  }
}

for (const list of steps) {
  test(`a worker that is terminated after ${list.join(', ')}`, async (t) => {
    const location = temporaryDirectory(t)
    const worker = new Worker(leave, { argv: [location, 'stay', ...list] })
    await once(worker, 'message')
    await worker.terminate()

    // The environment of the worker has closed its database.
    const db = await openAfterWorker(t, location)
    const kept = list.includes('put') && !list.includes('clear')
    if (kept) assert.equal(await db.get('put'), 'kept')
  })
}

test('a worker that is terminated before it is told that its databases are open', {
  skip: process.versions.deno && 'Deno does not end a worker that is blocked'
}, async (t) => {
  const location = temporaryDirectory(t)
  const worker = new Worker(leave, { argv: [location, 'block', 'open', 'open-many'] })
  await once(worker, 'message')
  await worker.terminate()

  const names = readdirSync(location).filter((name) => /^\d+$/.test(name))
  assert.equal(names.length, 30)
  // Those that were closed last come first.
  names.sort((a, b) => b - a)
  await Promise.all(names.map((name) => openAfterWorker(t, join(location, name))))
})

/** Opens what a worker has left. Deno says that a worker has ended before it takes the worker's environment down. */
async function openAfterWorker(t, location) {
  const db = newLevel(t, { passive: true }, location)
  if (process.versions.deno) await until(() => isOpened(db), 'the worker to give up its database')
  else await db.open()
  return db
}

/** Tries to open a database. Returns whether it is open; fails if it is not because it is locked. */
async function isOpened(db) {
  try {
    await db.open()
    return true
  } catch (error) {
    if (error.cause?.code !== 'LEVEL_LOCKED') throw error
    return false
  }
}
