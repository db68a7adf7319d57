// Versions of entries: `getEntry()`, and conditions that name them.

import assert from 'node:assert/strict'
import { test as nodeTest } from 'node:test'
import { BackendLevel } from 'terrace-core'
import { ArrayBackend } from './support/array-backend.js'
import { newLevel, openLevel, testOnEngine, testVersions } from './support/databases.js'

testVersions('each write of a key gives its entry a larger version', async (t) => {
  const db = await openLevel(t)
  assert.equal(await db.getEntry('a'), undefined)
  const versions = []
  for (const value of ['1', '1', '2']) {
    await db.put('a', value)
    const entry = await db.getEntry('a')
    assert.deepEqual(Object.keys(entry), ['value', 'version'])
    assert.equal(entry.value, value)
    versions.push(entry.version)
    await db.put('b', value)
    assert.deepEqual(await db.getEntry('a'), entry, 'other keys do not change it')
  }
  assert.ok(
    versions.every((version, index) => Number.isSafeInteger(version) && !(version <= versions[index - 1]))
  )
  await db.del('a')
  assert.equal(await db.getEntry('a'), undefined)
  await db.put('a', '3')
  assert.ok((await db.getEntry('a')).version > versions[2])
})

testVersions('getEntry() takes the options of get()', async (t) => {
  const db = await openLevel(t)
  const users = db.sublevel('users', { keyEncoding: 'json', valueEncoding: 'json' })
  await users.put([7], { name: 'Ada' })
  const snapshot = db.snapshot()
  const before = await users.getEntry([7])
  await users.put([7], { name: 'Bob' })
  assert.deepEqual(before.value, { name: 'Ada' })
  assert.deepEqual(await users.getEntry([7], { snapshot }), before)
  const bytes = await db.getEntry(Buffer.from('!users![7]'), {
    keyEncoding: 'buffer',
    valueEncoding: 'buffer'
  })
  assert.deepEqual(bytes.value, Buffer.from('{"name":"Bob"}'))
  assert.ok(bytes.version > before.version)
  await assert.rejects(
    db.getEntry('!users![7]', {
      valueEncoding: { name: 'x', format: 'utf8', encode: String, decode: JSON.parse.bind(null, '{') }
    }),
    {
      code: 'LEVEL_DECODE_ERROR'
    }
  )
  await assert.rejects(db.getEntry(undefined), { code: 'LEVEL_INVALID_KEY' })
  await snapshot.close()
})

testVersions('a version outlives the database object', async (t) => {
  const db = await openLevel(t)
  await db.put('a', '1')
  const entry = await db.getEntry('a')
  await db.close()
  await assert.rejects(db.getEntry('a'), { code: 'LEVEL_DATABASE_NOT_OPEN', message: /getEntry\(\)/ })
  const opening = db.open()
  assert.deepEqual(await db.getEntry('a'), entry)
  await opening
})

testVersions('a condition names the version of an entry', async (t) => {
  const db = await openLevel(t)
  await db.put('a', '1')
  const { version } = await db.getEntry('a')
  await db.put('a', '1', { if: [{ key: 'a', version }] })
  const conflict = { code: 'LEVEL_CONFLICT', conditions: [0] }
  await assert.rejects(db.put('a', '2', { if: [{ key: 'a', version }] }), conflict)
  await assert.rejects(db.put('b', '2', { if: [{ key: 'b', version }] }), conflict)
  await assert.rejects(db.put('b', '2', { if: [{ key: 'a', version: 0 }] }), conflict)
  assert.deepEqual(await db.iterator().all(), [['a', '1']])
})

testVersions('a condition on a range names the version since which nothing has changed', async (t) => {
  const db = await openLevel(t)
  await db.batch(['a', 'b', 'c'].map((key) => ({ type: 'put', key, value: '1' })))
  const { version } = await db.getEntry('c')
  const unchanged = { gte: 'b', unchangedSince: version }
  await db.put('a', '2', { if: [unchanged] })
  await assert.rejects(db.put('b', '2', { if: [{ unchangedSince: version }] }), { code: 'LEVEL_CONFLICT' })
  await db.del('c')
  await assert.rejects(db.put('b', '2', { if: [unchanged] }), { code: 'LEVEL_CONFLICT', conditions: [0] })
  const later = (await db.getEntry('a')).version
  await assert.rejects(db.put('b', '2', { if: [{ gt: 'b', unchangedSince: later }] }), {
    code: 'LEVEL_CONFLICT'
  })
  await db.put('b', '2', { if: [{ lt: 'c', unchangedSince: later }] })
})

testVersions('what is no version is refused', async (t) => {
  const db = await openLevel(t)
  for (const version of [-1, 0.5, '1', Number.NaN, 2 ** 53, 1n]) {
    await assert.rejects(
      db.put('a', '1', { if: [{ key: 'a', version }] }),
      { code: 'LEVEL_INVALID_ARGUMENT' },
      String(version)
    )
    await assert.rejects(
      db.put('a', '1', { if: [{ unchangedSince: version }] }),
      { code: 'LEVEL_INVALID_ARGUMENT' },
      String(version)
    )
  }
})

testOnEngine('versions are the same after flushes and compactions, and are read from tables', async (t) => {
  const db = await openLevel(t)
  const keys = Array.from({ length: 300 }, (_, index) => `key ${index}`)
  for (const key of keys) await db.put(key, key.repeat(20))
  const before = await Promise.all(keys.map((key) => db.getEntry(key)))
  await db.compactRange('key', 'kez')
  await db.close()
  await db.open()
  assert.deepEqual(await Promise.all(keys.map((key) => db.getEntry(key))), before)
  await db.put('key 7', 'new', { if: [{ key: 'key 7', version: before[7].version }] })
  await assert.rejects(db.put('key 7', 'newer', { if: [{ key: 'key 7', version: before[7].version }] }), {
    code: 'LEVEL_CONFLICT'
  })
})

async function refusesVersions(db) {
  assert.equal(db.supports.versions, false)
  await db.open()
  const refused = { code: 'LEVEL_NOT_SUPPORTED' }
  await assert.rejects(db.getEntry('a'), refused)
  if (!db.supports.conditionalWrites) return
  await assert.rejects(db.put('a', '1', { if: [{ key: 'a', version: 1 }] }), refused)
  await assert.rejects(db.put('a', '1', { if: [{ unchangedSince: 1 }] }), refused)
}

testVersions('a database without versions refuses them', async (t) => refusesVersions(newLevel(t)), {
  refused: true
})

nodeTest('over a back-end that does not declare versions, they are refused', async (t) => {
  const backend = new ArrayBackend({ sync: true })
  backend.manifest = { ...backend.manifest, versions: false }
  const db = new BackendLevel(backend)
  t.after(() => db.close())
  await refusesVersions(db)
})

nodeTest('a back-end that declares versions has getEntry()', () => {
  const backend = new ArrayBackend()
  backend.getEntry = undefined
  assert.throws(() => new BackendLevel(backend), { name: 'TypeError', message: /'versions'.*getEntry\(\)/ })
})
