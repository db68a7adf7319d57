// Level in a dedicated worker, over the origin-private file system: its methods, opening it again, one owner, and a browser that is killed while
// a worker writes.
//
// Long: half a million entries, a quota that is used up, a browser that is killed.

import assert from 'node:assert/strict'
import { KillableBrowser, useBrowser } from './support/browser.js'
import { killDuringWrites } from './support/killed-writes.js'
import { test } from './support/patient-test.js'
import { ENGINE_POLICY, serveSite } from './support/site.js'
import { run, runAfter, siteOf } from './support/worker-site.js'

const openPage = useBrowser({ flags: ['--js-flags=--expose-gc'] })

test('a worker uses a database in all ways, and finds it again', async (t) => {
  const functions = `
    export async function use() {
      const db = new Level('use', { valueEncoding: 'json' })
      await db.put('a', { n: 1 })
      const before = db.snapshot()
      await db.batch([{ type: 'put', key: 'b', value: { n: 2 } }, { type: 'del', key: 'a' }], { sync: true })
      const names = db.sublevel('names')
      await names.open()
      names.putSync('é', 'ü')
      const result = [
        await db.iterator({ snapshot: before }).all(),
        db.getSync('b'),
        await names.get('é'),
        [...(await db.getMany(['a', 'b']))].map((value) => value?.n ?? null)
      ]
      await before.close()
      await db.close()
      await db.open()
      result.push(await db.keys().all())
      await db.clear({ gte: 'b' })
      result.push(await db.keys().all(), db.supports.permanence, db.location)
      await db.close()
      return result
    }
    export async function again() {
      const db = new Level('use', { createIfMissing: false })
      await db.open()
      const keys = await db.keys().all()
      await db.close()
      return keys
    }
    export async function missing() {
      await new Level('missing', { createIfMissing: false }).open()
    }
    export async function exists() {
      await new Level('use', { errorIfExists: true }).open()
    }
  `
  const origin = await serveSite(t, siteOf(functions), ENGINE_POLICY)
  const page = await openPage(t, origin)
  assert.deepEqual(await run(page, 'use'), [
    [['a', { n: 1 }]],
    { n: 2 },
    'ü',
    [null, 2],
    ['!names!é', 'b'],
    ['!names!é'],
    true,
    'use'
  ])
  await page.reload()
  assert.deepEqual(await run(page, 'again'), ['!names!é'])
  await assert.rejects(run(page, 'missing'), /LEVEL_DATABASE_MISSING/)
  await assert.rejects(run(page, 'exists'), /LEVEL_DATABASE_EXISTS/)
  assert.deepEqual(await run(page, 'again'), ['!names!é'])
  assert.deepEqual(page.problems, [])
})

test('writes of one turn go to the log together, and reads and writes after them see them', async (t) => {
  const functions = `
    const { prototype } = FileSystemSyncAccessHandle
    const calls = { write: 0, flush: 0 }
    for (const name of ['write', 'flush']) {
      const called = prototype[name]
      prototype[name] = function (...args) {
        calls[name]++
        return called.apply(this, args)
      }
    }
    /** How often the browser is called meanwhile. */
    async function counted(run) {
      const before = { ...calls }
      await run()
      return { write: calls.write - before.write, flush: calls.flush - before.flush }
    }
    const numbers = Array.from({ length: 100 }, (_, n) => n)
    const put = (db, prefix, options) => Promise.all(numbers.map((n) => db.put(prefix + n, 'value ' + n, options)))
    export async function together() {
      const db = new Level('together')
      await db.open()
      const one = await counted(() => db.put('one', 'value'))
      const many = await counted(() => put(db, 'many '))
      const one_synced = await counted(() => db.put('one', 'synced', { sync: true }))
      const synced = await counted(() => put(db, 'synced ', { sync: true }))
      const seen = []
      const pending = [db.put('order', '1'), db.put('order', '2')]
      seen.push(db.getSync('order'))
      pending.push(db.put('order', '3'))
      db.putSync('order', '4')
      seen.push(db.getSync('order'))
      pending.push(db.put('order', '5'), db.put('large', 'x'.repeat(10_000)), db.del('order'))
      const snapshot = db.snapshot()
      pending.push(db.put('order', '6'))
      seen.push(db.getSync('order', { snapshot }) ?? null, db.getSync('large').length)
      pending.push(db.put('order', '7'), db.clear({ gte: 'order', lte: 'order' }), db.put('order', '8'))
      await Promise.all(pending)
      await snapshot.close()
      seen.push(await db.get('order'))
      const last = db.put('last', 'value')
      await db.close()
      await last
      await db.open()
      seen.push(db.getSync('last'), (await db.keys({ gte: 'many', lt: 'synced~' }).all()).length)
      await db.close()
      return { one, many, one_synced, synced, seen }
    }
  `
  const page = await openPage(t, await serveSite(t, siteOf(functions), ENGINE_POLICY))
  const { one, many, one_synced, synced, seen } = await run(page, 'together')
  assert.deepEqual(many, one)
  assert.deepEqual(synced, one_synced)
  assert.ok(synced.flush > 0)
  assert.deepEqual(seen, ['2', '4', null, 10_000, '8', 'value', 202])
})

