// The browser removes the data of the site while a database is open, as when the user clears it: nothing more is acknowledged with `sync`,
// every call fails with one code, an event reports the loss, and the database can be closed and opened again.
//
// Long: each door with each way to notice.

import assert from 'node:assert/strict'
import { until } from '../../support/waiting.mjs'
import { crash, useBrowser } from './support/browser.js'
import { engineFiles } from './support/engine-site.js'
import { test } from './support/patient-test.js'
import { ENGINE_POLICY, serveSite } from './support/site.js'
import { run } from './support/worker-site.js'

const openPage = useBrowser()

const LOST = 'LEVEL_STORAGE_LOST'

/** What a page or a worker does with its database. */
const FUNCTIONS = `
  import { Level } from './terrace/terrace.js'
  const events = []
  let db, iterator, snapshot
  const outcome = async (call) => {
    try {
      const result = await call()
      return result === undefined ? null : result
    } catch (error) {
      return error.code + (error.cause?.code ? ' ' + error.cause.code + ' ' + error.cause.message : '')
    }
  }
  const calls = {
    'put, sync': () => db.put('a', '2', { sync: true }),
    'a large put, sync': () => db.put('a', 'x'.repeat(100_000), { sync: true }),
    'batch, sync': () => db.batch([{ type: 'put', key: 'a', value: '2' }], { sync: true }),
    putSync: async () => {
      db.putSync('a', '2', { sync: true })
      while (events.length === 0) await new Promise((resolve) => setTimeout(resolve))
      return db.put('a', '3')
    },
    put: () => db.put('a', '2'),
    get: () => db.get('a'),
    'get, of a snapshot': () => db.get('a', { snapshot }),
    'getMany': () => db.getMany(['a']),
    has: () => db.has('a'),
    iterator: () => db.iterator().all(),
    'an open iterator': () => iterator.next(),
    clear: () => db.clear(),
    snapshot: () => db.get('a', { snapshot: db.snapshot() })
  }
  export async function begin(options) {
    db = new Level('lost', options)
    db.on('storageLost', (error) => events.push(error.code))
    await db.open()
    await db.put('a', '1', { sync: true })
    await db.put('b', '1')
    iterator = db.keys({ highWaterMarkBytes: 0 })
    snapshot = db.snapshot()
    await iterator.next()
  }
  export const call = (name) => outcome(calls[name])
  export const seen = () => events
  export const close = () => outcome(() => db.close())
  export const ends = () => Promise.all([iterator, snapshot].map((each) => outcome(() => each.close())))
  export const open = () => outcome(() => db.open())
`

const site = {
  ...engineFiles,
  '/functions.js': FUNCTIONS,
  '/worker.js': `
    import * as functions from './functions.js'
    addEventListener('message', async ({ data: [name, ...args] }) => postMessage({ result: await functions[name](...args) }))
  `
}

const inPage =
  (page) =>
  (name, ...args) =>
    page.evaluate(async ([name, args]) => (await import('/functions.js'))[name](...args), [name, args])
const inWorker =
  (page) =>
  (name, ...args) =>
    run(page, name, args)

/** Where a database is open, with its options. */
const doors = {
  'a worker': { door: inWorker, options: {} },
  'a worker that shares it': { door: inWorker, options: { shared: true } },
  'a page that has it for itself': { door: inPage, options: { shared: false } },
  'a page that shares it': { door: inPage, options: {} },
  'a page, in IndexedDB': { door: inPage, options: { storage: 'indexeddb' } },
  'a worker, in IndexedDB': { door: inWorker, options: { storage: 'indexeddb' } }
}

/** Has the browser remove it. */
async function clearData(page, origin, storageTypes) {
  const devTools = await page.context().newCDPSession(page)
  await devTools.send('Storage.clearDataForOrigin', { origin, storageTypes })
}

/** How the browser comes to remove it. */
const clearings = {
  'the browser': (page, origin) => clearData(page, origin, 'file_systems,indexeddb'),
  async 'the site, by Clear-Site-Data'(page) {
    await page.evaluate(() => fetch('/clear', { cache: 'no-store' }))
  }
}

const POLICY = `${ENGINE_POLICY}; connect-src 'self'`

async function begin(t, door, options, clear) {
  const origin = await serveSite(
    t,
    { ...site, '/clear': 'cleared' },
    POLICY,
    {},
    { '/clear': { 'clear-site-data': '"storage"' } }
  )
  const page = await openPage(t, origin)
  const ask = door(page)
  await ask('begin', options)
  return { page, origin, ask, clear: () => clear(page, origin) }
}

