import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newLevel, openLevel } from './support/databases.js'

const COUNT = 40

function entries(value) {
  return Array.from({ length: COUNT }, (_, i) => ({
    type: 'put',
    key: `key${String(i).padStart(2, '0')}`,
    value
  }))
}

/** A writer with a table for every few entries, and a reader that may keep only two of them open. */
async function openBeside(t, options) {
  const writer = await openLevel(t, { writeBufferSize: 1 << 20, maxFileSize: 1 << 20, compression: false })
  for (const operation of entries('x'.repeat(200_000))) await writer.batch([operation])
  await writer.compactRange('a', 'z')
  const reader = await openLevel(t, { readOnly: true, maxOpenFiles: 2, ...options }, writer.location)
  return { writer, reader }
}

async function replaceTables(writer) {
  await writer.batch(entries('new'))
  await writer.compactRange('a', 'z')
}

for (const mapTables of [true, false]) {
  test(`a reader beside a writer that compacts reports no damage, mapTables: ${mapTables}`, async (t) => {
    const { writer, reader } = await openBeside(t, { mapTables })
    assert.ok(writer.stats().levels.reduce((sum, { files }) => sum + files, 0) > 4)
    await replaceTables(writer)

    // Without a mapping, an iterator that has yielded entries cannot continue once tables are gone. After a refresh, a new
    // one works.
    const iterate = async (read) => {
      try {
        assert.equal((await read()).length, COUNT)
      } catch (error) {
        assert.equal(mapTables, false)
        assert.equal(error.code, 'LEVEL_OUTDATED')
        await reader.refresh()
        assert.equal((await read()).length, COUNT)
      }
    }

    const ways = {
      iterator: () => iterate(() => reader.iterator().all()),
      keysSync: () => iterate(async () => [...reader.keys()]),
      get: async () => assert.ok(await reader.get('key31')),
      getSync: async () => assert.ok(reader.getSync('key17')),
      getMany: async () => assert.equal((await reader.getMany(['key01', 'key39'])).filter(Boolean).length, 2)
    }

    for (const [name, read] of Object.entries(ways)) {
      await t.test(name, read)
      // Each way of reading runs into tables that are gone.
      await reader.close()
      await writer.batch(entries('y'.repeat(200_000)))
      await writer.compactRange('a', 'z')
      await reader.open({ readOnly: true, maxOpenFiles: 2, mapTables })
      await replaceTables(writer)
    }
  })
}

test('refresh() shows what was written since; iterators and snapshots keep their state', async (t) => {
  const { writer, reader } = await openBeside(t)
  const iterator = reader.values()
  const snapshot = reader.snapshot()
  await replaceTables(writer)
  await writer.put('key00', 'newest')

  assert.equal((await reader.get('key00')).length, 200_000)
  await reader.refresh()
  assert.equal(await reader.get('key00'), 'newest')
  assert.equal(await reader.get('key05'), 'new')
  assert.equal((await reader.get('key00', { snapshot })).length, 200_000)
  assert.ok((await iterator.all()).every((value) => value.length === 200_000))
  await snapshot.close()
  assert.equal(reader.supports.additionalMethods.refresh, true)
})

test('a snapshot whose state is gone from the disk is LEVEL_OUTDATED', async (t) => {
  const { writer, reader } = await openBeside(t, { mapTables: false })
  const snapshot = reader.snapshot()
  await replaceTables(writer)
  await assert.rejects(reader.get('key39', { snapshot }), { code: 'LEVEL_OUTDATED' })
  await reader.refresh()
  assert.equal(await reader.get('key39'), 'new')
})

test('refresh() waits for the opening, needs an open database, and does nothing if the database is writable', async (t) => {
  const db = newLevel(t)
  await db.refresh()
  await db.put('a', '1')
  await db.refresh()
  assert.equal(await db.get('a'), '1')
  await db.close()
  await assert.rejects(db.refresh(), { code: 'LEVEL_DATABASE_NOT_OPEN' })
})
