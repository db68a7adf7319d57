// A page that has a database for itself (`shared: false`), through a dedicated worker.
//
// Long: pages that are reloaded, crash, and are kept for the way back.

import assert from 'node:assert/strict'
import { crash, useBrowser } from './support/browser.js'
import { engineFiles } from './support/engine-site.js'
import { test } from './support/patient-test.js'
import { ENGINE_POLICY, PAGES, serveSite } from './support/site.js'

/** Playwright has the browser keep no pages for the way back. */
const openPage = useBrowser({ ignoreDefaultArgs: ['--disable-back-forward-cache'] })

const FUNCTIONS = `
  import { Level } from '/terrace/terrace.js'

  let db

  /** Whether the database opens, or why not. */
  export async function open(name, options) {
    db = new Level(name, { shared: false, ...options })
    return db.open().then(() => db.storage, ({ cause }) => cause.code)
  }
  export const close = () => db.close()
  export const put = (key, value) => db.put(key, value)
  export const keys = () => db.keys().all()

  /** The codes of calls that fail, or their results. */
  export const tried = (...calls) =>
    Promise.all(calls.map(([method, ...args]) => db[method](...args).catch(({ code }) => code)))

  /** The codes of calls that need no open database. */
  export const refused = (name) =>
    Promise.all([Level.destroy(name), Level.repair(name)].map((call) => call.catch(({ code }) => code)))

  export const removed = (name) => Level.destroy(name)
  export const repaired = (name) => Level.repair(name).then(({ nothingLost }) => nothingLost)

  export async function use() {
    db = new Level('use', { shared: false, valueEncoding: 'json' })
    await db.put('a', { n: 1 })
    const before = db.snapshot()
    await db.batch([{ type: 'put', key: 'b', value: { n: 2 } }, { type: 'del', key: 'a' }], { sync: true })
    await db.sublevel('names').put('é', 'ü')
    const result = [await db.iterator({ snapshot: before }).all(), await db.get('b'), await db.keys().all()]
    await before.close()
    result.push([db.storage, db.isOwner, db.supports.everyWrite])
    const [files, puts] = [[], Array.from({ length: 50 }, (_, n) => db.put('k' + n, n))]
    await Promise.all(puts)
    for await (const file of db.export()) files.push(file.name)
    result.push(files.includes('CURRENT'))
    await db.compactRange('a', 'z')
    const late = Array.from({ length: 50 }, (_, n) => db.put('l' + n, n))
    await db.close()
    await Promise.all(late)
    await db.open()
    result.push((await db.keys({ gte: 'k' }).all()).length)
    await db.close()
    return result
  }

  /** Takes a worker's life within a write that it has not answered. */
  export async function killWorker() {
    const writing = db.put('unknown', 'x').catch(({ code }) => code)
    const before = db.snapshot()
    for (const worker of globalThis.started) worker.postMessage({ kind: 'die' })
    const result = [await writing]
    result.push(await db.get('kept'), await db.get('kept', { snapshot: before }).catch(({ code }) => code))
    await before.close()
    await db.put('after', 'x')
    return result
  }
`

/** A worker that dies on the message `die`, without handling the messages that arrive with it. */
const MORTAL = `addEventListener('message', (event) => {
  if (event.data.kind === 'die') close()
})\n`

/**
 * A worker that reports when it is denied a file. Its clock stands still, so it waits for the file without a time
 * limit.
 */
const TELLS_OF_REFUSALS = `
  performance.now = () => 0
  const refused = new BroadcastChannel('refused')
  const create = FileSystemFileHandle.prototype.createSyncAccessHandle
  FileSystemFileHandle.prototype.createSyncAccessHandle = function (...args) {
    return create.apply(this, args).catch((error) => {
      refused.postMessage(error.name)
      throw error
    })
  }
`

const siteOf = (t, files = {}, headers = {}) =>
  serveSite(t, { ...engineFiles, '/functions.js': FUNCTIONS, ...files }, ENGINE_POLICY, headers)

/** A page, and a function that calls another in it. */
async function pageOf(t, origin) {
  const page = await openPage(t, origin)
  const call = (name, ...args) =>
    page.evaluate(async ([name, args]) => (await import('/functions.js'))[name](...args), [name, args])
  return { page, call }
}

for (const [name, headers] of Object.entries(PAGES)) {
  test(`${name} has a database for itself, uses it in all ways, and finds it again`, async (t) => {
    const { page, call } = await pageOf(t, await siteOf(t, {}, headers))
    assert.deepEqual(await call('use'), [
      [['a', { n: 1 }]],
      { n: 2 },
      ['!names!é', 'b'],
      ['opfs', true, true],
      true,
      100
    ])
    await page.reload()
    assert.equal(await call('open', 'use', { createIfMissing: false }), 'opfs')
    assert.equal((await call('keys')).length, 102)
    assert.deepEqual(page.problems, [])
  })
}

