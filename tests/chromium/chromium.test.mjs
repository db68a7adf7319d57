// Chromium's databases through the package: what it reads is what the page saw that filled them.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { Level } from 'terrace'
import { copyDatabase } from '../../demo/folders.mjs'
import { listDatabases } from '../../demo/indexeddb.mjs'
import { listItems } from '../../demo/webstorage.mjs'

const testdata = fileURLToPath(new URL('../../testdata/chromium/', import.meta.url))
const { seen } = JSON.parse(readFileSync(path.join(testdata, 'seen-by-the-page.json'), 'utf8'))
const visits = [
  ['visit1-closed', seen['1']],
  ['visit2-killed', seen['2']]
]
const bytes = { keyEncoding: 'buffer', valueEncoding: 'buffer', createIfMissing: false }

/** Calls `use` with a copy of a folder of testdata, which is removed afterwards. */
async function withCopy(visit, folder, use) {
  const temporary = await mkdtemp(path.join(tmpdir(), 'terrace-'))
  try {
    const copy = path.join(temporary, folder)
    await copyDatabase(path.join(testdata, visit, folder), copy)
    await use(copy)
  } finally {
    await rm(temporary, { recursive: true })
  }
}

/** The short text that a record of the store `kinds` holds: the end of a value that V8 serialised. */
function textOf(value) {
  const start = value.indexOf(Buffer.from([0xff, 0x10, 0x22]))
  assert.notEqual(start, -1, value.toString('hex'))
  return value.subarray(start + 4, start + 4 + value[start + 3]).toString('latin1')
}

for (const [visit, page] of visits) {
  for (const readOnly of [false, true]) {
    const how = `${visit}${readOnly ? ', read-only' : ''}`

    test(`IndexedDB, ${how}: as many records as the page counted`, () =>
      withCopy(visit, 'indexeddb', async (folder) => {
        const db = new Level(folder, { ...bytes, comparator: 'idb_cmp1', readOnly })
        const [{ name, stores }] = await listDatabases(db, 0)
        assert.equal(name, 'shop')
        assert.deepEqual(
          Object.fromEntries(stores.map(({ name, records }) => [name, records])),
          page.idb.counts
        )
        await db.close()
      }))

    test(`IndexedDB, ${how}: keys of every kind in the order that the page reported`, () =>
      withCopy(visit, 'indexeddb', async (folder) => {
        const db = new Level(folder, { ...bytes, comparator: 'idb_cmp1', readOnly })
        // Widths of one byte, database 1, object store 2, records.
        const range = { gte: Buffer.from([0, 1, 2, 1]), lt: Buffer.from([0, 1, 2, 2]) }
        const forwards = await db.values(range).all()
        const backwards = await db.values({ ...range, reverse: true }).all()
        assert.deepEqual(forwards.map(textOf), page.idb.kindsInOrder)
        assert.deepEqual(backwards.map(textOf), page.idb.kindsInOrder.toReversed())
        await db.close()
      }))

    test(`Local Storage, ${how}: the items that the page saw`, () =>
      withCopy(visit, 'local-storage', async (folder) => {
        const db = new Level(folder, { ...bytes, readOnly })
        const [items] = [...(await listItems(db)).values()]
        assert.deepEqual(Object.fromEntries(items), page.local)
        await db.close()
      }))
  }

  test(`IndexedDB, ${visit}: refused without its order of keys`, () =>
    withCopy(visit, 'indexeddb', async (folder) => {
      const db = new Level(folder, bytes)
      const error = await db.open().then(
        () => assert.fail('it opened'),
        (error) => error
      )
      assert.match(error.cause.message, /idb_cmp1/)
      const again = new Level(folder, { ...bytes, comparator: 'idb_cmp1' })
      assert.ok((await again.keys().all()).length > 20_000, 'the refusal has changed nothing')
      await again.close()
    }))
}
