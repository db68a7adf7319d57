// The back-end on IndexedDB in pages: data shared with browser-level, its lock, its transactions, and its behaviour when space
// runs out.
//
// Long: one database of IndexedDB is in the smoke test.

import assert from 'node:assert/strict'
import { isWaitedFor, useBrowser } from './support/browser.js'
import { serveLevel } from './support/indexeddb.js'
import { test } from './support/patient-test.js'

const openPage = useBrowser()

/** Opens a page where `IndexedDbLevel`, `BrowserLevel` and `codeOf()` are global. */
async function openLevel(t, origin) {
  const page = await openPage(t, origin)
  await page.evaluate(async () => {
    Object.assign(globalThis, await import('/level.js'))
    globalThis.codeOf = (promise) =>
      promise.then(
        () => 'none',
        (error) => (error.code === 'LEVEL_DATABASE_NOT_OPEN' ? error.cause : error).code
      )
  })
  return page
}

test('it opens what browser-level has stored, and browser-level what it has', async (t) => {
  const page = await openLevel(t, await serveLevel(t))
  const seen = await page.evaluate(async () => {
    const { IndexedDbLevel, BrowserLevel } = globalThis
    const result = []
    for (const options of [{}, { prefix: 'app-', version: 3 }, { prefix: '' }]) {
      const theirs = new BrowserLevel('data', options)
      await theirs.batch(
        Array.from({ length: 300 }, (_, i) => ({ type: 'put', key: `k${i}`, value: `v${i}` }))
      )
      await theirs.put(Uint8Array.of(0xff, 0), Uint8Array.of(1, 2), {
        keyEncoding: 'view',
        valueEncoding: 'view'
      })
      await theirs.sublevel('s', { valueEncoding: 'json' }).put('é', { n: 1 })
      await theirs.put('', 'empty')
      const before = await theirs.iterator({ keyEncoding: 'hex', valueEncoding: 'hex' }).all()
      await theirs.close()

      // The version need not be known.
      const ours = new IndexedDbLevel('data', { prefix: options.prefix })
      const found = await ours.iterator({ keyEncoding: 'hex', valueEncoding: 'hex' }).all()
      result.push(JSON.stringify(found) === JSON.stringify(before), found.length)
      await ours.batch([
        { type: 'del', key: 'k1' },
        { type: 'put', key: 'k2', value: 'changed' }
      ])
      await ours.put(new Uint8Array(4096).subarray(7, 9), new Uint8Array(4096).subarray(0, 3), {
        keyEncoding: 'view',
        valueEncoding: 'view'
      })
      await ours.sublevel('s', { valueEncoding: 'json' }).put('b', { n: 2 })
      const after = await ours.iterator({ keyEncoding: 'hex', valueEncoding: 'hex' }).all()
      await ours.close()

      const again = new BrowserLevel('data', options)
      const last = await again.iterator({ keyEncoding: 'hex', valueEncoding: 'hex' }).all()
      result.push(JSON.stringify(last) === JSON.stringify(after), last.length)
      result.push(await again.sublevel('s', { valueEncoding: 'json' }).values().all())
      await again.close()
    }
    return result
  })
  assert.deepEqual(seen, Array.from({ length: 3 }, () => [true, 303, true, 304, [{ n: 2 }, { n: 1 }]]).flat())
  assert.deepEqual(page.problems, [])
})

test('values that level-js stored as text or as buffers are read as bytes', async (t) => {
  const page = await openLevel(t, await serveLevel(t))
  const found = await page.evaluate(async () => {
    const db = new globalThis.IndexedDbLevel('old')
    await db.open()
    await db.close()
    await new Promise((resolve) => {
      indexedDB.open('level-js-old').onsuccess = ({ target: { result } }) => {
        const store = result.transaction('old', 'readwrite').objectStore('old')
        store.put('tèxt', new TextEncoder().encode('a'))
        store.put(Uint8Array.of(104, 105).buffer, new TextEncoder().encode('b'))
        store.transaction.oncomplete = () => resolve(result.close())
      }
    })
    await db.open()
    return [await db.iterator().all(), await db.getMany(['a', 'b'])]
  })
  assert.deepEqual(found, [
    [
      ['a', 'tèxt'],
      ['b', 'hi']
    ],
    ['tèxt', 'hi']
  ])
})

