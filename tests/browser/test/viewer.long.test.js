// The viewer in Chromium: folders of testdata are dropped or chosen, and what it shows and exports is what they hold. Nothing is sent.
//
// Long: every database of testdata.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { indexedDbLayout } from '../../../viewer/src/layouts/indexeddb.js'
import { localStorageLayout, parse } from '../../../viewer/src/layouts/local-storage.js'
import { useBrowser } from './support/browser.js'
import { test } from './support/patient-test.js'
import { choose, serveViewer, status } from './support/viewer.js'

const openPage = useBrowser()
const testdata = fileURLToPath(new URL('../../../testdata/', import.meta.url))

/** The number of entries of each database, and their digest: not known by reading them. */
const DIGESTS = new Map(
  readFileSync(join(testdata, 'DIGESTS'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' '))
    .map(([name, count, digest]) => [name, { count: Number(count), digest }])
)

let directory
let copies = 0
before(() => {
  directory = mkdtempSync(join(tmpdir(), 'terrace-viewer-'))
})
after(() => rmSync(directory, { recursive: true, force: true }))

/** Opens the page from a server that records the requests to it. */
async function openViewer(t) {
  const { origin, requests } = await serveViewer(t)
  const page = await openPage(t, origin)
  return Object.assign(page, { requests })
}

const node = (page, text) => page.locator('#tree .node', { hasText: text }).first()
const expand = (page, text) => node(page, text).locator('.arrow').click()
const notice = (page) => page.locator('#notice').innerText()

/** A copy of a database of testdata, which a test may change. */
function copyOf(name, to) {
  const copy = join(directory, to)
  cpSync(join(testdata, name), copy, { recursive: true })
  return copy
}

/** The IndexedDB that Chromium left, whose largest tables are compressed in testdata. */
function indexedDb() {
  copies++
  const copy = copyOf('chromium/visit2-killed/indexeddb', `${copies}/shop.indexeddb.leveldb`)
  for (const table of ['000011.ldb', '000016.ldb']) {
    const compressed = join(copy, `${table}.gz`)
    writeFileSync(join(copy, table), gunzipSync(readFileSync(compressed)))
    unlinkSync(compressed)
  }
  return copy
}

/** The lines that the page exports. */
async function exported(page) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#export').click()])
  return {
    name: download.suggestedFilename(),
    lines: readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\n')
  }
}

/** The bytes of a member of an exported line. */
const bytesOf = (part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part.hex, 'hex'))

/** Count and digest of exported lines, as testdata/generate/digests.py computes them. */
function digestOf(lines) {
  const hash = createHash('sha256')
  const withLength = (bytes) => {
    const length = Buffer.alloc(4)
    length.writeUInt32LE(bytes.length)
    hash.update(length).update(bytes)
  }
  for (const line of lines) {
    const { key, value } = JSON.parse(line)
    withLength(bytesOf(key))
    withLength(bytesOf(value))
  }
  return { count: lines.length, digest: hash.digest('hex') }
}

test('a folder is chosen: its entries are shown, and nothing but the page is ever asked of the server', async (t) => {
  const page = await openViewer(t)
  await choose(page, join(testdata, 'leveldb-1.23-snappy-bloom'))
  await status(page, '2,403 entries')
  assert.match(await page.locator('#facts').innerText(), /leveldb\.BytewiseComparator/)
  await page.locator('.row', { hasText: 'key-000004' }).click()
  await page.locator('#value', { hasText: 'value 1 of key 4; value 1 of key 4' }).waitFor()
  await exported(page)
  assert.deepEqual(page.requests, ['GET /'])
  assert.deepEqual(page.problems, [])
})

test('the policy of the page lets it and its worker send nothing', async (t) => {
  const page = await openViewer(t)
  const attempt = () =>
    fetch('/upload', { method: 'POST', body: 'x' }).then(
      () => 'sent',
      (error) => error.name
    )
  assert.equal(await page.evaluate(attempt), 'TypeError')
  const inWorker = await page.evaluate(
    (source) =>
      new Promise((resolve) => {
        const worker = new Worker(URL.createObjectURL(new Blob([`(${source})().then(postMessage)`])))
        worker.onmessage = ({ data }) => resolve(data)
      }),
    // The worker's own address is not one of a server.
    String(attempt).replace("'/upload'", `'${page.url()}upload'`)
  )
  assert.equal(inWorker, 'TypeError')
  assert.deepEqual(page.requests, ['GET /'])
})

