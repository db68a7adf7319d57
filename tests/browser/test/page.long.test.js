// Level in pages: its methods, several tabs, where it keeps its entries, and abstract-level's published suite.
//
// Long: abstract-level's suite, and all that pages do.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { startPrivate, useBrowser } from './support/browser.js'
import { bundleOf, tapeBundle } from './support/bundles.js'
import { engineFiles } from './support/engine-site.js'
import { test } from './support/patient-test.js'
import { ENGINE_POLICY, ISOLATION, PAGES, serveSite } from './support/site.js'
import { checkSuite, suiteModule } from './support/suite-module.js'

/** How many tests the suite registers for it today. abstract-level may add more. */
const TESTS = 1470

const openPage = useBrowser({ flags: ['--js-flags=--expose-gc'] })

const siteOf = (t, files = {}, headers = {}) =>
  serveSite(t, { ...engineFiles, ...files }, ENGINE_POLICY, headers)

test('a page uses a database in all ways, and finds it again', async (t) => {
  const page = await openPage(t, await siteOf(t))
  const used = await page.evaluate(async () => {
    const { Level } = await import('/terrace/terrace.js')
    const db = new Level('use', { valueEncoding: 'json' })
    await db.put('a', { n: 1 })
    const before = db.snapshot()
    await db.batch(
      [
        { type: 'put', key: 'b', value: { n: 2 } },
        { type: 'del', key: 'a' }
      ],
      { sync: true }
    )
    await db.sublevel('names').put('é', 'ü')
    const result = [await db.iterator({ snapshot: before }).all(), await db.get('b'), await db.keys().all()]
    await before.close()
    result.push(db.storage, db.isOwner)
    await db.close()
    await db.open()
    result.push(await db.keys({ reverse: true }).all())
    await db.clear({ gte: 'b' })
    result.push(await db.keys().all(), db.status)
    await db.close()
    return result
  })
  assert.deepEqual(used, [
    [['a', { n: 1 }]],
    { n: 2 },
    ['!names!é', 'b'],
    'opfs',
    true,
    ['b', '!names!é'],
    ['!names!é'],
    'open'
  ])
  await page.reload()
  const found = await page.evaluate(async () => {
    const { Level } = await import('/terrace/terrace.js')
    const db = new Level('use', { createIfMissing: false })
    return db.keys().all()
  })
  assert.deepEqual(found, ['!names!é'])
  assert.deepEqual(page.problems, [])
})

test('a page is told that a database is missing, or exists, in whichever tab it is open', async (t) => {
  const origin = await siteOf(t)
  const [page, other] = [await openPage(t, origin), await openPage(t, origin)]
  const open = (where, name, options) =>
    where.evaluate(
      async ([name, options]) => {
        const { Level } = await import('/terrace/terrace.js')
        const db = new Level(name, options)
        return db.open().then(
          () => db.storage,
          (error) => error.cause.code
        )
      },
      [name, options]
    )
  assert.equal(await open(page, 'nothing', { createIfMissing: false }), 'LEVEL_DATABASE_MISSING')
  assert.equal(await open(page, 'there', { errorIfExists: true }), 'opfs')
  assert.equal(await open(other, 'there', { errorIfExists: true }), 'LEVEL_DATABASE_EXISTS')
  assert.equal(await open(other, 'there', {}), 'opfs')
  assert.equal(await open(page, 'named', { storage: 'indexeddb' }), 'indexeddb')
  assert.equal(await open(page, 'kept', { storage: ['memory'] }), 'memory')
})

test('a postopen hook hears of the options of open(), not of those that say where the database is', async (t) => {
  const page = await openPage(t, await siteOf(t))
  const heard = await page.evaluate(async () => {
    const { Level } = await import('/terrace/terrace.js')
    const db = new Level('heard', { storage: 'indexeddb', prefix: 'of-hooks-', shared: true, userland: 1 })
    let heard
    db.hooks.postopen.add(async (options) => {
      heard = options
    })
    await db.open()
    await db.close()
    return heard
  })
  assert.deepEqual(heard, { userland: 1, createIfMissing: true, errorIfExists: false })
})

