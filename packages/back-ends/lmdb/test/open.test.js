// How a database is opened and removed, and what is refused.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { Level } from 'terrace'
import { LmdbLevel } from 'terrace-lmdb'
import { newLevel, openLevel, temporaryDirectory } from './support/databases.js'

/** The reason that `open()` fails for. */
async function refusal(t, location, options) {
  const db = newLevel(t, options, location)
  const error = await db.open().then(
    () => undefined,
    (error) => error
  )
  assert.equal(error?.code, 'LEVEL_DATABASE_NOT_OPEN')
  return error.cause
}

/** The files in a directory with their contents. */
const filesOf = (directory) =>
  readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), 'latin1')])

test('a database is made with its parents, in a directory even if the name has a dot, and opened again', async (t) => {
  const location = join(temporaryDirectory(t), 'a', 'b.mdb')
  const db = await openLevel(t, {}, location)
  assert.equal(db.location, location)
  assert.deepEqual(readdirSync(location).sort(), ['data.mdb', 'lock.mdb'])
  await db.put('key', 'value')
  await db.close()
  await db.open()
  assert.equal(await db.get('key'), 'value')
})

test('createIfMissing: false and readOnly want a database, and make none', async (t) => {
  const location = join(temporaryDirectory(t), 'db')
  for (const options of [{ createIfMissing: false }, { readOnly: true }]) {
    assert.equal((await refusal(t, location, options)).code, 'LEVEL_DATABASE_MISSING')
    assert.equal(existsSync(location), false)
  }
})

test('errorIfExists wants none', async (t) => {
  const db = await openLevel(t, { errorIfExists: true })
  await db.put('key', 'value')
  await db.close()
  assert.equal((await refusal(t, db.location, { errorIfExists: true })).code, 'LEVEL_DATABASE_EXISTS')
})

test('readOnly reads and refuses every write', async (t) => {
  const db = await openLevel(t)
  await db.put('key', 'value')
  await db.close()

  const reader = await openLevel(t, { readOnly: true }, db.location)
  assert.equal(await reader.get('key'), 'value')
  assert.deepEqual(await reader.iterator().all(), [['key', 'value']])
  const writes = [
    () => reader.put('key', 'other'),
    () => reader.del('key'),
    () => reader.batch([{ type: 'put', key: 'a', value: '' }]),
    () => reader.batch().put('a', '').write(),
    () => reader.clear()
  ]
  for (const write of writes) await assert.rejects(write, { code: 'LEVEL_READ_ONLY' })
  assert.deepEqual(await reader.iterator().all(), [['key', 'value']])
})

test('a directory of LevelDB is refused and left as it is', async (t) => {
  const location = temporaryDirectory(t)
  const other = new Level(location)
  await other.put('key', 'value')
  await other.close()
  const before = filesOf(location)

  const error = await refusal(t, location)
  assert.equal(error.code, 'LEVEL_UNSUPPORTED_FORMAT')
  assert.equal(error.path, location)
  await assert.rejects(LmdbLevel.destroy(location), { code: 'LEVEL_UNSUPPORTED_FORMAT' })
  assert.deepEqual(filesOf(location), before)
})