test('whoever else opens the database of a page is told that it is locked, and has it once it is closed', async (t) => {
  const worker = `
    import { Level } from './terrace.js'
    const answer = await new Level('locked').open().then(() => 'open', ({ cause }) => cause.code)
    postMessage(answer)
  `
  const origin = await siteOf(t, { '/terrace/other.js': worker })
  const [one, two, three] = [await pageOf(t, origin), await pageOf(t, origin), await pageOf(t, origin)]
  assert.equal(await one.call('open', 'locked'), 'opfs')
  const inWorker = three.page.evaluate(
    () =>
      new Promise((resolve) => {
        const worker = new Worker('/terrace/other.js', { type: 'module' })
        worker.onmessage = ({ data }) => resolve(data)
      })
  )
  const refused = [two.call('open', 'locked'), three.call('open', 'locked', { shared: true }), inWorker]
  assert.deepEqual(await Promise.all(refused), ['LEVEL_LOCKED', 'LEVEL_LOCKED', 'LEVEL_LOCKED'])
  assert.deepEqual(await two.call('refused', 'locked'), ['LEVEL_LOCKED', 'LEVEL_LOCKED'])
  await one.call('put', 'key', 'value')
  await one.call('close')
  assert.equal(await two.call('open', 'locked', { createIfMissing: false }), 'opfs')
  assert.deepEqual(await two.call('keys'), ['key'])
  assert.equal(await one.call('open', 'locked'), 'LEVEL_LOCKED')
})

test('a page removes and repairs a database whose worker has only just ended, although its files are still locked', async (t) => {
  const worker = `
    const root = await navigator.storage.getDirectory()
    const file = await (await root.getDirectoryHandle('ended.terrace')).getFileHandle('0')
    const access = await file.createSyncAccessHandle()
    new BroadcastChannel('refused').onmessage = () => access.close()
    postMessage('locked')
  `
  const origin = await siteOf(t, {
    '/terrace/other.js': worker,
    '/terrace/terrace-worker.js': TELLS_OF_REFUSALS + engineFiles['/terrace/terrace-worker.js']
  })
  const { page, call } = await pageOf(t, origin)
  const lock = () =>
    page.evaluate(() =>
      new Promise((resolve) => {
        new Worker('/terrace/other.js', { type: 'module' }).onmessage = resolve
      }).then(() => {})
    )
  assert.equal(await call('open', 'ended'), 'opfs')
  await call('close')
  await lock()
  assert.equal(await call('repaired', 'ended'), true)
  await lock()
  await call('removed', 'ended')
  assert.equal(await call('open', 'ended', { createIfMissing: false }), 'LEVEL_DATABASE_MISSING')
})

test('a page cannot have for itself what tabs share', async (t) => {
  const origin = await siteOf(t)
  const [one, two] = [await pageOf(t, origin), await pageOf(t, origin)]
  assert.equal(await one.call('open', 'shared', { shared: true }), 'opfs')
  assert.equal(await two.call('open', 'shared'), 'LEVEL_LOCKED')
})

test('where the browser refuses files, a page has a database of IndexedDB for itself, without a worker', async (t) => {
  const refusing = `
    StorageManager.prototype.getDirectory = () => Promise.reject(new DOMException('Not here', 'SecurityError'))
    globalThis.Worker = class { constructor() { throw new Error('A worker was started') } }
  `
  const origin = await siteOf(t, { '/functions.js': `${refusing}${FUNCTIONS}` })
  const { page, call } = await pageOf(t, origin)
  assert.equal(await call('open', 'refused'), 'indexeddb')
  await call('put', 'key', 'value')
  assert.deepEqual(await call('tried', ['compactRange', 'a', 'z']), ['LEVEL_NOT_SUPPORTED'])
  const other = await pageOf(t, origin)
  assert.equal(await other.call('open', 'refused'), 'LEVEL_LOCKED')
  await page.reload()
  assert.equal(await call('open', 'refused', { createIfMissing: false }), 'indexeddb')
  assert.deepEqual(await call('keys'), ['key'])
  await call('close')
  assert.equal(await other.call('open', 'refused', { storage: ['opfs', 'memory'] }), 'memory')
})

