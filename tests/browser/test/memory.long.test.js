// MemoryLevel in a page: abstract-level's published suite, unmodified; the module that the package brings, in a page and in a worker.
//
// Long: abstract-level's suite.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { useBrowser } from './support/browser.js'
import { bundleOf, tapeBundle } from './support/bundles.js'
import { PROGRAM, RESULT } from './support/memory-program.js'
import { test } from './support/patient-test.js'
import { ENGINE_POLICY, serveSite } from './support/site.js'
import { checkSuite, suiteModule } from './support/suite-module.js'

/** How many tests the suite registers for it today. abstract-level may add more. */
const TESTS = 1500

const openPage = useBrowser()

const module = fileURLToPath(import.meta.resolve('terrace/browser'))
const wasm = readFileSync(join(module, '..', 'terrace-memory.wasm'))

test("abstract-level's suite passes in a page", async (t) => {
  const suite = suiteModule("import { MemoryLevel } from 'terrace'", '(options) => new MemoryLevel(options)')
  const origin = await serveSite(
    t,
    { '/tape.js': await tapeBundle(), '/suite.js': await bundleOf(suite), '/terrace-memory.wasm': wasm },
    ENGINE_POLICY
  )
  const page = await openPage(t, origin)
  await page.addScriptTag({ url: '/tape.js' })
  const { registered, lines } = await page.evaluate(() => import('/suite.js').then(({ run }) => run()))
  checkSuite(t, registered, lines, TESTS)
  assert.deepEqual(page.problems, [])
})

test('the module of the package works in a page and in a worker', async (t) => {
  const files = {
    '/terrace.js': readFileSync(module),
    '/terrace-memory.wasm': wasm,
    '/use.js': PROGRAM,
    '/worker.js': `
      import { MemoryLevel } from './terrace.js'
      import { use } from './use.js'
      use(MemoryLevel).then((result) => postMessage(result))
    `
  }
  const page = await openPage(t, await serveSite(t, files, ENGINE_POLICY))
  const inPage = await page.evaluate(async () => {
    const [{ MemoryLevel }, { use }] = await Promise.all([import('/terrace.js'), import('/use.js')])
    return use(MemoryLevel)
  })
  assert.deepEqual(inPage, RESULT)
  const inWorker = await page.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const worker = new Worker('/worker.js', { type: 'module' })
        worker.onmessage = ({ data }) => resolve(data)
        worker.onerror = reject
      })
  )
  assert.deepEqual(inWorker, RESULT)
  assert.deepEqual(page.problems, [])
})

test('where the file of the engine is missing, the open says so, and a later one finds it', async (t) => {
  const files = { '/terrace.js': readFileSync(module) }
  const page = await openPage(t, await serveSite(t, files, ENGINE_POLICY))
  const open = () =>
    page.evaluate(async () => {
      const { MemoryLevel } = await import('/terrace.js')
      globalThis.db ??= new MemoryLevel()
      return globalThis.db.open().then(
        () => globalThis.db.status,
        (error) => `${error.code}: ${error.cause.message}`
      )
    })
  assert.match(
    await open(),
    /^LEVEL_DATABASE_NOT_OPEN: .*terrace-memory\.wasm cannot be loaded: the server answers 404 /
  )
  files['/terrace-memory.wasm'] = wasm
  assert.equal(await open(), 'open')
})
