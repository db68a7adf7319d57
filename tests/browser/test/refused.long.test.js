// What a page learns if its site, its policy or its browser refuses what the database needs: an error with a code, which names the
// remedy, and never an open that does not end.
//
// Long: many pages, each with its own policy.

import assert from 'node:assert/strict'
import { useBrowser } from './support/browser.js'
import { engineFiles } from './support/engine-site.js'
import { test } from './support/patient-test.js'
import { ENGINE_POLICY, serveSite } from './support/site.js'

const openPage = useBrowser()

/** Opens and writes a database in a page, with these options. Returns where it is, or the codes and the message of the failure. */
const tryToOpen = (page, options) =>
  page.evaluate(async (options) => {
    const { Level } = await import('/terrace/terrace.js')
    const db = new Level(`tried ${JSON.stringify(options)}`, options)
    try {
      await db.open()
      await db.put('key', 'value')
      return [db.storage, await db.get('key')]
    } catch (error) {
      return [error.code, error.cause?.code, error.cause?.message]
    } finally {
      await db.close()
    }
  }, options)

/** How a page may have a database: shared with other tabs, or for itself. */
const WAYS = { shared: {}, 'for itself': { shared: false } }

/** For each refusal, the site, its policy, and what the message says. */
const refusals = {
  "the site's own script is in the worker's place, and never answers": {
    files: { '/terrace/terrace-worker.js': 'onmessage = () => {}' },
    hurried: true,
    code: 'LEVEL_NOT_SUPPORTED',
    message: /has not answered.*Serve terrace-worker\.js/
  },
  "the site's own script is in the worker's place, and says other things": {
    files: { '/terrace/terrace-worker.js': "postMessage('ready')" },
    code: 'LEVEL_NOT_SUPPORTED',
    message: /another program.*Serve terrace-worker\.js/
  },
  "the site sends its index in the worker's place": {
    files: { '/terrace/terrace-worker.js': '<!doctype html>' },
    code: 'LEVEL_NOT_SUPPORTED',
    message: /Serve terrace-worker\.js/
  },
  'the worker is missing': {
    files: { '/terrace/terrace-worker.js': undefined },
    code: 'LEVEL_NOT_SUPPORTED',
    message: /Serve terrace-worker\.js/
  },
  'the policy forbids workers': {
    policy: `${ENGINE_POLICY}; worker-src 'none'`,
    code: 'LEVEL_NOT_SUPPORTED',
    message: /worker-src 'self'/
  },
  'the policy requires Trusted Types': {
    policy: `${ENGINE_POLICY}; require-trusted-types-for 'script'`,
    code: 'LEVEL_NOT_SUPPORTED',
    message: /require-trusted-types-for a policy named default/
  },
  'the policy forbids WebAssembly': {
    policy: "default-src 'self'; img-src data:",
    code: 'LEVEL_IO_ERROR',
    message: /terrace\.wasm cannot be compiled.*script-src 'wasm-unsafe-eval'/
  },
  'the policy forbids to fetch the engine': {
    policy: `${ENGINE_POLICY}; connect-src 'none'`,
    code: 'LEVEL_IO_ERROR',
    message: /terrace\.wasm cannot be loaded.*connect-src 'self'/
  },
  'the engine is missing': {
    files: { '/terrace/terrace.wasm': undefined },
    code: 'LEVEL_IO_ERROR',
    message: /terrace\.wasm cannot be loaded.*404.*serve the file/
  },
  "the site sends its index in the engine's place": {
    files: { '/terrace/terrace.wasm': '<!doctype html>' },
    code: 'LEVEL_IO_ERROR',
    message: /terrace\.wasm cannot be compiled.*something else in its place/
  }
}

for (const [what, { files = {}, policy = ENGINE_POLICY, hurried, code, message }] of Object.entries(
  refusals
)) {
  for (const [how, options] of Object.entries(WAYS)) {
    test(`a page that wants a database ${how} learns that ${what}`, async (t) => {
      const page = await openPage(t, await serveSite(t, { ...engineFiles, ...files }, policy))
      if (hurried) {
        // The deadline of the start passes at once.
        await page.evaluate(() => {
          const { setTimeout } = globalThis
          globalThis.setTimeout = (callback, delayMs, ...args) =>
            setTimeout(callback, delayMs === 30_000 ? 0 : delayMs, ...args)
        })
      }
      const [outer, inner, text] = await tryToOpen(page, options)
      assert.deepEqual([outer, inner], ['LEVEL_DATABASE_NOT_OPEN', code])
      assert.match(text, message)
    })
  }
}

test("a site's own worker.js, broker.js and memory.wasm are left alone", async (t) => {
  const theirs = {
    '/terrace/worker.js': 'throw 1',
    '/terrace/broker.js': 'throw 1',
    '/terrace/memory.wasm': 'none'
  }
  const page = await openPage(t, await serveSite(t, { ...engineFiles, ...theirs }, ENGINE_POLICY))
  assert.deepEqual(await tryToOpen(page, {}), ['opfs', 'value'])
  assert.deepEqual(await tryToOpen(page, { storage: 'memory' }), ['memory', 'value'])
  assert.deepEqual(page.problems, [])
})