test('texts of all kinds are read as they were written, one by one and many at once', async (t) => {
  const functions = `
    const kinds = [
      (number) => 'plain ' + number,
      (number) => 'x'.repeat(number * 13),
      () => '',
      (number) => '\\ufeff begins with a mark ' + number,
      (number) => 'é'.repeat(1 + (number % 70)),
      (number) => '漢字 ' + '😀'.repeat(number % 40) + ' ' + number,
      (number) => 'only its end is not ASCII '.repeat(number % 50) + 'ü'
    ]
    const value = (number, from) => kinds[(number + from) % kinds.length](number)
    /** Two databases: one of ASCII alone but for every hundredth entry, one of everything in turn. */
    const values = {
      mostly: (number) => (number % 100 === 99 ? value(number % 200, 3) : 'entry ' + 'y'.repeat(number % 300)),
      mixed: (number) => value(number % 200, number)
    }
    const key = (number) => String(number).padStart(5, '0') + (number % 9 === 0 ? ' ä' : '')
    export async function wrong(name) {
      const db = new Level('texts ' + name)
      await db.open()
      const entries = Array.from({ length: 2000 }, (_, number) => [key(number), values[name](number)])
      await db.batch(entries.map(([key, value]) => ({ type: 'put', key, value })))
      const differs = (found, expected) =>
        Math.abs(found.length - expected.length) +
        expected.filter((each, index) => String(each) !== String(found[index])).length
      const [keys, texts] = [entries.map(([key]) => key), entries.map(([, value]) => value)]
      const one = []
      for await (const entry of db.iterator({ highWaterMarkBytes: 5000 })) one.push(entry)
      const result = {
        all: differs(await db.iterator().all(), entries),
        one: differs(one, entries),
        sync: differs([...db.iterateSync({ reverse: true })], entries.toReversed()),
        keys: differs(await db.keys().all(), keys),
        values: differs(await db.values().all(), texts),
        gets: differs(await db.getMany(keys), texts),
        mixed: differs(
          (await db.iterator({ keyEncoding: 'view' }).all()).map(([key, value]) => [new TextDecoder().decode(key), value]),
          entries
        )
      }
      await db.close()
      return result
    }
  `
  const page = await openPage(t, await serveSite(t, siteOf(functions), ENGINE_POLICY))
  const none = { all: 0, one: 0, sync: 0, keys: 0, values: 0, gets: 0, mixed: 0 }
  assert.deepEqual(await run(page, 'wrong', ['mostly']), none)
  assert.deepEqual(await run(page, 'wrong', ['mixed']), none)
})

