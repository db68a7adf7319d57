import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { newLevel, openLevel } from './support/databases.js'

function contents(directory) {
  return readdirSync(directory)
    .sort()
    .map((name) => [name, readFileSync(join(directory, name)).toString('base64')])
}

test('a read-only database reads, refuses writes and changes no byte', async (t) => {
  const db = await openLevel(t)
  await db.batch([
    { type: 'put', key: 'a', value: '1' },
    { type: 'put', key: 'b', value: '2' }
  ])
  await db.close()
  const before = contents(db.location)

  await db.open({ readOnly: true })
  assert.equal(await db.get('a'), '1')
  assert.deepEqual(await db.keys().all(), ['a', 'b'])
  const refused = { code: 'LEVEL_READ_ONLY' }
  await assert.rejects(db.put('c', '3'), refused)
  await assert.rejects(db.put('c', '3', { sync: true }), refused)
  await assert.rejects(db.del('a'), refused)
  await assert.rejects(db.batch([{ type: 'del', key: 'a' }]), refused)
  await assert.rejects(db.clear(), refused)
  await assert.rejects(db.compactRange('a', 'b'), refused)
  await db.close()

  assert.deepEqual(contents(db.location), before)
})

test('a read-only database opens beside a writer and shows the state of that moment', async (t) => {
  const writer = await openLevel(t)
  await writer.put('a', '1')
  const reader = await openLevel(t, { readOnly: true }, writer.location)
  await writer.put('a', '2')

  assert.equal(await reader.get('a'), '1')
  await reader.close()
  await reader.open()
  assert.equal(await reader.get('a'), '2')
})

test('a read-only database must exist', async (t) => {
  const db = newLevel(t, { readOnly: true })
  await assert.rejects(db.open(), (error) => error.cause.code === 'LEVEL_DATABASE_MISSING')
  assert.deepEqual(readdirSync(db.location), [])
})
