import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { scaled } from '../../../tests/support/form.mjs'
import { newLevel, openLevel, temporaryDirectory } from './support/databases.js'

const worker = new URL('./support/worker.js', import.meta.url)

function locked(error) {
  assert.equal(error.code, 'LEVEL_DATABASE_NOT_OPEN')
  assert.equal(error.cause.code, 'LEVEL_LOCKED')
  return true
}

test('instances share a database if all of them set multithreading', async (t) => {
  const location = temporaryDirectory(t)
  const alone = await openLevel(t, undefined, location)
  const first = newLevel(t, { multithreading: true }, location)
  await assert.rejects(first.open(), locked)
  await alone.close()

  await first.open()
  const second = await openLevel(t, { multithreading: true }, location)
  await assert.rejects(alone.open(), locked)

  await first.put('a', '1')
  assert.equal(await second.get('a'), '1')
  await first.close()
  assert.equal(await second.get('a'), '1')
  await assert.rejects(alone.open(), locked)
  await second.close()

  await alone.open()
  assert.equal(await alone.get('a'), '1')
})

test('instances share a database by whatever path they reach it', async (t) => {
  const directory = temporaryDirectory(t)
  const first = await openLevel(t, { multithreading: true }, join(directory, 'db'))
  try {
    symlinkSync(join(directory, 'db'), join(directory, 'link'), 'junction')
  } catch ({ code }) {
    // Windows supports them only on NTFS.
    assert.deepEqual([process.platform, code], ['win32', 'ENOTSUP'])
    return t.diagnostic('skipped: this file system has no links to directories')
  }
  const second = await openLevel(t, { multithreading: true }, join(directory, 'link'))
  await first.put('a', '1')

  assert.equal(await second.get('a'), '1')
})

test('a database is made where it was asked for, also in a directory that has the inode of one removed', async (t) => {
  const parent = temporaryDirectory(t)
  const removed = await openLevel(t, { multithreading: true }, join(parent, 'removed'))
  const { ino } = statSync(removed.location)
  await removed.close()
  rmSync(removed.location, { recursive: true })
  const location = Array.from({ length: 100 }, (_, i) => join(parent, String(i))).find((path) => {
    mkdirSync(path)
    return statSync(path).ino === ino
  })
  if (location === undefined) return t.diagnostic('skipped: this file system does not give an inode again')

  const db = await openLevel(t, { multithreading: true }, location)
  await db.put('a', '1')

  assert.ok(readdirSync(location).includes('CURRENT'))
  assert.ok(!existsSync(removed.location))
})

test('an instance that asks for what does not fit is refused', async (t) => {
  const location = temporaryDirectory(t)
  await openLevel(t, { multithreading: true }, location)
  const reader = newLevel(t, { multithreading: true, readOnly: true }, location)
  await assert.rejects(reader.open(), (error) => error.cause.code === 'LEVEL_INVALID_ARGUMENT')
  const creator = newLevel(t, { multithreading: true, errorIfExists: true }, location)
  await assert.rejects(creator.open(), (error) => error.cause.code === 'LEVEL_DATABASE_EXISTS')
  const other = newLevel(t, { multithreading: true, comparator: 'idb_cmp1' }, location)
  await assert.rejects(other.open(), (error) => error.cause.code === 'LEVEL_INVALID_ARGUMENT')
})

test('a snapshot of one instance serves the other', async (t) => {
  const location = temporaryDirectory(t)
  const first = await openLevel(t, { multithreading: true }, location)
  const second = await openLevel(t, { multithreading: true }, location)
  await first.put('a', '1')
  const snapshot = first.snapshot()
  await second.put('a', '2')

  assert.equal(await second.get('a', { snapshot }), '1')
})

test('many workers open and close at once', async (t) => {
  const location = temporaryDirectory(t)
  const db = await openLevel(t, { multithreading: true }, location)
  const workers = Array.from(
    { length: scaled(20, 8) },
    (_, i) => new Worker(worker, { argv: [location, 'open-close', String(i)] })
  )
  const results = await Promise.all(workers.map((each) => once(each, 'message')))

  assert.deepEqual(new Set(results.flat()), new Set(['done']))
  await db.close()
  await db.open({ multithreading: false })
})

test('workers write and read one database at the same time', async (t) => {
  const location = temporaryDirectory(t)
  const db = await openLevel(t, { multithreading: true }, location)
  const count = 4
  const workers = Array.from(
    { length: count },
    (_, i) => new Worker(worker, { argv: [location, 'write', String(i)] })
  )
  const done = Promise.all(workers.map((each) => once(each, 'message')))
  for (let i = 0; i < 500; i++) await db.put(`main-${i}`, String(i))
  const results = await done

  assert.deepEqual(new Set(results.flat()), new Set(['done']))
  const keys = await db.keys().all()
  assert.equal(keys.length, 500 * (count + 1))
  for (let i = 0; i < count; i++) assert.equal(keys.filter((key) => key.startsWith(`${i}-`)).length, 500)
})

test('a worker has databases of its own', async (t) => {
  const location = temporaryDirectory(t)
  const [message] = await once(new Worker(worker, { argv: [location, 'own', '0'] }), 'message')
  assert.equal(message, 'done')
})

test('databases share one cache and one pool of threads when asked to', async (t) => {
  const options = { sharedResources: true, cacheSize: 1 << 20, writeBufferSize: 65536 }
  const databases = await Promise.all(Array.from({ length: 5 }, () => openLevel(t, options)))

  await Promise.all(
    databases.map(async (db, n) => {
      for (let i = 0; i < 50; i++) {
        const operations = Array.from({ length: 50 }, (_, j) => ({
          type: 'put',
          key: `${i}-${j}`,
          value: `${n}`.repeat(100)
        }))
        await db.batch(operations)
      }

      await db.compactRange('0', 'z')
    })
  )

  await databases[0].close()

  for (const [n, db] of databases.entries()) {
    if (n > 0)
      assert.equal((await db.values().all()).filter((value) => value === `${n}`.repeat(100)).length, 2500)
  }

  const used = databases.slice(1).map((db) => db.stats().blockCacheBytes)
  assert.equal(new Set(used).size, 1)
})

test('an instance tells whether others may share its database', async (t) => {
  // It opens automatically in a moment, so it gets a separate directory.
  assert.equal(newLevel(t, { multithreading: true }).multithreading, true)
  const db = await openLevel(t)
  assert.equal(db.multithreading, false)
  await db.close()
  await db.open({ multithreading: true })
  assert.equal(db.multithreading, true)
})
