// abstract-level's published suite, unmodified, over IndexedDB: in a page and in a worker.
//
// Long: abstract-level's suite, twice.

import assert from 'node:assert/strict'
import { useBrowser } from './support/browser.js'
import { bundleOf, tapeBundle } from './support/bundles.js'
import { IMPORT_LEVEL } from './support/indexeddb.js'
import { test } from './support/patient-test.js'
import { serveSite } from './support/site.js'
import { checkSuite, suiteModule } from './support/suite-module.js'

/** How many tests the suite registers for it today. abstract-level may add more. */
const TESTS = 1450

const openPage = useBrowser()

const suite = suiteModule(IMPORT_LEVEL, '(options) => new IndexedDbLevel(crypto.randomUUID(), options)')

/** A worker imports what is no module after tape's script. */
const worker = `
  import '/tape.js'
  import { run } from '/suite.js'
  run().then((result) => postMessage(result))
`

const inPage = (page) => page.evaluate(() => import('/suite.js').then(({ run }) => run()))

const inWorker = (page) =>
  page.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const worker = new Worker('/worker.js', { type: 'module' })
        worker.onmessage = ({ data }) => resolve(data)
        worker.onerror = ({ message }) => reject(new Error(message))
      })
  )

// They mostly wait for the browser, which makes more than a thousand databases for each.
test("abstract-level's suite passes", { concurrency: true }, async (t) => {
  const files = { '/tape.js': await tapeBundle(), '/suite.js': await bundleOf(suite), '/worker.js': worker }
  const runOn = (name, run) =>
    t.test(name, async (t) => {
      const page = await openPage(t, await serveSite(t, files))
      await page.addScriptTag({ url: '/tape.js' })
      const { registered, lines } = await run(page)
      checkSuite(t, registered, lines, TESTS)
      assert.deepEqual(page.problems, [])
    })
  await Promise.all([runOn('in a page', inPage), runOn('in a worker', inWorker)])
})