test('one database at a time writes, among all tabs', async (t) => {
  const origin = await serveLevel(t)
  const [page, other] = [await openLevel(t, origin), await openLevel(t, origin)]
  const open = () => globalThis.codeOf(new globalThis.IndexedDbLevel('one').open())
  await page.evaluate(async () => {
    globalThis.db = new globalThis.IndexedDbLevel('one')
    await globalThis.db.put('a', '1')
  })
  assert.equal(await page.evaluate(open), 'LEVEL_LOCKED')
  assert.equal(await other.evaluate(open), 'LEVEL_LOCKED')
  const destroy = () => globalThis.codeOf(globalThis.IndexedDbLevel.destroy('one'))
  assert.equal(await other.evaluate(destroy), 'LEVEL_LOCKED')
  await page.evaluate(() => globalThis.db.close())
  assert.equal(await other.evaluate(open), 'none')
  await other.close()
  assert.equal(await page.evaluate(() => globalThis.db.open().then(() => globalThis.db.get('a'))), '1')
})

test('a database opens although the tab that had it open has only just been closed', async (t) => {
  const origin = await serveLevel(t)
  const [page, other] = [await openLevel(t, origin), await openLevel(t, origin)]
  // The browser gives the lock of a tab back a little after the tab is gone.
  await other.evaluate(
    () =>
      new Promise((resolve) => {
        navigator.locks.request('terrace:level-js-two', () => {
          resolve()
          return new Promise((release) => {
            globalThis.release = release
          })
        })
      })
  )
  const opened = page.evaluate(() => {
    // It waits for as long as it takes.
    const { setTimeout } = globalThis
    globalThis.setTimeout = (run, ms, ...args) => (ms > 100 ? 0 : setTimeout(run, ms, ...args))
    return globalThis.codeOf(new globalThis.IndexedDbLevel('two').open())
  })
  await Promise.race([isWaitedFor(other, 'terrace:level-js-two'), opened])
  await other.evaluate(() => globalThis.release())
  assert.equal(await opened, 'none')
})

test('a database is made only if it may be, and destroyed', async (t) => {
  const page = await openLevel(t, await serveLevel(t))
  const seen = await page.evaluate(async () => {
    const { IndexedDbLevel, codeOf } = globalThis
    const result = [await codeOf(new IndexedDbLevel('made', { createIfMissing: false }).open())]
    result.push((await indexedDB.databases()).map(({ name }) => name))
    const db = new IndexedDbLevel('made')
    await db.put('a', '1')
    await db.close()
    result.push(await codeOf(new IndexedDbLevel('made', { errorIfExists: true }).open()))
    await IndexedDbLevel.destroy('made')
    await IndexedDbLevel.destroy('made')
    result.push((await indexedDB.databases()).map(({ name }) => name))

    await new Promise((resolve) => {
      indexedDB.open('level-js-foreign').onsuccess = ({ target }) => resolve(target.result.close())
    })
    result.push(await codeOf(new IndexedDbLevel('foreign').open()))
    const newer = new IndexedDbLevel('newer', { version: 4 })
    await newer.open()
    await newer.close()
    result.push(await codeOf(new IndexedDbLevel('newer', { version: 3 }).open()))
    return result
  })
  assert.deepEqual(seen, [
    'LEVEL_DATABASE_MISSING',
    [],
    'LEVEL_DATABASE_EXISTS',
    [],
    'LEVEL_UNSUPPORTED_FORMAT',
    'LEVEL_UNSUPPORTED_FORMAT'
  ])
})

test('where the browser has no locks, it opens only if told so', async (t) => {
  const page = await openLevel(t, await serveLevel(t))
  const seen = await page.evaluate(async () => {
    const { IndexedDbLevel, codeOf } = globalThis
    Object.defineProperty(navigator, 'locks', { value: undefined })
    const refused = await codeOf(new IndexedDbLevel('unlocked').open())
    const db = new IndexedDbLevel('unlocked', { allowMissingLocks: true })
    await db.put('a', '1')
    await db.close()
    await IndexedDbLevel.destroy('unlocked')
    return refused
  })
  assert.equal(seen, 'LEVEL_NOT_SUPPORTED')
})

test('calls of one microtask share a transaction, which is strict if one of them is sync', async (t) => {
  const page = await openLevel(t, await serveLevel(t))
  const seen = await page.evaluate(async () => {
    const db = new globalThis.IndexedDbLevel('shared')
    await db.open()
    const made = []
    const { transaction } = IDBDatabase.prototype
    IDBDatabase.prototype.transaction = function (...args) {
      made.push(`${args[1]} ${args[2].durability}`)
      return transaction.apply(this, args)
    }
    const during = async (work) => {
      await work()
      return made.splice(0)
    }
    return [
      await during(() =>
        Promise.all([db.put('a', '1'), db.del('b'), db.batch([{ type: 'put', key: 'c', value: '' }])])
      ),
      await during(() => Promise.all([db.put('a', '1'), db.put('b', '2', { sync: true })])),
      await during(() => Promise.all([db.get('a'), db.get('b'), db.has('c'), db.getMany(['a', 'd'])])),
      await during(() => db.put('a', '1').then(() => db.put('a', '2')))
    ]
  })
  assert.deepEqual(seen, [
    ['readwrite relaxed'],
    ['readwrite strict'],
    ['readonly relaxed'],
    ['readwrite relaxed', 'readwrite relaxed']
  ])
})

