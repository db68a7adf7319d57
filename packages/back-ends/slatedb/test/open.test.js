// Opening: locations, options, and existing databases.

import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { SlateLevel } from 'terrace-slatedb'
import { newLevel, openLevel, temporaryDirectory } from './support/databases.js'

test('a directory can be named by a path or a URL, and need not exist', async (t) => {
  const path = join(temporaryDirectory(t), 'a b', 'dätä')
  const db = await openLevel(t, {}, path)
  assert.equal(db.location, path)
  await db.put('key', 'value')
  await db.close()
  const again = await openLevel(t, {}, pathToFileURL(path).href)
  assert.equal(await again.get('key'), 'value')
})

test('what is in memory is there as long as the instance', async (t) => {
  const db = await openLevel(t, {}, 'memory:///')
  assert.equal(db.supports.permanence, false)
  await db.put('key', 'value')
  await db.close()
  await db.open()
  assert.equal(await db.get('key'), 'value')
  const other = await openLevel(t, {}, 'memory:///')
  assert.equal(await other.get('key'), undefined)
})

test('createIfMissing and errorIfExists are honoured', async (t) => {
  const location = join(temporaryDirectory(t), 'db')
  const db = newLevel(t, {}, location)
  await assert.rejects(db.open({ createIfMissing: false }), ({ cause }) => {
    return cause.code === 'LEVEL_DATABASE_MISSING' && cause.location === location
  })
  assert.ok(!existsSync(location) || readdirSync(location).length === 0)
  await db.open({ errorIfExists: true })
  await db.put('key', 'value')
  await db.close()
  await assert.rejects(
    db.open({ errorIfExists: true }),
    ({ cause }) => cause.code === 'LEVEL_DATABASE_EXISTS'
  )
  await db.open({ createIfMissing: false })
  assert.equal(await db.get('key'), 'value')
})

test('arguments that are not valid are refused', async (t) => {
  assert.throws(() => new SlateLevel(''), TypeError)
  assert.throws(() => new SlateLevel(1), TypeError)
  assert.throws(() => new SlateLevel('a\0b'), TypeError)
  for (const location of [
    's3://key:secret@bucket/db',
    's3://key:a/secret@bucket/db',
    'S3://secret@bucket',
    'az://account/container?sv=2024&sig=secret',
    's3://bucket/db#secret'
  ]) {
    assert.throws(
      () => new SlateLevel(location),
      (error) => error instanceof TypeError && !error.message.includes('secret')
    )
  }
  assert.throws(() => new SlateLevel('memory:///', { flushIntervalMs: -1 }), TypeError)
  for (const options of [
    { readOnly: 1 },
    { acknowledge: 'disk' },
    { deadlineMs: 0 },
    { deadlineMs: 1.5 },
    { pollIntervalMs: '1' },
    { refreshIntervalMs: 2 ** 31 },
    { snapshotLifetimeMs: 1 },
    { deadlineMs: 1000, flushIntervalMs: 1000 }
  ]) {
    const db = newLevel(t, options, 'memory:///')
    await assert.rejects(db.open(), ({ cause }) => cause instanceof TypeError)
  }
})

test('a store that the engine does not know is refused', async (t) => {
  const db = newLevel(t, {}, 'nowhere://bucket/db')
  await assert.rejects(db.open(), ({ cause }) => cause.code.startsWith('LEVEL_'))
})

test('settings of the store are not left in the environment', async (t) => {
  const location = temporaryDirectory(t)
  const db = await openLevel(t, { storeOptions: { AWS_SECRET_ACCESS_KEY: 'secret of tests' } }, location)
  assert.equal(process.env.AWS_SECRET_ACCESS_KEY, undefined)
  assert.ok(!inspect(db, { depth: 9 }).includes('secret of tests'))
})

test('it says that it cannot read or write within a call', async (t) => {
  const db = await openLevel(t)
  assert.throws(() => db.getSync('a'), { code: 'LEVEL_NOT_SUPPORTED' })
  assert.throws(() => db.putSync('a', ''), { code: 'LEVEL_NOT_SUPPORTED' })
  assert.throws(() => [...db.iterateSync()], { code: 'LEVEL_NOT_SUPPORTED' })
  await db.refresh()
  await db.close()
  await assert.rejects(db.refresh(), { code: 'LEVEL_DATABASE_NOT_OPEN' })
})
