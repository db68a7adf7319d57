// Level in a dedicated worker and the files of its databases: ranges of keys, exports and imports, removal, damage to the map of names.
//
// Long: databases of many megabytes and files.

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { Level } from 'terrace'
import { useBrowser } from './support/browser.js'
import { test } from './support/patient-test.js'
import { ENGINE_POLICY, serveSite } from './support/site.js'
import { run, runAfter, siteOf } from './support/worker-site.js'

const openPage = useBrowser()

function temporaryDirectory(t) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-files-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** Entries that the worker and Node make alike. */
const ENTRIES = `
  const key = (number) => 'key ' + String(number).padStart(6, '0')
  const value = (number) => number + ' ' + 'xyz'.repeat((number * 7919) % 200)
`
const { key, value } = new Function(`${ENTRIES}; return { key, value }`)()

const operations = (start, end) =>
  Array.from({ length: end - start }, (_, index) => ({
    type: 'put',
    key: key(start + index),
    value: value(start + index)
  }))

/** Entries of a database in Node. */
async function entriesOf(Class, directory) {
  const db = new Class(directory, { createIfMissing: false })
  await db.open()
  const entries = await db.iterator().all()
  await db.close()
  return entries
}

test('a range is measured, and compacted while writes go on', async (t) => {
  const functions = `
    const key = (number) => 'key ' + String(number).padStart(6, '0')
    export async function use() {
      const db = new Level('range', { valueEncoding: 'view', writeBufferSize: 1 << 20 })
      const opening = db.approximateSize('a', 'z')
      const empty = await opening
      for (let start = 0; start < 30000; start += 1000) {
        const put = (_, index) => ({
          type: 'put',
          key: key(start + index),
          value: crypto.getRandomValues(new Uint8Array(500))
        })
        await db.batch(Array.from({ length: 1000 }, put))
      }
      const full = await db.approximateSize('key', 'kez')
      const half = await db.approximateSize(key(15000), 'kez')
      const viewed = await db.approximateSize(new TextEncoder().encode('key'), new TextEncoder().encode('kez'), {
        keyEncoding: 'view'
      })
      await db.clear({ lt: key(30000) })
      let isCompacting = true
      const compaction = db.compactRange('key', 'kez').then(() => (isCompacting = false))
      let puts = 0
      for (; isCompacting; puts++) {
        await db.put('other ' + puts, new Uint8Array(1000))
        await new Promise((resolve) => setTimeout(resolve))
      }
      await compaction
      const result = { empty, full, half, viewed, puts, after: await db.approximateSize('key', 'kez') }
      result.others = (await db.keys({ gt: 'other' }).all()).length
      result.names = Object.keys(db.supports.additionalMethods)
      await db.close()
      return result
    }
    export async function wrong(method) {
      const db = new Level('range')
      await db.open()
      const missing = await db[method]('a').catch((error) => error.name)
      const running = db.compactRange('a', 'z').catch((error) => error.code)
      await db.close()
      const closed = await db[method]('a', 'b').catch((error) => error.code)
      return [missing, closed, await running]
    }
  `
  const page = await openPage(t, await serveSite(t, siteOf(functions), ENGINE_POLICY))
  const { empty, full, half, viewed, puts, after, others, names } = await run(page, 'use')
  assert.equal(empty, 0)
  assert.ok(full > 15_000_000 && full < 17_000_000, `${full} bytes`)
  assert.ok(half > 0.45 * full && half < 0.55 * full, `${half} bytes of ${full}`)
  assert.equal(viewed, full)
  assert.equal(after, 0)
  assert.equal(others, puts)
  assert.deepEqual(names.slice(0, 3), ['approximateSize', 'compactRange', 'export'])
  for (const method of ['approximateSize', 'compactRange']) {
    assert.deepEqual(await run(page, 'wrong', [method]), [
      'TypeError',
      'LEVEL_DATABASE_NOT_OPEN',
      'LEVEL_DATABASE_NOT_OPEN'
    ])
  }
  assert.deepEqual(page.problems, [])
})