test('a folder is dropped', async (t) => {
  const page = await openViewer(t)
  const client = await page.context().newCDPSession(page)
  const data = { items: [], files: [join(testdata, 'leveldb-sst')], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop']) {
    await client.send('Input.dispatchDragEvent', { type, x: 300, y: 300, data })
  }
  await status(page, '2,403 entries')
  assert.equal(await page.locator('#name').innerText(), 'leveldb-sst')
})

for (const [name, expected] of DIGESTS) {
  test(`the export of ${name} is what the database holds`, async (t) => {
    const page = await openViewer(t)
    await choose(page, join(testdata, name))
    await status(page, `${expected.count.toLocaleString('en-GB')} entries`)
    const { name: file, lines } = await exported(page)
    assert.equal(file, `${name}.jsonl`)
    assert.deepEqual(digestOf(lines), expected)
  })
}

test('rows that come into view are read, at the beginning and at the end', async (t) => {
  const page = await openViewer(t)
  await choose(page, join(testdata, 'leveldb-1.23-raw'))
  await status(page, '2,403 entries')
  await page.locator('#entries').focus()
  await page.keyboard.press('End')
  await page.locator('.row[aria-posinset="2403"] .key').waitFor()
  const rows = page.locator('.row')
  assert.ok((await rows.count()) < 100)
  const { lines } = await exported(page)
  const key = JSON.parse(lines.at(-1)).key
  assert.equal(await page.locator('.row[aria-posinset="2403"] .key').innerText(), key)
  await page.locator('#entries').focus()
  await page.keyboard.press('Home')
  await page.locator('.row[aria-posinset="1"]', { hasText: 'the empty key' }).waitFor()
})

test('Local Storage: origins, names and texts, and a search in an origin', async (t) => {
  const page = await openViewer(t)
  await choose(page, join(testdata, 'chromium/visit2-killed/local-storage'))
  await status(page, '2,006 entries')
  await node(page, 'http://127.0.0.1:18765').locator('.count', { hasText: '2,003' }).waitFor()
  await node(page, 'http://127.0.0.1:18765').click()
  await status(page, '2,003 entries')
  await page.locator('.row', { hasText: 'ключ' }).click()
  await page.locator('#value', { hasText: 'значение 😀' }).waitFor()

  // The text is stored in UTF-16.
  await page.locator('#query').fill('ЗНАЧЕНИЕ 😀'.toLowerCase())
  await page.keyboard.press('Enter')
  await status(page, '1 found among 2,003 entries')
  const found = await exported(page)
  assert.equal(found.lines.length, 1)
  assert.deepEqual(
    bytesOf(JSON.parse(found.lines[0]).key),
    Buffer.from('_http://127.0.0.1:18765\0\0:\x04;\x04N\x04G\x04')
  )

  await page.locator('#query').fill('_http://127.0.0.1:18765\\x00\\x01item1')
  await page.locator('#search-in').selectOption('prefix')
  await page.keyboard.press('Enter')
  // The order of keys spares the search the entries that begin otherwise.
  await page.locator('#status', { hasText: /^([\d,]+) found among \1 entries$/ }).waitFor()
})

test('IndexedDB: databases, object stores and indexes by name, records as objects', async (t) => {
  const page = await openViewer(t)
  await choose(page, indexedDb())
  await status(page, '20,825 entries')
  assert.match(await page.locator('#facts').innerText(), /idb_cmp1/)
  await node(page, 'shop').waitFor()
  await expand(page, 'shop')
  await node(page, 'rows').waitFor()
  await expand(page, 'rows')
  await node(page, 'email').locator('.count', { hasText: '3,000' }).waitFor()
  await node(page, 'records').click()
  await status(page, '2,700 entries')
  assert.equal(await page.locator('#where').innerText(), 'shop › rows › records')
  await page.locator('.row[aria-posinset="2"]').click()
  const object = JSON.parse(await page.locator('#view pre').innerText())
  assert.equal(object.email, 'u1@example.org')
  assert.deepEqual(object.when, { $date: '2001-09-09T02:03:20.000Z' })
  await node(page, 'email').click()
  await status(page, '3,000 entries')
  await page.locator('.row[aria-posinset="1"] .key', { hasText: '"u0@example.org" → 0' }).waitFor()
})