test('a location may have any characters, but not half of one', async (t) => {
  const page = await openPage(t, await siteOf(t))
  const found = await page.evaluate(async () => {
    const { Level } = await import('/terrace/terrace.js')
    const whole = new Level('a/b\\%2F ü 😀')
    await whole.put('key', 'value')
    const storage = whole.storage
    await whole.close()
    const attempts = ['\ud83d', 'a\ude00b', '\ude00\ud83d'].flatMap((location) => [
      async () => new Level(location),
      async () => new Level(location, { shared: false }),
      () => Level.destroy(location),
      () => Level.repair(location),
      () => Level.import(location, [])
    ])
    const codes = await Promise.all(attempts.map((attempt) => attempt().catch((error) => error.code)))
    return [storage, [...new Set(codes)]]
  })
  assert.deepEqual(found, ['opfs', ['LEVEL_INVALID_ARGUMENT']])
})

test('the strictest policy that the guide names is enough', async (t) => {
  const guide = readFileSync(new URL('../../../docs/browser.md', import.meta.url), 'utf8')
  const [, policy] = guide.match(/^`(default-src 'none'; [^`]+)`/m)
  const page = await openPage(t, await serveSite(t, engineFiles, policy))
  const stored = await page.evaluate(async () => {
    const { Level } = await import('/terrace/terrace.js')
    const db = new Level('strict')
    await db.put('key', 'value')
    return [await db.get('key'), db.storage]
  })
  assert.deepEqual(stored, ['value', 'opfs'])
})

/** The site without synchronous files: as in WebKitGTK, or in private windows of some browsers. */
const withoutFiles = {
  '/terrace/terrace-worker.js': `delete FileSystemFileHandle.prototype.createSyncAccessHandle;\n${engineFiles['/terrace/terrace-worker.js']}`
}

test('without synchronous files, tabs share a database of IndexedDB, and db.storage says so', async (t) => {
  const origin = await siteOf(t, withoutFiles)
  const [page, other] = [await openPage(t, origin), await openPage(t, origin)]
  const use = (where, key, options) =>
    where.evaluate(
      async ([key, options]) => {
        const { Level } = await import('/terrace/terrace.js')
        globalThis.db ??= new Level('fallback', options)
        await db.put(key, 'value')
        return [db.storage, db.isOwner, await db.keys().all()]
      },
      [key, options]
    )
  assert.deepEqual(await use(page, 'a'), ['indexeddb', true, ['a']])
  assert.deepEqual(await use(other, 'b'), ['indexeddb', false, ['a', 'b']])
  await page.close()
  // A write before that may fail with LEVEL_LEADER_LOST.
  await other.waitForFunction(() => globalThis.db.isOwner)
  assert.deepEqual(await use(other, 'c'), ['indexeddb', true, ['a', 'b', 'c']])
})

test('without synchronous files, whoever wants no other place is told why there is none', async (t) => {
  const page = await openPage(t, await siteOf(t, withoutFiles))
  const error = await page.evaluate(async () => {
    const { Level } = await import('/terrace/terrace.js')
    const { cause } = await new Level('opfs alone', { storage: 'opfs' }).open().catch((error) => error)
    return [cause.code, cause.message]
  })
  assert.equal(error[0], 'LEVEL_NOT_SUPPORTED')
  assert.match(error[1], /No storage .* opfs: .*The option 'storage'/)
})

test('a private window keeps a database for as long as it is open', async (t) => {
  const browser = await startPrivate(t)
  const page = await browser.newPage()
  await page.goto(await siteOf(t))
  const used = await page.evaluate(async () => {
    const { Level } = await import('/terrace/terrace.js')
    const db = new Level('private')
    await db.batch(Array.from({ length: 100 }, (_, n) => ({ type: 'put', key: String(n), value: 'x' })))
    await db.close()
    await db.open()
    return [db.storage, (await db.keys().all()).length]
  })
  assert.deepEqual(used, ['opfs', 100])
})

test('what a page has asked for before it closes the database is done', async (t) => {
  const page = await openPage(t, await siteOf(t))
  const found = await page.evaluate(async () => {
    const { Level } = await import('/terrace/terrace.js')
    const db = new Level('closing')
    await db.open()
    const puts = Array.from({ length: 50 }, (_, n) => db.put(String(n), 'x'))
    await db.close()
    await Promise.all(puts)
    await db.open()
    return (await db.keys().all()).length
  })
  assert.equal(found, 50)
})

test('a page measures, compacts, exports, imports and removes databases', async (t) => {
  const origin = await siteOf(t)
  const [page, other] = [await openPage(t, origin), await openPage(t, origin)]
  await other.evaluate(async () => {
    const { Level } = await import('/terrace/terrace.js')
    globalThis.db = new Level('files')
    const value = 'x'.repeat(1000)
    const entries = Array.from({ length: 3000 }, (_, n) => ({ type: 'put', key: `k${n}`, value: value + n }))
    await globalThis.db.batch(entries)
  })
  // The worker is in the other tab.
  const found = await page.evaluate(async () => {
    const { Level } = await import('/terrace/terrace.js')
    const code = (promise) =>
      promise.then(
        () => 'done',
        (error) => error.code
      )
    const db = new Level('files')
    const size = await db.approximateSize('k', 'l')
    await db.compactRange('k', 'l')
    const files = []
    let progress
    for await (const file of db.export({ onProgress: (now) => (progress = now) })) files.push(file)
    const bytes = files.reduce((sum, file) => sum + file.size, 0)
    const locked = [
      await code(Level.import('files', files, { overwrite: true })),
      await code(Level.destroy('files'))
    ]
    await Level.import('copy', files)
    const exists = await code(Level.import('copy', files))
    const copy = new Level('copy')
    const [keys, last] = [await copy.keys().all(), await copy.get('k2999')]
    await copy.close()
    await Level.destroy('copy')
    await Level.destroy('never there')
    const gone = await new Level('copy', { createIfMissing: false }).open().catch((error) => error.cause.code)
    const onIndexedDb = new Level('elsewhere', { storage: 'indexeddb' })
    const refused = await code(onIndexedDb.compactRange('a', 'b'))
    await onIndexedDb.close()
    await Level.destroy('elsewhere', { storage: 'indexeddb' })
    return {
      isOwner: db.isOwner,
      size,
      locked,
      exists,
      keys: keys.length,
      last: last.slice(1000),
      gone,
      refused,
      names: files.map(({ name }) => name.replace(/\d+/, 'N')).sort(),
      progress: [progress.files === files.length, progress.bytes === bytes, progress.totalBytes === bytes]
    }
  })
  const { size, ...rest } = found
  assert.ok(size > 1_000_000 && size < 4_000_000, String(size))
  assert.deepEqual(rest, {
    isOwner: false,
    locked: ['LEVEL_LOCKED', 'LEVEL_LOCKED'],
    exists: 'LEVEL_DATABASE_EXISTS',
    keys: 3000,
    last: '2999',
    gone: 'LEVEL_DATABASE_MISSING',
    refused: 'LEVEL_NOT_SUPPORTED',
    names: ['CURRENT', 'MANIFEST-N', 'N.ldb'],
    progress: [true, true, true]
  })
})

test('a worker shares a database with pages if it wants to', async (t) => {
  const origin = await siteOf(t, {
    '/terrace/own.js': `
      import { Level } from './terrace.js'
      const db = new Level('both', { shared: true })
      addEventListener('message', async ({ data }) => {
        await db.put('worker', data)
        postMessage([db.storage, await db.keys().all()])
      })
    `
  })
  const page = await openPage(t, origin)
  const found = await page.evaluate(async () => {
    const { Level } = await import('/terrace/terrace.js')
    const db = new Level('both')
    await db.put('page', '1')
    const worker = new Worker('/terrace/own.js', { type: 'module' })
    const answer = new Promise((resolve) => {
      worker.onmessage = ({ data }) => resolve(data)
    })
    worker.postMessage('2')
    const seen = await answer
    return [seen, await db.get('worker')]
  })
  assert.deepEqual(found, [['opfs', ['page', 'worker']], '2'])
})

test('a page that is isolated from other origins shares memory with its worker, one that is not sends messages', async (t) => {
  const pages = [await openPage(t, await siteOf(t, {}, ISOLATION)), await openPage(t, await siteOf(t))]
  const [shared, told] = await Promise.all(
    pages.map((page) =>
      page.evaluate(async () => {
        let messages = 0
        const { postMessage } = MessagePort.prototype
        MessagePort.prototype.postMessage = function (...args) {
          messages++
          return postMessage.apply(this, args)
        }
        const { Level } = await import('/terrace/terrace.js')
        const db = new Level('counted', { valueEncoding: 'view' })
        const large = new Uint8Array(100_000).fill(7)
        await db.put('large', large)
        let calls = 0
        // As long as the worker is busy with other things, calls go by messages.
        do {
          await db.put('small', new Uint8Array([calls++ % 256]))
          await db.get('small')
          calls++
        } while (calls < 10_000 && messages > calls / 2)
        const ofCalls = messages
        const found = await db.get('large')
        const [[last]] = await db.values({ gt: 'large' }).all()
        await db.close()
        return {
          crossOriginIsolated,
          calls,
          messages: ofCalls,
          length: found.length,
          isLast: last === (calls - 2) % 256
        }
      })
    )
  )
  assert.deepEqual([shared.crossOriginIsolated, told.crossOriginIsolated], [true, false])
  assert.ok(shared.messages <= shared.calls / 2, JSON.stringify(shared))
  assert.ok(told.messages >= told.calls, JSON.stringify(told))
  for (const { length, isLast } of [shared, told]) assert.deepEqual([length, isLast], [100_000, true])
})

/** It takes a minute, and differs from the other page's only in what carries the messages, which separate tests cover. */
const inFull =
  process.env.TERRACE_SUITE === undefined && 'TERRACE_SUITE=1 runs it in an isolated page as well'

for (const [name, headers] of Object.entries(PAGES)) {
  test(`abstract-level's suite passes in ${name}`, { skip: headers === ISOLATION && inFull }, async (t) => {
    // The suite forgets databases that are open. Each has a worker, and a process has room for about a hundred modules of WebAssembly.
    const head = `
    import { Level } from 'terrace'
    let made = 0
    function make(options) {
      if (made % 20 === 0) gc()
      return new Level('suite ' + made++, options)
    }
  `
    const suite = suiteModule(head, 'make')
    const page = await openPage(
      t,
      await siteOf(t, { '/tape.js': await tapeBundle(), '/terrace/suite.js': await bundleOf(suite) }, headers)
    )
    const { registered, lines } = await page.evaluate(async () => {
      await import('/tape.js')
      const { run } = await import('/terrace/suite.js')
      return run()
    })
    checkSuite(t, registered, lines, TESTS)
  })
}