test('a second worker is told that the database is open, and has it once it is closed', async (t) => {
  const functions = `
    let db
    export async function open() {
      db = new Level('owner')
      await db.open()
      return db.status
    }
    export const close = () => db.close()
  `
  const page = await openPage(t, await serveSite(t, siteOf(functions), ENGINE_POLICY))
  assert.equal(await run(page, 'open', [], 0), 'open')
  await assert.rejects(run(page, 'open', [], 1), /LEVEL_LOCKED/)
  await run(page, 'close', [], 0)
  assert.equal(await run(page, 'open', [], 1), 'open')
  await run(page, 'close', [], 1)
})

test('many writes of all kinds make tables, and are all there', async (t) => {
  const functions = `
    const value = (number) => number + ' ' + 'x'.repeat(number % 500)
    const key = (number) => 'key ' + String((number * 7919) % 40000).padStart(6, '0')
    export async function fill() {
      const db = new Level('many', { writeBufferSize: 256 << 10 })
      await db.open()
      for (let number = 0; number < 40000; number += 8) {
        const put = (offset) => ({ type: 'put', key: key(number + offset), value: value(number + offset) })
        if (number % 16 === 0) await db.batch([0, 1, 2, 3, 4, 5, 6, 7].map(put))
        else {
          db.batch([0, 1, 2, 3].map(put))
          db.putSync(key(number + 4), value(number + 4))
          await Promise.all([5, 6, 7].map((offset) => db.put(key(number + offset), value(number + offset))))
        }
      }
      await db.close()
    }
    export async function check() {
      const db = new Level('many')
      await db.open()
      let wrong = 0
      for (let number = 0; number < 40000; number++) if (db.getSync(key(number)) !== value(number)) wrong++
      let count = 0
      for await (const entry of db.iterator()) count++
      await db.close()
      return { wrong, count }
    }
  `
  const page = await openPage(t, await serveSite(t, siteOf(functions), ENGINE_POLICY))
  await run(page, 'fill')
  assert.deepEqual(await run(page, 'check', [], 1), { wrong: 0, count: 40000 })
  assert.deepEqual(page.problems, [])
})

test('clear() deletes what was written before it and nothing else, up to any limit', async (t) => {
  const functions = `
    export async function use() {
      const db = new Level('cleared', { writeBufferSize: 32 << 10 })
      await db.open()
      const value = 'x'.repeat(3000)
      const wrong = []
      for (let number = 0; number < 600; number++) {
        const key = String(number).padStart(6, '0')
        const put = (prefix) => db.put(prefix + key, value)
        const done = [put('kept '), put('before '), db.clear({ gt: 'b', lt: 'c', limit: number % 2 ? -1 : 2 ** 40 }), put('again ')]
        await Promise.all(done)
        if ((await db.keys({ gt: 'b', lt: 'c' }).all()).length > 0) wrong.push(number)
      }
      const result = [wrong, (await db.keys({ lt: 'b' }).all()).length, (await db.keys({ gt: 'c' }).all()).length]
      await db.batch(Array.from({ length: 3000 }, (_, n) => ({ type: 'put', key: 'b' + String(n).padStart(4, '0'), value: '' })))
      await db.clear({ gte: 'b', lt: 'c', reverse: true, limit: 1999 })
      const left = await db.keys({ gte: 'b', lt: 'c' }).all()
      await db.clear({ gt: 'b0003', lte: 'b0999' })
      result.push([left.length, left.at(-1)], await db.keys({ gte: 'b', lt: 'b1000' }).all())
      await db.close()
      return result
    }
    /** So many writes within a turn that the last ones wait for files. */
    export async function useAtOnce() {
      const db = new Level('cleared at once', { writeBufferSize: 32 << 10 })
      await db.open()
      const writes = Array.from({ length: 200 }, (_, n) => db.put('kept ' + n, 'x'.repeat(5000)))
      writes.push(db.put('before', 'x'), db.clear({ lt: 'c' }), db.put('after', 'x'))
      await Promise.all(writes)
      const result = [await db.keys({ lt: 'c' }).all(), (await db.keys({ gt: 'c' }).all()).length]
      await db.close()
      return result
    }
  `
  const page = await openPage(t, await serveSite(t, siteOf(functions), ENGINE_POLICY))
  const left = ['b0000', 'b0001', 'b0002', 'b0003']
  assert.deepEqual(await run(page, 'use'), [[], 600, 600, [1001, 'b1000'], left])
  assert.deepEqual(await run(page, 'useAtOnce'), [['after'], 200])
})