test('what is exported and decoded of Chromium is what the page itself saw', async (t) => {
  const { seen } = JSON.parse(readFileSync(join(testdata, 'chromium/seen-by-the-page.json'), 'utf8'))
  const page = await openViewer(t)
  await choose(page, join(testdata, 'chromium/visit2-killed/local-storage'))
  await node(page, 'http://127.0.0.1:18765').click()
  await status(page, '2,003 entries')
  const stored = (await exported(page)).lines.map((line) => {
    const [key, value] = [JSON.parse(line).key, JSON.parse(line).value].map(
      (part) => new Uint8Array(bytesOf(part))
    )
    return [parse(key).name, localStorageLayout.decode(key, value).text]
  })
  assert.deepEqual(Object.fromEntries(stored), seen[2].local)

  await page.setInputFiles('#other-directory', indexedDb())
  await node(page, 'shop').waitFor()
  await expand(page, 'shop')
  await node(page, 'kinds').waitFor()
  await expand(page, 'kinds')
  await page
    .locator('#tree [role=treeitem]', { hasText: 'kinds' })
    .last()
    .getByText('records', { exact: true })
    .click()
  await status(page, '1,266 entries')
  const values = (await exported(page)).lines.map((line) => {
    const { key, value } = JSON.parse(line)
    return indexedDbLayout.decode(new Uint8Array(bytesOf(key)), new Uint8Array(bytesOf(value))).json
  })
  // They are in the order of their keys: numbers, dates, strings, bytes, arrays.
  assert.deepEqual(values, seen[2].idb.kindsInOrder)
})

test('the forms of a value: text, JSON, numbers, hex', async (t) => {
  const page = await openViewer(t)
  await choose(page, join(testdata, 'leveldb-1.23-raw'))
  await status(page, '2,403 entries')
  await page.locator('.row[aria-posinset="2"]').click()
  await page.getByRole('tab', { name: 'Hex' }).click()
  const hex = await page.locator('#view pre').innerText()
  assert.match(hex, /^0000 {2}ff fe fd fc fb fa f9 f8 {2}f7 f6/)
  assert.equal(hex.split('\n').length, 16)
  // The form stays for the next entry that has it, and the keyboard reaches the others.
  await page.locator('.row[aria-posinset="3"]').click()
  await page.locator('#view', { hasNotText: 'ff fe fd' }).waitFor()
  await page.getByRole('tab', { name: 'Hex', selected: true }).focus()
  await page.keyboard.press('ArrowLeft')
  await page.getByRole('tab', { name: 'Text', selected: true }).waitFor()
  await page.locator('#view', { hasText: 'value 1 of key 1' }).waitFor()
})

test('several databases in a folder: the user chooses', async (t) => {
  const page = await openViewer(t)
  await choose(page, join(testdata, 'chromium/visit1-closed'))
  await page.getByRole('heading', { name: '5 databases in this directory' }).waitFor()
  await page.locator('#notice button', { hasText: 'session-storage' }).click()
  await status(page, '3 entries')
  await page.locator('#facts', { hasText: 'Session Storage of Chromium' }).waitFor()
})

test('what is no LevelDB directory is refused, and the page says what is one', async (t) => {
  const page = await openViewer(t)
  const folder = join(directory, 'letters')
  mkdirSync(folder)
  writeFileSync(join(folder, 'letter.txt'), 'Dear database')
  await choose(page, folder)
  await page.getByRole('heading', { name: 'This is not a LevelDB directory' }).waitFor()
  assert.match(await notice(page), /a directory with a file CURRENT/)
  assert.deepEqual(page.problems, [])
})

