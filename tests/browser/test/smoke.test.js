// Pages, tabs and the viewer in short: what the other files try in all ways.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { useBrowser } from './support/browser.js'
import { engineFiles } from './support/engine-site.js'
import { test } from './support/patient-test.js'
import { ENGINE_POLICY, serveSite } from './support/site.js'
import { choose, serveViewer, status } from './support/viewer.js'

const openPage = useBrowser()

/** Opens a page of a site with Level, and a database in it. */
async function pageWith(t, origin, name, options = {}) {
  const page = await openPage(t, origin)
  await page.evaluate(open, [name, options])
  return page
}

const open = async ([name, options]) => {
  const { Level } = await import('/terrace/terrace.js')
  globalThis.db = new Level(name, options)
  await globalThis.db.open()
}

/** Calls a method of a page's database. */
const call = (page, method, ...args) =>
  page.evaluate(([method, args]) => globalThis.db[method](...args), [method, args])

const keys = (page) => page.evaluate(() => globalThis.db.keys().all())
const storage = (page) => page.evaluate(() => globalThis.db.storage)

test('a page has its database again after it was reloaded', async (t) => {
  const page = await pageWith(t, await serveSite(t, engineFiles, ENGINE_POLICY), 'reloaded')
  await call(page, 'put', 'key', 'value')
  await page.reload()
  await page.evaluate(open, ['reloaded', { createIfMissing: false }])
  assert.equal(await call(page, 'get', 'key'), 'value')
  assert.equal(await storage(page), 'opfs')
  assert.deepEqual(page.problems, [])
})

test('what a tab puts another one gets, also when the leader is closed', async (t) => {
  const origin = await serveSite(t, engineFiles, ENGINE_POLICY)
  const leader = await pageWith(t, origin, 'shared')
  const tabs = [await pageWith(t, origin, 'shared'), await pageWith(t, origin, 'shared')]
  assert.equal(await leader.evaluate(() => globalThis.db.isOwner), true)
  await call(tabs[0], 'put', 'a', 'from a tab')
  assert.equal(await call(leader, 'get', 'a'), 'from a tab')
  assert.equal(await call(tabs[1], 'get', 'a'), 'from a tab')
  await leader.close()
  // A read is retried, where a write would fail.
  assert.deepEqual(await Promise.all(tabs.map((tab) => call(tab, 'get', 'a'))), ['from a tab', 'from a tab'])
  await call(tabs[1], 'put', 'b', 'later')
  assert.deepEqual(await keys(tabs[0]), ['a', 'b'])
  for (const { problems } of tabs) assert.deepEqual(problems, [])
})

test('tabs count together without a lost increment', async (t) => {
  const origin = await serveSite(t, engineFiles, ENGINE_POLICY)
  const tabs = [await pageWith(t, origin, 'count'), await pageWith(t, origin, 'count')]
  const count = (tab) =>
    tab.evaluate(async () => {
      for (let done = 0; done < 30; done++) {
        await globalThis.db.update('count', (count = '0') => String(Number(count) + 1))
      }
    })
  await Promise.all(tabs.map(count))
  assert.equal(await call(tabs[0], 'get', 'count'), '60')
  const conditions = {
    if: [
      { key: 'count', exists: true },
      { key: 'count', value: '1' }
    ]
  }
  const refused = tabs[1].evaluate(
    (conditions) =>
      globalThis.db.del('count', conditions).catch(({ code, conditions }) => [code, conditions]),
    conditions
  )
  assert.deepEqual(await refused, ['LEVEL_CONFLICT', [1]])
  for (const { problems } of tabs) assert.deepEqual(problems, [])
})

test('a page has a database of IndexedDB', async (t) => {
  const page = await pageWith(t, await serveSite(t, engineFiles, ENGINE_POLICY), 'rows', {
    storage: 'indexeddb'
  })
  await call(page, 'put', 'key', 'value')
  await call(page, 'close')
  await page.reload()
  await page.evaluate(open, ['rows', { storage: 'indexeddb', createIfMissing: false }])
  assert.deepEqual(await keys(page), ['key'])
  assert.equal(await storage(page), 'indexeddb')
  assert.deepEqual(page.problems, [])
})

test('the viewer opens a directory', async (t) => {
  const page = await openPage(t, (await serveViewer(t)).origin)
  await choose(page, join(fileURLToPath(new URL('../../../testdata', import.meta.url)), 'leveldb-sst'))
  await status(page, '2,403 entries')
  await page.locator('.row', { hasText: 'key-000004' }).waitFor()
  assert.deepEqual(page.problems, [])
})