test('a loop of synchronous writes that has used up the open files ends with an error, and the database opens again and goes on', async (t) => {
  const functions = `
    const key = (number) => String(number).padStart(9, '0')
    const open = async () => {
      const db = new Level('files', { writeBufferSize: 32 << 10 })
      await db.open()
      return db
    }
    export async function fill() {
      const db = await open()
      for (let number = 0; ; number++) {
        try {
          db.putSync(key(number), 'value')
        } catch ({ code }) {
          return [code, number]
        }
      }
    }
    export async function goOn(stored) {
      const db = await open()
      const found = (await db.keys().all()).length
      for (let number = stored; number < stored + 20_000; number++) await db.put(key(number), 'value')
      const all = (await db.keys().all()).length
      await db.clear()
      const left = await db.keys().all()
      await db.close()
      return [found - stored, all - stored, left.length]
    }
  `
  const page = await openPage(t, await serveSite(t, siteOf(functions), ENGINE_POLICY))
  const [code, stored] = await run(page, 'fill')
  assert.equal(code, 'LEVEL_IO_ERROR')
  await page.evaluate(() => globalThis.workers[0].terminate())
  assert.deepEqual(await runAfter(page, 'goOn', [stored], 1), [0, 20_000, 0])
})

/** A browser that opens no more files of a database. */
const refusalFrom = (limit) => `
  const create = FileSystemFileHandle.prototype.createSyncAccessHandle
  FileSystemFileHandle.prototype.createSyncAccessHandle = function () {
    if (Number(this.name) >= ${limit}) return Promise.reject(new DOMException('no more', 'InvalidStateError'))
    return create.call(this)
  }
`

test('a database that has as many files as the browser opens, opens again each time, and compactRange() makes room', async (t) => {
  const functions = `
    ${refusalFrom(36)}
    const key = (number) => String(number).padStart(9, '0')
    const open = async () => {
      const db = new Level('all files', { writeBufferSize: 32 << 10 })
      await db.open()
      return db
    }
    const puts = (from) => Array.from({ length: 200 }, (_, n) => ({ type: 'put', key: key(from + n), value: 'value' }))
    export async function fill() {
      const db = await open()
      for (let number = 0; ; number += 200) {
        try {
          await db.batch(puts(number))
        } catch ({ code }) {
          return [code, number]
        }
      }
    }
    export async function look() {
      const db = await open()
      const found = (await db.keys().all()).length
      // It may succeed if the log has room.
      await db.put('a', 'b').catch(() => {})
      await db.del('a').catch(() => {})
      return found
    }
    export async function goOn(stored) {
      const db = await open()
      await db.compactRange(key(0), key(stored))
      await db.batch(puts(stored))
      await db.del('a')
      const all = (await db.keys().all()).length
      await db.close()
      return all - stored
    }
  `
  const page = await openPage(t, await serveSite(t, siteOf(functions), ENGINE_POLICY))
  const [code, stored] = await run(page, 'fill')
  assert.equal(code, 'LEVEL_IO_ERROR')
  for (let life = 0; life < 12; life++) {
    await page.evaluate((life) => globalThis.workers[life].terminate(), life)
    const found = await runAfter(page, 'look', [], life + 1)
    assert.ok(found === stored || found === stored + 1, `life ${life}: ${found} of ${stored}`)
  }
  await page.evaluate(() => globalThis.workers[12].terminate())
  assert.equal(await runAfter(page, 'goOn', [stored], 13), 200)
})