test('a damaged table: what comes before is shown, the error names file and place, and a repair in memory shows the rest', async (t) => {
  const page = await openViewer(t)
  const folder = copyOf('leveldb-1.23-raw', 'fruit')
  const table = join(folder, '000005.ldb')
  const bytes = readFileSync(table)
  bytes[5000] = 0xff
  writeFileSync(table, bytes)
  await choose(page, folder)
  await page.getByRole('heading', { name: 'The database is damaged' }).waitFor()
  // As docs/inspecting-leveldb.md has it.
  assert.match(
    await notice(page),
    /block trailer: the checksum is dec98616, but 5743d4ee is stored \(byte 1046 of the block\) in fruit\/000005\.ldb at byte 4342/
  )
  await status(page, '40 entries; the rest cannot be read')
  await page.locator('.row', { hasText: 'value 1 of key 1;' }).first().waitFor()

  await page.locator('#repair').click()
  await page.getByRole('heading', { name: 'This is what can be salvaged' }).waitFor()
  assert.match(await notice(page), /4591 entries were kept; 1050 bytes could not be read/)
  await status(page, '2,397 entries')
  assert.deepEqual(readFileSync(table), bytes)
  assert.deepEqual(page.problems, [])
})

test('a missing table, MANIFEST or CURRENT is named, and a repair in memory shows what the others have', async (t) => {
  const cases = [
    ['000005.ldb', /names a table that is missing: missing-0\/000005\.ldb/],
    ['MANIFEST-000002', /CURRENT names a MANIFEST that is missing: missing-1\/MANIFEST-000002/],
    ['CURRENT', /the file CURRENT is missing, but 000005\.ldb of a database exists/]
  ]
  for (const [index, [file, message]] of cases.entries()) {
    const page = await openViewer(t)
    const folder = copyOf('leveldb-1.23-raw', `missing-${index}`)
    unlinkSync(join(folder, file))
    await choose(page, folder)
    await page.getByRole('heading', { name: 'The database is damaged' }).waitFor()
    assert.match(await notice(page), message)
    await page.locator('#repair').click()
    await page.getByRole('heading', { name: 'This is what can be salvaged' }).waitFor()
    const complete = file !== '000005.ldb'
    await status(page, complete ? '2,403 entries' : /^[\d,]{3,} entries$/)
  }
})

test('a file that changes after the folder was chosen: the page says so', async (t) => {
  const page = await openViewer(t)
  const table = join(copyOf('leveldb-1.23-raw', 'two/first'), '000005.ldb')
  copyOf('leveldb-sst', 'two/second')
  await choose(page, join(directory, 'two'))
  await page.getByRole('heading', { name: '2 databases in this directory' }).waitFor()
  writeFileSync(table, 'something else')
  await page.locator('#notice button', { hasText: 'two/first' }).click()
  await page.getByRole('heading', { name: 'The browser could not read a file' }).waitFor()
  assert.match(await notice(page), /could not read first\/\S+: .*changed or removed the file/)
})

test('the keyboard reaches the search and walks in the tree', async (t) => {
  const page = await openViewer(t)
  await choose(page, join(testdata, 'chromium/visit2-killed/local-storage'))
  await status(page, '2,006 entries')
  await page.locator('#tree .node').first().focus()
  await page.keyboard.press('End')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await status(page, '2,003 entries')
  await page.keyboard.press('/')
  await page.keyboard.type('emptyvalue')
  await page.keyboard.press('Enter')
  await status(page, '1 found among 2,003 entries')
})

test('a narrow screen shows one part at a time, and nothing overflows', async (t) => {
  const page = await openViewer(t)
  await page.setViewportSize({ width: 360, height: 640 })
  await choose(page, join(testdata, 'chromium/visit2-killed/local-storage'))
  await node(page, 'http://127.0.0.1:18765').click()
  await page.locator('.row', { hasText: 'the empty key' }).click()
  await page.locator('#value', { hasText: 'the empty key' }).waitFor()
  for (const part of ['tree', 'entries', 'value']) {
    await page.locator(`[data-to=${part}]`).click()
    assert.ok(await page.locator(`.pane.${part}`).isVisible())
    assert.equal(await page.locator('.pane:visible').count(), 1)
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth))
  }
})