test('with a policy of Trusted Types that passes the script, a page opens a database', async (t) => {
  const policy = `${ENGINE_POLICY}; require-trusted-types-for 'script'; trusted-types default`
  const page = await openPage(t, await serveSite(t, engineFiles, policy))
  await page.evaluate(() => {
    globalThis.trustedTypes.createPolicy('default', {
      createScriptURL: (url) =>
        url.endsWith('/terrace/terrace-worker.js') || url.endsWith('/terrace/terrace-broker.js') ? url : null
    })
  })
  assert.deepEqual(await tryToOpen(page, {}), ['opfs', 'value'])
})

test('a page learns that the script of IndexedDB is missing', async (t) => {
  const files = { ...engineFiles, '/terrace/terrace-indexeddb.js': undefined }
  const page = await openPage(t, await serveSite(t, files, ENGINE_POLICY))
  const [outer, inner, text] = await tryToOpen(page, { storage: 'indexeddb', shared: false })
  assert.deepEqual([outer, inner], ['LEVEL_DATABASE_NOT_OPEN', 'LEVEL_IO_ERROR'])
  assert.match(text, /terrace-indexeddb\.js cannot be loaded.*serve it beside/)
})

/** Places and sharing, and where a page then stores a database if its browser denies storage; undefined if nowhere. */
const DENIED = [
  [{}, undefined],
  [{ storage: 'opfs' }, undefined],
  [{ storage: 'indexeddb' }, undefined],
  [{ storage: 'memory' }, 'memory'],
  [{ storage: ['opfs', 'indexeddb', 'memory'] }, 'memory'],
  [{ shared: false }, undefined],
  [{ shared: false, storage: 'opfs' }, undefined],
  [{ shared: false, storage: 'indexeddb' }, undefined],
  [{ shared: false, storage: 'memory' }, 'memory'],
  [{ shared: false, storage: ['opfs', 'indexeddb', 'memory'] }, 'memory'],
  [{ shared: false, storage: ['existing-indexeddb', 'opfs', 'indexeddb', 'memory'] }, 'memory']
]

test('a frame that the browser denies storage has a database in memory if that is listed, and otherwise the reasons', async (t) => {
  // The frame has no origin, so its scripts come from elsewhere.
  const origin = await serveSite(t, engineFiles, ENGINE_POLICY.replaceAll("'self'", "'self' http:"), {
    'access-control-allow-origin': '*'
  })
  const page = await openPage(t, origin)
  const loaded = page.waitForEvent('frameattached')
  await page.evaluate(() => {
    const frame = document.createElement('iframe')
    frame.sandbox = 'allow-scripts'
    frame.src = '/?'
    document.body.append(frame)
  })
  const frame = await loaded
  await frame.waitForLoadState()
  for (const [options, place] of DENIED) {
    const found = await tryToOpen(frame, options)
    if (place !== undefined) assert.deepEqual(found, [place, 'value'], JSON.stringify(options))
    else {
      const [outer, inner, message] = found
      assert.deepEqual(
        [outer, inner],
        ['LEVEL_DATABASE_NOT_OPEN', 'LEVEL_NOT_SUPPORTED'],
        JSON.stringify(options)
      )
      assert.match(message, /denies|refuses|cannot be started/)
    }
  }
})

test('a site without room learns that when it opens a database, in every place', async (t) => {
  const origin = await serveSite(t, engineFiles, ENGINE_POLICY)
  const page = await openPage(t, origin)
  const session = await page.context().newCDPSession(page)
  await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 10 })
  for (const options of [
    {},
    { shared: false },
    { storage: 'indexeddb' },
    { storage: 'indexeddb', shared: false }
  ]) {
    const codes = await tryToOpen(page, options)
    assert.ok(codes.includes('LEVEL_QUOTA_EXCEEDED'), JSON.stringify([options, codes]))
  }
})

/** More than a process of a browser has addresses for. */
const TOO_MANY = 400

test('a page with too many databases learns that it must close some', async (t) => {
  const page = await openPage(t, await serveSite(t, engineFiles, ENGINE_POLICY))
  const [code, message] = await page.evaluate(async (count) => {
    const { MemoryLevel } = await import('/terrace/terrace.js')
    globalThis.databases = []
    for (let made = 0; made < count; made++) {
      const db = new MemoryLevel()
      globalThis.databases.push(db)
      const failure = await db.open().then(
        () => undefined,
        ({ cause }) => [cause.code, cause.message]
      )
      if (failure !== undefined) return failure
    }
    return ['none', `${count} are open`]
  }, TOO_MANY)
  assert.equal(code, 'LEVEL_IO_ERROR', message)
  assert.match(message, /no memory for another database: close one/)
})
