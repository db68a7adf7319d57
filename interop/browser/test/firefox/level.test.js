// Level in Firefox: in pages, which share a database, and in a worker; on the origin-private file system and on IndexedDB. TERRACE_SUITE=1 runs
// abstract-level's published suite in each of them as well, which takes many minutes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bundleOf, tapeBundle } from '../support/bundles.js'
import { engineFiles } from '../support/engine-site.js'
import { missingFirefox, useFirefox } from '../support/firefox.js'
import { ENGINE_POLICY, serveSite } from '../support/site.js'
import { checkSuite, suiteModule } from '../support/suite-module.js'

/** How many tests the suite registers for each today. abstract-level may add more. */
const TESTS = 1470

/** Each runs the `run()` of a script in the page, or in a worker. */
const PLACES = {
  page: (path) => import(path).then(({ run }) => run()),
  worker: (path) =>
    new Promise((resolve, reject) => {
      const worker = new Worker('/terrace/runner.js', { type: 'module' })
      worker.onmessage = ({ data }) =>
        data.error === undefined ? resolve(data.result) : reject(new Error(data.error))
      worker.onerror = (event) => reject(new Error(event.message))
      worker.postMessage(path)
    })
}

/** The worker that does so. */
const RUNNER = `
  addEventListener('message', ({ data: path }) => {
    import(path).then(({ run }) => run()).then(
      (result) => postMessage({ result }),
      (error) => postMessage({ error: error.code + ' ' + error.stack })
    )
  })
`

const STORAGES = { opfs: '', indexeddb: ", storage: 'indexeddb', shared: false" }

/** Uses a database in all ways. */
const use = (options) => `
  import { Level } from '/terrace/terrace.js'
  export async function run() {
    const db = new Level('use', { valueEncoding: 'json' ${options} })
    await db.put('a', { n: 1 })
    const before = db.snapshot()
    await db.batch([{ type: 'put', key: 'b', value: { n: 2 } }, { type: 'del', key: 'a' }], { sync: true })
    await db.sublevel('names').put('é', 'ü')
    const result = [await db.iterator({ snapshot: before }).all(), await db.get('b'), await db.keys().all()]
    await before.close()
    await db.close()
    await db.open()
    await db.clear({ gte: 'b' })
    result.push(await db.keys().all(), db.storage)
    await db.clear()
    await db.close()
    return result
  }
`

const missing = missingFirefox()
if (missing !== undefined) console.log(`skipped: Firefox: ${missing}`)
else tests()

function tests() {
  const openPage = useFirefox()
  const siteOf = (t, files = {}) =>
    serveSite(t, { ...engineFiles, '/terrace/runner.js': RUNNER, ...files }, ENGINE_POLICY)

  for (const [storage, options] of Object.entries(STORAGES)) {
    for (const [place, run] of Object.entries(PLACES)) {
      test(`a ${place} uses a database on ${storage} in all ways`, async (t) => {
        const page = await openPage(t, await siteOf(t, { '/terrace/use.js': use(options) }))
        assert.deepEqual(await page.evaluate(run, '/terrace/use.js'), [
          [['a', { n: 1 }]],
          { n: 2 },
          ['!names!é', 'b'],
          ['!names!é'],
          storage
        ])
      })
    }
  }

  test('tabs share a database, and another one leads when the leader is closed', async (t) => {
    const origin = await siteOf(t)
    const pages = [await openPage(t, origin), await openPage(t, origin), await openPage(t, origin)]
    const put = (page, key) =>
      page.evaluate(async (key) => {
        const { Level } = await import('/terrace/terrace.js')
        globalThis.db ??= new Level('shared')
        await db.put(key, 'value')
        return [db.isOwner, await db.keys().all()]
      }, key)
    assert.deepEqual(await put(pages[0], 'a'), [true, ['a']])
    assert.deepEqual(await put(pages[1], 'b'), [false, ['a', 'b']])
    assert.deepEqual(await put(pages[2], 'c'), [false, ['a', 'b', 'c']])
    await pages[0].close()
    const [one, other] = [await put(pages[1], 'd'), await put(pages[2], 'e')]
    assert.deepEqual([one[0], other[0]].sort(), [false, true])
    assert.deepEqual(other[1], ['a', 'b', 'c', 'd', 'e'])
  })

  if (process.env.TERRACE_SUITE !== undefined) suites(openPage, siteOf)
}

function suites(openPage, siteOf) {
  for (const [storage, options] of Object.entries(STORAGES)) {
    for (const [place, run] of Object.entries(PLACES)) {
      test(`abstract-level's suite passes in a ${place} on ${storage}`, async (t) => {
        const head = `
          import { Level } from 'terrace'
          let made = 0
          const make = (options) => new Level('suite ' + made++, { ...options ${options} })
        `
        const suite = await bundleOf(suiteModule(head, 'make'))
        const files = {
          '/terrace/tape.js': await tapeBundle(),
          '/terrace/suite.js': `import './tape.js'\n${suite}`
        }
        const page = await openPage(t, await siteOf(t, files))
        const registered = await page.evaluate(run, '/terrace/suite.js')
        checkSuite(t, registered, page.lines, TESTS)
      })
    }
  }
}