test('a file data.mdb that is not of LMDB, or of another version of its format, is refused and left as it is', async (t) => {
  const older = Buffer.alloc(8192)
  older.writeUInt32LE(0xbeefc0de, 16)
  older.writeUInt32LE(1, 20)

  for (const [contents, message] of [
    [Buffer.from('something else'), /is not of LMDB/],
    [Buffer.alloc(8192, 7), /is not of LMDB/],
    [older, /has version 1 of LMDB's format/]
  ]) {
    const location = temporaryDirectory(t)
    writeFileSync(join(location, 'data.mdb'), contents)
    const error = await refusal(t, location)
    assert.equal(error.code, 'LEVEL_UNSUPPORTED_FORMAT')
    assert.match(error.message, message)
    assert.deepEqual(readdirSync(location), ['data.mdb'])
    assert.deepEqual(readFileSync(join(location, 'data.mdb')), contents)
  }
})

test('a file in the place of the directory is refused', async (t) => {
  const location = join(temporaryDirectory(t), 'file')
  writeFileSync(location, 'mine')
  assert.equal((await refusal(t, location)).code, 'LEVEL_UNSUPPORTED_FORMAT')
  assert.equal(readFileSync(location, 'utf8'), 'mine')
})

test('what a process left that died while it made the database is no obstacle', async (t) => {
  const location = temporaryDirectory(t)
  writeFileSync(join(location, 'data.mdb'), '')
  const db = await openLevel(t, {}, location)
  await db.put('key', 'value')
  assert.equal(await db.get('key'), 'value')
})

test('options and locations of a wrong type are refused', async (t) => {
  for (const location of [undefined, '', 3, 'a\0b']) assert.throws(() => new LmdbLevel(location), TypeError)
  for (const options of [{ readOnly: 1 }, { maxReaders: 0 }, { maxReaders: 1.5 }]) {
    assert.ok((await refusal(t, temporaryDirectory(t), options)) instanceof TypeError)
  }
})

test('destroy() removes the database and leaves other files alone', async (t) => {
  const location = join(temporaryDirectory(t), 'db')
  const db = await openLevel(t, {}, location)
  await db.put('key', 'value')
  await assert.rejects(LmdbLevel.destroy(location), { code: 'LEVEL_LOCKED' })
  await db.close()
  await LmdbLevel.destroy(location)
  assert.equal(existsSync(location), false)
  await LmdbLevel.destroy(location)

  mkdirSync(location)
  const again = await openLevel(t, {}, location)
  await again.close()
  writeFileSync(join(location, 'notes'), 'mine')
  await LmdbLevel.destroy(location)
  assert.deepEqual(filesOf(location), [['notes', 'mine']])
})

test('a writer opened after a reader of the same process says so instead of "No transaction to renew"', async (t) => {
  const first = await openLevel(t)
  await first.put('key', 'value')
  await first.close()

  const reader = await openLevel(t, { readOnly: true }, first.location)
  for (const options of [{}, { shared: true }]) {
    const error = await refusal(t, first.location, options)
    assert.equal(error.code, 'LEVEL_LOCKED')
    assert.equal(error.path, first.location)
    assert.match(error.message, /in this process with 'readOnly'/)
  }
  const other = await openLevel(t, { readOnly: true }, first.location)
  await reader.close()
  assert.equal((await refusal(t, first.location)).code, 'LEVEL_LOCKED')
  assert.equal(await other.get('key'), 'value')
  await other.close()

  // Once the readers are closed, and beside one that came later.
  await first.open()
  const later = await openLevel(t, { readOnly: true }, first.location)
  const second = await openLevel(t, {}, first.location)
  await first.close()
  await second.put('key', 'other')
  assert.equal(await later.get('key'), 'other')
})

test('a writer of a thread beside a reader of another says the same', async (t) => {
  const first = await openLevel(t)
  await first.close()
  const reader = await openLevel(t, { readOnly: true }, first.location)
  const worker = new Worker(new URL('support/thread.js', import.meta.url), { workerData: reader.location })
  t.after(() => worker.terminate())
  const [error] = await once(worker, 'error')
  assert.equal(error.cause.code, 'LEVEL_LOCKED')
  assert.match(error.cause.message, /in this process with 'readOnly'/)
})

test('two instances of one process share a database', async (t) => {
  const first = await openLevel(t)
  const second = await openLevel(t, {}, first.location)
  await Promise.all([first.put('a', '1'), second.put('b', '2')])
  for (const db of [first, second]) assert.deepEqual(await db.getMany(['a', 'b']), ['1', '2'])
  await second.close()
  await first.put('c', '3')
  assert.equal(await first.get('c'), '3')
})
