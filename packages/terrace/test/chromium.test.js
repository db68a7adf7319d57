// Databases that Chromium wrote hold, in order, what the page that filled them saw.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { copyDatabase } from '../../../demo/directories.mjs'
import { listItems } from '../../../demo/webstorage.mjs'
import { newLevel, temporaryDirectory } from './support/databases.js'

const testData = fileURLToPath(new URL('../../../testdata/chromium', import.meta.url))
const { seen } = JSON.parse(readFileSync(join(testData, 'seen-by-the-page.json'), 'utf8'))
const binary = { keyEncoding: 'buffer', valueEncoding: 'buffer' }
const visits = [
  ['visit1-closed', seen[1]],
  ['visit2-killed', seen[2]]
]

async function copyOf(t, visit, name) {
  const directory = join(temporaryDirectory(t), 'copy')
  await copyDatabase(join(testData, visit, name), directory)
  return directory
}

/** The prefix of the records of the object store `name`. Its ids come from the metadata. */
function recordsPrefix(entries, name) {
  const utf16 = Buffer.from(name, 'utf16le').swap16()
  const suffix = Buffer.concat([Buffer.from([200, name.length]), utf16])
  const [key, id] = entries.find(
    ([key]) => key[0] === 0 && key.length === 4 + suffix.length && key.subarray(4).equals(suffix)
  )
  return Buffer.from([0, key[1], id[0], 1])
}

/** Whether a value, serialized by V8, ends with this string after its length. */
function endsWithString(value, text) {
  const bytes = Buffer.from(text)
  const end = Buffer.concat([Buffer.from([bytes.length]), bytes])
  return value.subarray(-end.length).equals(end)
}

for (const [visit, saw] of visits) {
  test(`IndexedDB iterates in exactly the order that the page saw: ${visit}`, async (t) => {
    const directory = await copyOf(t, visit, 'indexeddb')
    for (const options of [{ readOnly: true }, {}]) {
      const db = newLevel(t, { ...binary, ...options, comparator: 'idb_cmp1' }, directory)
      await db.open()
      const entries = await db.iterator().all()
      const prefix = recordsPrefix(entries, 'kinds')
      const values = entries.filter(([key]) => key.subarray(0, 4).equals(prefix)).map(([, value]) => value)
      assert.equal(values.length, saw.idb.counts.kinds)
      assert.equal(values.length, saw.idb.kindsInOrder.length)
      for (const [index, text] of saw.idb.kindsInOrder.entries()) {
        assert.ok(endsWithString(values[index], text), `${text} at place ${index}`)
      }
      const backwards = await db.iterator({ reverse: true }).all()
      assert.deepEqual(backwards.reverse(), entries)
      for (const [key, value] of entries) assert.ok(value.equals(await db.get(key)))
      await db.compactRange(Buffer.alloc(0), Buffer.alloc(40, 255)).catch((error) => {
        assert.equal(error.code, options.readOnly && 'LEVEL_READ_ONLY')
      })
      assert.deepEqual(await db.iterator().all(), entries)
      await db.close()
    }
  })

  test(`Local Storage equals what the page saw: ${visit}`, async (t) => {
    const db = newLevel(t, binary, await copyOf(t, visit, 'local-storage'))
    await db.open()
    const origins = await listItems(db)
    assert.equal(origins.size, 1)
    const [items] = origins.values()
    assert.deepEqual(Object.fromEntries(items), saw.local)
  })
}

test('IndexedDB without its comparator is refused, and nothing is changed', async (t) => {
  const directory = await copyOf(t, 'visit1-closed', 'indexeddb')
  const manifest = readFileSync(join(directory, 'CURRENT'), 'utf8')
  for (const options of [{}, { readOnly: true }]) {
    await assert.rejects(newLevel(t, { ...binary, ...options }, directory).open(), ({ cause }) => {
      assert.equal(cause.code, 'LEVEL_INVALID_ARGUMENT')
      assert.match(cause.message, /idb_cmp1/)
      return true
    })
  }
  assert.equal(readFileSync(join(directory, 'CURRENT'), 'utf8'), manifest)
})