test('LevelDB and Level in Node open what a worker has exported while it went on writing', async (t) => {
  const functions = `
    ${ENTRIES}
    const base64 = async (file) => {
      const bytes = new Uint8Array(await file.arrayBuffer())
      return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
    }
    export async function exported() {
      const db = new Level('source', { writeBufferSize: 128 << 10 })
      await db.open()
      for (let number = 0; number < 5000; number++) await db.put(key(number), value(number))
      await db.del(key(17))
      await db.sublevel('names').put('é', 'ü')
      const files = []
      const steps = []
      for await (const file of db.export({ onProgress: (progress) => steps.push(progress) })) {
        files.push([file.name, await base64(file)])
        // It is not in the copy; and what it replaces stays there.
        for (let number = 0; number < 300; number++) await db.put(key(number), 'later')
        await db.compactRange('a', 'z')
      }
      const later = await db.get(key(5))
      await db.close()
      return { files, steps, later }
    }
    export async function leave() {
      const db = new Level('source')
      for await (const file of db.export()) break
      const unfinished = db.export()
      await unfinished.next()
      await db.close()
      const codes = [await unfinished.next().catch((error) => error.code)]
      await db.open()
      let count = 0
      for await (const file of db.export()) count++
      await db.close()
      codes.push(await db.export().next().catch((error) => error.code))
      return { codes, count }
    }
  `
  const page = await openPage(t, await serveSite(t, siteOf(functions), ENGINE_POLICY))
  const { files, steps, later } = await run(page, 'exported')
  assert.equal(later, 'later')
  const directory = join(temporaryDirectory(t), 'copy')
  mkdirSync(directory)
  for (const [name, bytes] of files) writeFileSync(join(directory, name), Buffer.from(bytes, 'base64'))
  const expected = operations(0, 5000)
    .filter(({ key: each }) => each !== key(17))
    .map(({ key, value }) => [key, value])
  assert.deepEqual(await entriesOf(Level, directory), [['!names!é', 'ü'], ...expected])
  assert.deepEqual(await entriesOf(ClassicLevel, directory), [['!names!é', 'ü'], ...expected])
  const bytes = files.reduce((sum, [, contents]) => sum + Buffer.from(contents, 'base64').length, 0)
  assert.ok(files.length > 3, `${files.length} files`)
  assert.deepEqual(steps.at(-1), { files: files.length - 1, bytes, totalBytes: bytes })

  const { codes, count } = await run(page, 'leave')
  assert.deepEqual(codes, ['LEVEL_DATABASE_NOT_OPEN', 'LEVEL_DATABASE_NOT_OPEN'])
  assert.ok(count > 2, `${count} files`)
  assert.deepEqual(page.problems, [])
})