test('an iterator over many entries shows the state at its making, both ways', async (t) => {
  const page = await openLevel(t, await serveLevel(t))
  const seen = await page.evaluate(async () => {
    const db = new globalThis.IndexedDbLevel('many')
    const keys = Array.from({ length: 6000 }, (_, i) => String(10_000 + 2 * i))
    await db.batch(keys.map((key) => ({ type: 'put', key, value: `v${key}` })))
    const iterators = [
      db.iterator(),
      db.iterator({ reverse: true }),
      db.iterator({ gt: '12000', limit: 4000 })
    ]
    const begun = await Promise.all(iterators.map((iterator) => iterator.nextv(7)))
    await db.batch(
      keys.flatMap((key, i) => [
        i % 3 === 0 ? { type: 'del', key } : { type: 'put', key, value: 'changed' },
        { type: 'put', key: String(10_001 + 2 * i), value: 'new' }
      ])
    )
    await db.clear({ gte: '15000', lt: '18000' })
    const rest = await Promise.all(iterators.map((iterator) => iterator.all()))
    const found = begun.map((entries, i) => [...entries, ...rest[i]])
    const entries = keys.map((key) => [key, `v${key}`])
    const expected = [entries, entries.toReversed(), entries.filter(([key]) => key > '12000').slice(0, 4000)]
    const now = await db.keys().all()
    return [found.map((each, i) => JSON.stringify(each) === JSON.stringify(expected[i])), now.length]
  })
  assert.deepEqual(seen, [[true, true, true], 7500])
  assert.deepEqual(page.problems, [])
})

test('a page of large values is a small one', async (t) => {
  const page = await openLevel(t, await serveLevel(t))
  const [counts, lengths] = await page.evaluate(async () => {
    const db = new globalThis.IndexedDbLevel('large', { valueEncoding: 'view' })
    for (let i = 10; i < 50; i++) await db.put(`k${i}`, new Uint8Array(200_000))
    const counts = []
    const { getAll } = IDBObjectStore.prototype
    IDBObjectStore.prototype.getAll = function (...args) {
      counts.push(args[1])
      return getAll.apply(this, args)
    }
    for await (const _ of db.iterator());
    const iterator = db.iterator({ highWaterMarkBytes: 500_000 })
    const lengths = []
    for (let page = await iterator.nextv(1000); page.length > 0; page = await iterator.nextv(1000)) {
      lengths.push(page.length)
    }
    return [counts, lengths]
  })
  assert.ok(Math.max(...counts.slice(0, 10)) <= 10, `rows of each page: ${counts}`)
  assert.ok(Math.max(...lengths) <= 3, `entries of each page: ${lengths}`)
  assert.equal(
    lengths.reduce((sum, length) => sum + length),
    40
  )
})

test('without space, writes that do not fit fail alone, reads go on, and writes with space again', async (t) => {
  const origin = await serveLevel(t)
  const page = await openLevel(t, origin)
  const devTools = await page.context().newCDPSession(page)
  // First, since the browser remembers for a while how much space there was.
  await devTools.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 5 << 20 })
  await page.evaluate(async () => {
    globalThis.db = new globalThis.IndexedDbLevel('full')
    await globalThis.db.put('a', '1')
    // The browser compresses what it stores.
    const random = () =>
      String.fromCharCode(...crypto.getRandomValues(new Uint16Array(32_768)).map((n) => n >> 2))
    globalThis.large = Array.from({ length: 128 }, random).join('')
  })
  const without = await page.evaluate(async () => {
    const { db, large, codeOf } = globalThis
    const codes = await Promise.all([
      codeOf(db.put('b', '2')),
      codeOf(
        db.batch([
          { type: 'put', key: 'c', value: '3' },
          { type: 'put', key: 'large', value: large }
        ])
      ),
      codeOf(db.put('d', '4')),
      codeOf(db.put('large', large, { sync: true }))
    ])
    return [codes, await db.keys().all(), await db.get('a')]
  })
  assert.deepEqual(without, [
    ['none', 'LEVEL_QUOTA_EXCEEDED', 'none', 'LEVEL_QUOTA_EXCEEDED'],
    ['a', 'b', 'd'],
    '1'
  ])
  await devTools.send('Storage.overrideQuotaForOrigin', { origin })
  const withSpace = await page.evaluate(async () => {
    const { db, large } = globalThis
    await db.put('large', large)
    return (await db.get('large')) === large
  })
  assert.equal(withSpace, true)
})