test('entries in order, whose tables overlap none, do not run out of files: small tables are merged', async (t) => {
  const functions = `
    const key = (number) => String(number).padStart(9, '0')
    let db
    export async function fill(count) {
      db = new Level('in order', { writeBufferSize: 32 << 10 })
      await db.open()
      for (let number = 0; number < count; number += 200) {
        await db.batch(Array.from({ length: 200 }, (_, n) => ({ type: 'put', key: key(number + n), value: 'value' })))
      }
    }
    export const found = async () => (await db.keys().all()).length
    export async function reopen() {
      db = new Level('in order', { createIfMissing: false })
      await db.open()
      return found()
    }
  `
  const page = await openPage(t, await serveSite(t, siteOf(functions), ENGINE_POLICY))
  // Three times what makes as many tables as there may be.
  await run(page, 'fill', [500_000])
  assert.equal(await run(page, 'found'), 500_000)
  await page.evaluate(() => globalThis.workers[0].terminate())
  assert.equal(await runAfter(page, 'reopen', [], 1), 500_000)
})

test('a database whose files the browser does not all open is not taken for damaged', async (t) => {
  const functions = `
    export async function fill() {
      const db = new Level('unopened', { writeBufferSize: 32 << 10 })
      // In order, tables are only moved from level to level, never merged.
      for (let number = 0; number < 20_000; number++) await db.put(String(number).padStart(9, '0'), 'x'.repeat(50))
      await db.close()
    }
    let limit = Infinity
    ${refusalFrom('limit')}
    export async function use(most) {
      limit = most
      const db = new Level('unopened')
      await db.open().catch(({ cause }) => { throw cause })
      const found = (await db.keys().all()).length
      await db.close()
      return found
    }
    export async function repair(most) {
      limit = most
      await Level.repair('unopened')
    }
  `
  const page = await openPage(t, await serveSite(t, siteOf(functions), ENGINE_POLICY))
  await run(page, 'fill')
  await assert.rejects(run(page, 'use', [20]), /LEVEL_IO_ERROR.*no more/)
  await assert.rejects(run(page, 'repair', [20]), /LEVEL_IO_ERROR.*no more/)
  assert.equal(await run(page, 'use', [1000]), 20_000)
})

test('a site whose room is used up is told so, reads on, and writes again once there is room', async (t) => {
  const functions = `
    let db
    let stored = 0
    const value = crypto.getRandomValues(new Uint8Array(20000))
    export async function fill() {
      db = new Level('quota', { valueEncoding: 'view', writeBufferSize: 1 << 20 })
      await db.open()
      try {
        for (; stored < 5000; stored++) await db.put(String(stored).padStart(6, '0'), value)
        return 'no error'
      } catch (error) {
        return error.code + ' ' + error.cause?.name
      }
    }
    export async function read() {
      for (let number = 0; number < stored; number++)
        if ((await db.get(String(number).padStart(6, '0')))?.length !== value.length) return number + ' is missing'
      return 'all of ' + (stored > 50 ? 'many' : stored)
    }
    export async function importToo() {
      const large = Array.from({ length: 2000 }, () => value)
      await Level.import('more', [['000003.log', new Blob(large)]])
    }
    export async function goOn() {
      for (const end = stored + 100; stored < end; stored++) await db.put(String(stored).padStart(6, '0'), value)
      const all = await read()
      await db.close()
      await db.open()
      const again = await read()
      await db.close()
      return [all, again]
    }
  `
  const origin = await serveSite(t, siteOf(functions), ENGINE_POLICY)
  const page = await openPage(t, origin)
  const browser = await page.context().newCDPSession(page)
  const { usage } = await browser.send('Storage.getUsageAndQuota', { origin })
  await browser.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: usage + (20 << 20) })
  assert.equal(await run(page, 'fill'), 'LEVEL_QUOTA_EXCEEDED QuotaExceededError')
  assert.equal(await run(page, 'read'), 'all of many')
  await assert.rejects(run(page, 'importToo'), /LEVEL_QUOTA_EXCEEDED/)
  await browser.send('Storage.overrideQuotaForOrigin', { origin })
  assert.deepEqual(await run(page, 'goOn'), ['all of many', 'all of many'])
})