/** The database is closed, opened again, and empty. */
async function checkAgain(ask) {
  assert.deepEqual(await ask('ends'), [null, null])
  assert.equal(await ask('close'), null)
  assert.equal(await ask('open'), null)
  assert.equal(await ask('call', 'get'), null)
  assert.equal(await ask('call', 'put, sync'), null)
  assert.equal(await ask('call', 'get'), '2')
  assert.equal(await ask('close'), null)
  assert.equal(await ask('open'), null)
  assert.equal(await ask('call', 'get'), '2')
  assert.equal(await ask('close'), null)
}

/**
 * With all data of a site, Chromium removes the names of its locks. A page that sees old names, and needs them, asks to be reloaded; the
 * others continue.
 */
async function checkAfterReload(page, door, options, ask) {
  assert.deepEqual(await ask('ends'), [null, null])
  assert.equal(await ask('close'), null)
  const opened = await ask('open')
  if (opened !== null) assert.match(opened, new RegExp(`${LOST} .*Reload the page`))
  await page.reload()
  const again = door(page)
  await again('begin', options)
  assert.equal(await again('call', 'get'), '1')
  assert.equal(await again('close'), null)
}

for (const [where, { door, options }] of Object.entries(doors)) {
  for (const [who, clear] of Object.entries(clearings)) {
    test(`${where} is told that ${who} has cleared its data, without asking for anything`, async (t) => {
      const { page, ask, clear: clearNow } = await begin(t, door, options, clear)
      await clearNow()
      await until(async () => (await ask('seen')).length > 0, 'the event')
      const names = [
        'put, sync',
        'put',
        'get',
        'getMany',
        'has',
        'iterator',
        'clear',
        'snapshot',
        'an open iterator',
        'get, of a snapshot'
      ]
      for (const name of names) assert.equal(await ask('call', name), LOST, name)
      assert.deepEqual(await ask('seen'), [LOST])
      if (who === 'the browser') await checkAgain(ask)
      else await checkAfterReload(page, door, options, ask)
    })
  }

  const first = [
    'put, sync',
    'a large put, sync',
    'batch, sync',
    ...(where === 'a worker' ? ['putSync'] : [])
  ]
  for (const name of first) {
    test(`${where} acknowledges no ${name} once the data of its site is cleared`, async (t) => {
      const { ask, clear } = await begin(t, door, options, clearings['the browser'])
      await clear()
      assert.equal(await ask('call', name), LOST)
      assert.equal(await ask('call', 'get'), LOST)
      assert.deepEqual(await ask('seen'), [LOST])
      await checkAgain(ask)
    })
  }

  test(`${where} closes its database at once after the data of its site is cleared`, async (t) => {
    const { ask, clear } = await begin(t, door, options, clearings['the browser'])
    await clear()
    await checkAgain(ask)
  })
}

test('all tabs that share a database are told, whoever notices, and share a new one afterwards', async (t) => {
  const { page, origin, ask, clear } = await begin(t, inPage, {}, clearings['the browser'])
  const others = []
  for (let i = 0; i < 3; i++) {
    others.push(inPage(await openPage(t, origin)))
    await others[i]('begin', {})
  }
  await clear()
  assert.equal(await others[0]('call', 'put, sync'), LOST)
  for (const tab of [ask, ...others]) {
    await until(async () => (await tab('seen')).length > 0, 'the event')
    assert.equal(await tab('call', 'get'), LOST)
  }
  await Promise.all([ask, ...others].map((tab) => tab('close')))
  await Promise.all([ask, ...others].map((tab) => tab('open')))
  assert.equal(await ask('call', 'get'), null)
  assert.equal(await ask('call', 'put, sync'), null)
  for (const tab of others) assert.equal(await tab('call', 'get'), '2')
  await page.close()
  for (const tab of others) assert.equal(await tab('call', 'get'), '2')
})

test('a tab that takes over from one that has crashed makes no empty database in place of one that was cleared', async (t) => {
  const { page, origin, clear } = await begin(t, inPage, {}, clearings['the browser'])
  const other = inPage(await openPage(t, origin))
  await other('begin', {})
  await clear()
  await crash(page)
  assert.equal(await other('call', 'get'), LOST)
  assert.equal(await other('call', 'put'), LOST)
})

test('a tab does not go on with a database that was made anew', async (t) => {
  const { page, origin, ask, clear } = await begin(t, inPage, {}, clearings['the browser'])
  const other = inPage(await openPage(t, origin))
  await other('begin', {})
  await clear()
  // The leader notices first, and has created another database before the other tab is notified.
  await Promise.all([ask('close').then(() => ask('open')), other('call', 'put')])
  await until(async () => (await other('seen')).length > 0, 'the event')
  assert.equal(await other('call', 'get'), LOST)
  assert.equal(await ask('call', 'put, sync'), null)
  assert.equal(await other('call', 'get'), LOST)
  assert.equal(await other('close'), null)
  assert.equal(await other('open'), null)
  assert.equal(await other('call', 'get'), '2')
  await page.close()
})
