// abstract-leveldown's published suite, unmodified, over terrace-leveldown in a page: in files, in IndexedDB and in memory.
//
// Long: a suite of a few hundred databases.

import assert from 'node:assert/strict'
import { useBrowser } from './support/browser.js'
import { bundleOf, tapeBundle } from './support/bundles.js'
import { engineFiles } from './support/engine-site.js'
import { test } from './support/patient-test.js'
import { ENGINE_POLICY, serveSite } from './support/site.js'
import { checkSuite, suiteModule } from './support/suite-module.js'

/** How many tests the suite registers today. */
const TESTS = 288

const openPage = useBrowser()

/** What the bundle loads from beside itself. */
const loaded = Object.fromEntries(
  Object.entries(engineFiles).map(([path, file]) => [path.replace('/terrace/', '/'), file])
)

// The suite and its modules take buffers from the global object, as bundlers of its time gave them.
const head = `
  import { Buffer } from 'buffer'
  import leveldown from 'terrace-leveldown'
  import memdown from 'terrace-leveldown/memory'
  globalThis.Buffer = Buffer
`
const suiteOf = (factory, options) =>
  suiteModule(head, factory, '', false, {
    suite: 'abstract-leveldown/test',
    options: { clear: true, getMany: true, ...options }
  })

for (const [name, suite] of Object.entries({
  files: suiteOf('() => leveldown(crypto.randomUUID(), { shared: false })', {}),
  IndexedDB: suiteOf("() => leveldown(crypto.randomUUID(), { shared: false, storage: 'indexeddb' })", {}),
  memory: suiteOf('() => memdown()', { createIfMissing: false, errorIfExists: false })
})) {
  test(`abstract-leveldown's suite passes in a page: ${name}`, async (t) => {
    const files = { ...loaded, '/tape.js': await tapeBundle(), '/suite.js': await bundleOf(suite) }
    const page = await openPage(t, await serveSite(t, files, ENGINE_POLICY))
    await page.addScriptTag({ url: '/tape.js' })
    const { registered, lines } = await page.evaluate(() => import('/suite.js').then(({ run }) => run()))
    checkSuite(t, registered, lines, TESTS)
    assert.deepEqual(page.problems, [])
  })
}