test('a page has its database again after it was reloaded, and another one after it was closed or has crashed', async (t) => {
  const origin = await siteOf(t)
  const { page, call } = await pageOf(t, origin)
  for (let round = 0; round < 3; round++) {
    assert.equal(await call('open', 'ends'), 'opfs')
    assert.equal((await call('keys')).length, round)
    await call('put', `round ${round}`, 'value')
    await page.reload()
  }
  assert.equal(await call('open', 'ends'), 'opfs')
  await crash(page)
  const next = await pageOf(t, origin)
  assert.equal(await next.call('open', 'ends'), 'opfs')
  await next.call('put', 'closed', 'value')
  await next.page.close()
  const last = await pageOf(t, origin)
  assert.equal(await last.call('open', 'ends', { createIfMissing: false }), 'opfs')
  assert.deepEqual(await last.call('keys'), ['closed', 'round 0', 'round 1', 'round 2'])
})

test('a page that is kept for the way back gives its database up, and has it again if nobody else has', async (t) => {
  const origin = await siteOf(t)
  const { page, call } = await pageOf(t, origin)
  await page.evaluate(() => {
    globalThis.isKept = true
  })
  assert.equal(await call('open', 'kept', { errorIfExists: true }), 'opfs')
  await call('put', 'one', 'value')
  await page.goto('about:blank')
  const other = await pageOf(t, origin)
  assert.equal(await other.call('open', 'kept'), 'opfs')
  await other.call('put', 'two', 'value')
  await other.call('close')

  await page.goBack({ waitUntil: 'commit' })
  assert.equal(await page.evaluate(() => globalThis.isKept), true)
  await call('put', 'three', 'value')
  assert.deepEqual(await call('keys'), ['one', 'three', 'two'])

  await page.goto('about:blank')
  assert.equal(await other.call('open', 'kept'), 'opfs')
  await page.goBack({ waitUntil: 'commit' })
  assert.equal(await page.evaluate(() => globalThis.isKept), true)
  assert.deepEqual(await call('tried', ['get', 'one'], ['put', 'four', 'x']), [
    'LEVEL_LOCKED',
    'LEVEL_LOCKED'
  ])
  await call('close')
  await other.call('close')
  assert.equal(await call('open', 'kept'), 'opfs')
  assert.deepEqual(await call('keys'), ['one', 'three', 'two'])
})

test('a database goes on after its worker has died, but for what that had not answered', async (t) => {
  const origin = await siteOf(t, {
    '/terrace/terrace-worker.js': MORTAL + engineFiles['/terrace/terrace-worker.js']
  })
  const { page, call } = await pageOf(t, origin)
  await page.evaluate(() => {
    globalThis.started = []
    globalThis.Worker = class extends Worker {
      constructor(...args) {
        super(...args)
        globalThis.started.push(this)
      }
    }
  })
  assert.equal(await call('open', 'mortal'), 'opfs')
  await call('put', 'kept', 'still here')
  const [written, kept, snapshot] = await call('killWorker')
  // The write may have been done before the end.
  assert.ok([undefined, 'LEVEL_LEADER_LOST'].includes(written), String(written))
  assert.deepEqual([kept, snapshot], ['still here', 'LEVEL_LEADER_LOST'])
  assert.ok((await call('keys')).includes('after'))
})

test('a page is told why it cannot have a database for itself, and has it in another place without synchronous files', async (t) => {
  const { call } = await pageOf(t, await siteOf(t))
  assert.equal(await call('open', 'nothing', { createIfMissing: false }), 'LEVEL_DATABASE_MISSING')
  assert.equal(await call('open', 'there'), 'opfs')
  await call('close')
  assert.equal(await call('open', 'there', { errorIfExists: true }), 'LEVEL_DATABASE_EXISTS')
  assert.equal(await call('open', 'named', { storage: 'indexeddb' }), 'indexeddb')

  const poor = `delete FileSystemFileHandle.prototype.createSyncAccessHandle;\n${engineFiles['/terrace/terrace-worker.js']}`
  const without = await pageOf(t, await siteOf(t, { '/terrace/terrace-worker.js': poor }))
  assert.equal(await without.call('open', 'opfs alone', { storage: 'opfs' }), 'LEVEL_NOT_SUPPORTED')
  assert.equal(await without.call('open', 'ladder'), 'indexeddb')
  await without.call('put', 'key', 'value')
  await without.page.reload()
  assert.equal(await without.call('open', 'ladder', { storage: ['opfs', 'indexeddb'] }), 'indexeddb')
  assert.deepEqual(await without.call('keys'), ['key'])

  const broken = await pageOf(t, await siteOf(t, { '/terrace/terrace-worker.js': undefined }))
  assert.equal(await broken.call('open', 'no script'), 'LEVEL_NOT_SUPPORTED')
})