/** Databases in Node, as files of a site. */
async function foldersOf(t) {
  const parent = temporaryDirectory(t)
  const fill = async (Class, name, options) => {
    const db = new Class(join(parent, name), options)
    await db.batch(operations(0, 3000))
    await db.batch(operations(3000, 4000))
    await db.del(key(5))
    await db.close()
  }
  await fill(Level, 'terrace', { writeBufferSize: 64 << 10 })
  await fill(ClassicLevel, 'leveldb', { writeBufferSize: 64 << 10 })
  const names = ['terrace', 'leveldb'].flatMap((folder) =>
    readdirSync(join(parent, folder), { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => `${folder}/${entry.name}`)
  )
  const files = Object.fromEntries(names.map((name) => [`/${name}`, readFileSync(join(parent, name))]))
  return { files, names }
}

test('a worker imports what LevelDB and Level in Node have written, from files, a directory or an export', async (t) => {
  const functions = `
    ${ENTRIES}
    const blobs = (names) =>
      Promise.all(names.map(async (name) => [name.split('/').at(-1), await (await fetch('/' + name)).blob()]))
    async function wrong(location) {
      const db = new Level(location, { createIfMissing: false })
      await db.open()
      const entries = await db.iterator().all()
      await db.close()
      const expected = []
      for (let number = 0; number < 4000; number++) if (number !== 5) expected.push([key(number), value(number)])
      return expected.filter(([key, value], index) => entries[index]?.[0] !== key || entries[index][1] !== value)
        .length + Math.abs(entries.length - expected.length)
    }
    export async function imported(names) {
      const files = await blobs(names)
      const steps = []
      await Level.import('imported', files, { onProgress: (progress) => steps.push(progress) })
      const db = new Level('imported')
      const last = steps.at(-1)
      return [await wrong('imported'), last.bytes === last.totalBytes && last.bytes > 0]
    }
    export async function fromDirectory(names) {
      const root = await navigator.storage.getDirectory()
      const directory = await root.getDirectoryHandle('folder', { create: true })
      for (const [name, blob] of await blobs(names)) {
        const writer = await (await directory.getFileHandle(name, { create: true })).createWritable()
        await writer.write(blob)
        await writer.close()
      }
      await directory.getDirectoryHandle('lost', { create: true })
      await Level.import('from directory', directory)
      return wrong('from directory')
    }
    export async function fromExport() {
      const db = new Level('from directory')
      await Level.import('from export', db.export())
      await db.close()
      return wrong('from export')
    }
  `
  const { files, names } = await foldersOf(t)
  const page = await openPage(t, await serveSite(t, { ...siteOf(functions), ...files }, ENGINE_POLICY))
  const folder = (name) => names.filter((each) => each.startsWith(`${name}/`))
  assert.deepEqual(await run(page, 'imported', [folder('terrace')]), [0, true])
  assert.equal(await run(page, 'fromDirectory', [folder('leveldb')]), 0)
  assert.equal(await run(page, 'fromExport'), 0)
  assert.deepEqual(page.problems, [])
})

/** The files of a database with this many of them, as files of a site. */
async function filesOf(t, count) {
  const directory = join(temporaryDirectory(t), 'many')
  const db = new ClassicLevel(directory, { writeBufferSize: 64 << 10, compression: false })
  const names = () =>
    readdirSync(directory).filter((name) => /^(CURRENT|MANIFEST-\d+|\d+\.(log|ldb))$/.test(name))
  await db.open()
  let number = 0
  const fill = async () => {
    for (let puts = 0; puts < 20; puts++) await db.put(key(number++), 'x'.repeat(2000))
  }
  // In order, tables are only moved from level to level, never merged.
  while (names().length < count - 10) await fill()
  while (names().length < count) {
    // LevelDB makes one table of its log.
    await fill()
    await db.close()
    await db.open()
  }
  await db.close()
  assert.equal(names().length, count)
  return Object.fromEntries(names().map((name) => [`/${name}`, readFileSync(join(directory, name))]))
}

test('an import may have as many files as leave enough to open the database, and beyond that it is refused with advice', async (t) => {
  const functions = `
    export async function imported(location, names) {
      const files = names.map(async (name) => [name.slice(1), await (await fetch(name)).blob()])
      await Level.import(location, await Promise.all(files))
    }
    export async function use(location) {
      const db = new Level(location, { createIfMissing: false })
      const found = (await db.keys().all()).length
      await db.put('a', 'b')
      return found
    }
  `
  const files = await filesOf(t, 175)
  const names = Object.keys(files)
  const one = '/900000.ldb'
  files[one] = files[names.find((name) => name.endsWith('.ldb'))]
  const page = await openPage(t, await serveSite(t, { ...siteOf(functions), ...files }, ENGINE_POLICY))
  await run(page, 'imported', ['most', names])
  const found = await run(page, 'use', ['most'])
  assert.ok(found > 4000, `${found} entries`)
  for (let life = 0; life < 5; life++) {
    await page.evaluate((life) => globalThis.workers[life].terminate(), life)
    assert.equal(await runAfter(page, 'use', ['most'], life + 1), found + 1)
  }
  await assert.rejects(
    run(page, 'imported', ['more', [...names, one]], 6),
    /LEVEL_IO_ERROR.*larger maxFileSize/
  )
  await assert.rejects(run(page, 'use', ['more'], 6), /LEVEL_DATABASE_MISSING/)
})

test('an import that is refused or fails leaves what there was, and one that is asked to replaces it', async (t) => {
  const functions = `
    const blobs = (names) =>
      Promise.all(names.map(async (name) => [name.split('/').at(-1), await (await fetch('/' + name)).blob()]))
    export async function makeOld() {
      const db = new Level('old')
      await db.put('old', 'entry')
      await db.close()
    }
    export async function imported(location, names, options, damage) {
      let files = await blobs(names)
      if (damage !== undefined) {
        files = files.map(([name, blob]) => [name, name.startsWith(damage) ? new Blob(['damaged']) : blob])
      }
      await Level.import(location, files, options)
    }
    export async function keys(location) {
      const db = new Level(location, { createIfMissing: false })
      await db.open()
      const keys = await db.keys().all()
      await db.close()
      return keys.length === 1 ? keys[0] : keys.length
    }
    export async function directories() {
      const root = await navigator.storage.getDirectory()
      const names = []
      for await (const name of root.keys()) names.push(name)
      return names.sort()
    }
    let db
    export const hold = () => {
      db = new Level('old')
      return db.open()
    }
    export const letGo = () => db.close()
  `
  const { files, names } = await foldersOf(t)
  const page = await openPage(t, await serveSite(t, { ...siteOf(functions), ...files }, ENGINE_POLICY))
  const whole = names.filter((name) => name.startsWith('terrace/'))
  const withoutCurrent = whole.filter((name) => !name.endsWith('CURRENT'))
  const table = whole.find((name) => name.endsWith('.ldb')).split('/')[1]
  await run(page, 'makeOld')

  await assert.rejects(run(page, 'imported', ['old', whole]), /LEVEL_DATABASE_EXISTS/)
  const overwrite = { overwrite: true }
  await assert.rejects(run(page, 'imported', ['old', withoutCurrent, overwrite]), /LEVEL_CORRUPTION/)
  await assert.rejects(run(page, 'imported', ['old', [], overwrite]), /LEVEL_DATABASE_MISSING/)
  await assert.rejects(run(page, 'imported', ['old', whole, overwrite, 'MANIFEST']), /LEVEL_CORRUPTION/)
  await assert.rejects(run(page, 'imported', ['old', whole, overwrite, table]), /LEVEL_CORRUPTION/)
  assert.equal(await run(page, 'keys', ['old']), 'old')
  await run(page, 'hold', [], 1)
  await assert.rejects(run(page, 'imported', ['old', whole, overwrite]), /LEVEL_LOCKED/)
  await run(page, 'letGo', [], 1)

  await assert.rejects(run(page, 'imported', ['new', withoutCurrent]), /LEVEL_CORRUPTION/)
  await assert.rejects(run(page, 'keys', ['new']), /LEVEL_DATABASE_MISSING/)
  assert.ok(!(await run(page, 'directories')).includes('new.terrace'))

  await run(page, 'imported', ['old', whole, overwrite])
  assert.equal(await run(page, 'keys', ['old']), 3999)
})

test('a database is removed, unless it is open', async (t) => {
  const functions = `
    let db
    export async function open() {
      db = new Level('removed')
      await db.put('key', 'value')
    }
    export const close = () => db.close()
    export const destroy = () => Level.destroy('removed')
    export async function reopen() {
      await new Level('removed', { createIfMissing: false }).open()
    }
  `
  const page = await openPage(t, await serveSite(t, siteOf(functions), ENGINE_POLICY))
  await run(page, 'open')
  await assert.rejects(run(page, 'destroy', [], 1), /LEVEL_LOCKED/)
  await assert.rejects(run(page, 'destroy', [], 0), /LEVEL_LOCKED/)
  await run(page, 'close')
  await run(page, 'reopen', [], 2)
  await page.reload()
  await run(page, 'destroy')
  await run(page, 'destroy')
  await assert.rejects(run(page, 'reopen'), /LEVEL_DATABASE_MISSING/)
})

test('every entry is there after a byte of either copy of the map of names was damaged', async (t) => {
  const functions = `
    ${ENTRIES}
    export async function fill() {
      const db = new Level('damaged', { writeBufferSize: 64 << 10 })
      for (let number = 0; number < 2000; number++) await db.put(key(number), value(number))
      await db.close()
    }
    export async function damage(offset) {
      const root = await navigator.storage.getDirectory()
      const map = await (await root.getDirectoryHandle('damaged.terrace')).getFileHandle('0')
      const file = await map.createSyncAccessHandle()
      const byte = new Uint8Array(1)
      file.read(byte, { at: offset })
      byte[0] ^= 0xff
      file.write(byte, { at: offset })
      file.close()
      const db = new Level('damaged', { createIfMissing: false })
      await db.open()
      let right = 0
      for (let number = 0; number < 2000; number++) if (db.getSync(key(number)) === value(number)) right++
      await db.close()
      return right
    }
  `
  const page = await openPage(t, await serveSite(t, siteOf(functions), ENGINE_POLICY))
  await run(page, 'fill')
  for (const offset of [0, 9, 17, 40, 90]) {
    for (const copy of [0, 64 << 10]) assert.equal(await run(page, 'damage', [copy + offset]), 2000)
  }
})