test('a worker that names several places has the first one that opens, whatever the browser seems to have', async (t) => {
  const functions = `
    const storage = ['opfs', 'indexeddb']
    export function refuse() {
      navigator.storage.getDirectory = () => Promise.reject(new DOMException('Not here', 'SecurityError'))
    }
    export async function use() {
      const db = new Level('ladder', { storage })
      await db.batch([{ type: 'put', key: 'a', value: '1' }, { type: 'put', key: 'b', value: '2' }])
      const before = db.snapshot()
      await db.clear({ lt: 'b' })
      const result = [await db.keys({ snapshot: before }).all(), await db.keys().all(), await db.getMany(['a', 'b'])]
      await before.close()
      await db.close()
      await db.open()
      result.push(await db.has('b'), db.storage, db.supports.getSync, await code(() => db.compactRange('a', 'z')))
      await db.close()
      result.push(await code(() => Level.repair('ladder', { storage })))
      await Level.destroy('ladder', { storage })
      result.push(await code(() => new Level('ladder', { storage, createIfMissing: false }).open()))
      return result
    }
    const code = (call) => call().then(() => 'done', (error) => error.cause?.code ?? error.code)
  `
  const page = await openPage(t, await serveSite(t, siteOf(functions), ENGINE_POLICY))
  const found = [['a', 'b'], ['b'], [undefined, '2'], true]
  assert.deepEqual(await run(page, 'use'), [
    ...found,
    'opfs',
    false,
    'done',
    'done',
    'LEVEL_DATABASE_MISSING'
  ])
  await run(page, 'refuse')
  const unable = ['LEVEL_NOT_SUPPORTED', 'LEVEL_NOT_SUPPORTED', 'LEVEL_DATABASE_MISSING']
  assert.deepEqual(await run(page, 'use'), [...found, 'indexeddb', false, ...unable])
})

test('a database opens, though garbage is collected meanwhile', async (t) => {
  const functions = `
    export async function openMany() {
      let isOver = false
      const collecting = (async () => {
        while (!isOver) {
          gc()
          await new Promise((resolve) => setTimeout(resolve))
        }
      })()
      for (let round = 0; round < 5; round++) {
        const databases = Array.from({ length: 10 }, (_, number) => new Level('many ' + round + ' ' + number))
        await Promise.all(databases.map((db) => db.put('a', '1')))
        await Promise.all(databases.map((db) => db.close()))
      }
      isOver = true
      await collecting
    }
  `
  const page = await openPage(t, await serveSite(t, siteOf(functions), ENGINE_POLICY))
  await run(page, 'openMany')
})

test('every acknowledged write is there after the browser was killed', async (t) => {
  await killDuringWrites(t, new KillableBrowser(t), { rounds: 4 })
})

test('a database whose close has failed is closed by a second call, and opens again', async (t) => {
  const functions = `
    export async function closeTwice() {
      const db = new Level('closed twice')
      await db.put('kept', '1', { sync: true })
      const files = FileSystemSyncAccessHandle.prototype
      const { write, flush } = files
      files.write = files.flush = () => { throw new Error('The browser refuses') }
      const ends = [await db.put('lost', '2').then(() => 'written', (error) => error.code)]
      for (let call = 0; call < 3; call++) {
        ends.push(await db.close().then(() => db.status, (error) => (error.cause ?? error).code ?? error.stack))
      }
      Object.assign(files, { write, flush })
      await db.open()
      ends.push(await db.get('kept'))
      await db.close()
      return ends
    }
  `
  const page = await openPage(t, await serveSite(t, siteOf(functions), ENGINE_POLICY))
  const [written, first, second, third, kept] = await run(page, 'closeTwice')
  assert.match(written, /^LEVEL_(IO_ERROR|WRITES_REFUSED)$/)
  assert.match(first, /^(closed|LEVEL_(IO_ERROR|WRITES_REFUSED|CLOSE_FAILED))$/)
  assert.deepEqual([second, third, kept], ['closed', 'closed', '1'])
})