/** What a database of a page consists of. */
const KINDS = ['Worker', 'BroadcastChannel', 'AbortController', 'FinalizationRegistry']

test('a page keeps nothing of the databases that it has closed', async (t) => {
  for (const options of [{}, { shared: false }, { shared: false, storage: 'indexeddb' }]) {
    const page = await openPage(t, await siteOf(t))
    const session = await page.context().newCDPSession(page)
    const use = (count) =>
      page.evaluate(
        async ([count, options]) => {
          const { Level } = await import('/terrace/terrace.js')
          for (let opened = 0; opened < count; opened++) {
            const db = new Level('opened often', options)
            await db.put('key', String(opened))
            await db.close()
          }
        },
        [count, options]
      )
    /** How many objects of this class are left. The browser collects garbage first. */
    const count = async (kind) => {
      const { result } = await session.send('Runtime.evaluate', { expression: `${kind}.prototype` })
      const { objects } = await session.send('Runtime.queryObjects', { prototypeObjectId: result.objectId })
      const { result: length } = await session.send('Runtime.callFunctionOn', {
        objectId: objects.objectId,
        functionDeclaration: 'function () { return this.length }',
        returnByValue: true
      })
      await session.send('Runtime.releaseObject', { objectId: objects.objectId })
      return length.value
    }
    const all = async () => {
      const counts = []
      for (const kind of KINDS) counts.push(await count(kind))
      return counts
    }
    await use(3)
    const before = await all()
    await use(20)
    const after = await all()
    // One may still be on its way.
    for (const [at, kind] of KINDS.entries()) {
      assert.ok(
        after[at] <= before[at] + 3,
        `${JSON.stringify(options)} ${kind}: ${before[at]}, then ${after[at]}`
      )
    }
  }
})
