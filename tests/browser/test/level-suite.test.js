// The published test suite of abstract-level, unmodified, over Level in a dedicated worker.

import { isShort } from '../../support/form.mjs'
import { useBrowser } from './support/browser.js'
import { bundleOf, tapeBundle } from './support/bundles.js'
import { test } from './support/patient-test.js'
import { ENGINE_POLICY, serveSite } from './support/site.js'
import { checkSuite, suiteModule } from './support/suite-module.js'
import { wasm } from './support/worker-site.js'

/** How many tests the suite registers for it today; half as many in the short form, without sublevels. abstract-level may add more. */
const TESTS = isShort ? 700 : 1500

const openPage = useBrowser()

test("abstract-level's suite passes in a worker", async (t) => {
  const head = "import { Level } from 'terrace'; let made = 0"
  const suite = suiteModule(head, "(options) => new Level('suite ' + made++, options)", '', isShort)
  const files = {
    '/tape.js': await tapeBundle(),
    '/suite.js': await bundleOf(suite),
    '/terrace.wasm': wasm,
    '/worker.js': `
      await import('/tape.js')
      const { run } = await import('/suite.js')
      run().then((result) => postMessage(result))
    `
  }
  const page = await openPage(t, await serveSite(t, files, ENGINE_POLICY))
  const { registered, lines } = await page.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const worker = new Worker('/worker.js', { type: 'module' })
        worker.onmessage = ({ data }) => resolve(data)
        worker.onerror = (event) => reject(new Error(event.message))
      })
  )
  checkSuite(t, registered, lines, TESTS)
})
