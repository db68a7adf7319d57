// First part of the demo: databases that a browser wrote.

import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Level } from 'terrace'
import { copyDatabase, directorySize } from './directories.mjs'
import { listDatabases } from './indexeddb.mjs'
import { check, gap, heading, note, number, row, size, table } from './screen.mjs'
import { decodeText, encodeText, itemKey, listItems } from './webstorage.mjs'

const TESTDATA = fileURLToPath(new URL('../testdata/chromium/', import.meta.url))
const VISITS = ['visit1-closed', 'visit2-killed']
const DIRECTORIES = {
  IndexedDB: ['indexeddb', { comparator: 'idb_cmp1' }],
  'Local Storage': ['local-storage', {}],
  'Session Storage': ['session-storage', {}],
  'Shared protos': ['shared-proto-db', {}],
  'Shared protos, metadata': ['shared-proto-db-metadata', {}]
}
const BYTES = { keyEncoding: 'buffer', valueEncoding: 'buffer' }
const KEYS_SHOWN = 4

/** Opens copies of the browser's databases in `temporary`, lists them, and adds to one. */
export async function showChromium(temporary) {
  heading('Databases that Chromium wrote')
  note('Two visits of one page. After the first the browser was closed, during the second it was killed.')
  gap()
  const seen = JSON.parse(await readFile(path.join(TESTDATA, 'seen-by-the-page.json'), 'utf8')).seen
  const rows = []
  for (const visit of VISITS) {
    for (const [name, [directory, options]] of Object.entries(DIRECTORIES)) {
      const copy = path.join(temporary, visit, directory)
      await copyDatabase(path.join(TESTDATA, visit, directory), copy)
      const bytes = await directorySize(copy)
      const db = new Level(copy, { ...BYTES, ...options, createIfMissing: false })
      rows.push([visit, name, options.comparator ?? 'bytewise', (await db.keys().all()).length, size(bytes)])
      await db.close()
    }
  }
  table(['visit', 'database', 'order of keys', 'entries', 'on disk'], rows)

  await showIndexedDb(path.join(temporary, VISITS[1], 'indexeddb'), seen['2'].idb.counts)
  await showLocalStorage(path.join(temporary, VISITS[1], 'local-storage'), seen['2'].local)
}

async function showIndexedDb(directory, counts) {
  heading('What is in IndexedDB, second visit')
  const db = new Level(directory, { ...BYTES, comparator: 'idb_cmp1', createIfMissing: false })
  for (const { name, stores } of await listDatabases(db, KEYS_SHOWN)) {
    row(`database ${JSON.stringify(name)}`, `${stores.length} object stores`)
    table(
      ['object store', 'records', 'indexes (entries, outdated ones included)', 'first keys'],
      stores.map(({ name, records, indexes, keys }) => [
        name,
        records,
        [...indexes.values()].map(({ name, entries }) => `${name} (${number(entries)})`).join(', '),
        keys.join(' · ')
      ])
    )
    gap()
    for (const { name, records } of stores.filter((store) => store.name in counts)) {
      check(records === counts[name], `${name}: ${number(records)} records, as the page counted`)
    }
  }
  await db.close()

  const withoutOrder = new Level(directory, { ...BYTES, createIfMissing: false })
  const refusal = await withoutOrder.open().then(
    () => undefined,
    (error) => error
  )
  check(refusal !== undefined, 'without its order of keys it is refused:')
  note(`  ${refusal.cause?.message ?? refusal.message}`)
}

async function showLocalStorage(directory, items) {
  heading('What is in Local Storage, second visit')
  const options = { ...BYTES, createIfMissing: false }
  let db = new Level(directory, options)
  const [origin, stored] = [...(await listItems(db))][0]
  row('page', origin)
  for (const [name, value] of [...stored].slice(0, KEYS_SHOWN)) {
    const characters = [...value]
    row(
      `  ${JSON.stringify(name)}`,
      JSON.stringify(characters.slice(0, 50).join('')) + (characters.length > 50 ? ' …' : '')
    )
  }
  gap()
  const names = Object.keys(items)
  const same = names.length === stored.size && names.every((name) => stored.get(name) === items[name])
  check(same, `all ${number(stored.size)} items are those that the page saw`)

  const key = itemKey(origin, 'added by Terrace 🪜')
  await db.put(key, encodeText('Guten Tag'), { sync: true })
  await db.close()
  db = new Level(directory, options)
  const readBack = decodeText(await db.get(key))
  check(
    readBack === 'Guten Tag',
    `an item added, the database closed and opened: ${JSON.stringify(readBack)}`
  )
  check((await listItems(db)).get(origin).size === stored.size + 1, 'all others are still there')
  await db.close()
}
