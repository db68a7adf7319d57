// Conditional writes in browsers: terrace-core's tests over every storage, in pages and in workers.
//
// Long: many databases are opened in many places.

import assert from 'node:assert/strict'
import { useBrowser } from './support/browser.js'
import { coreConditions } from './support/core-conditions.js'
import { PLACES, placeFiles } from './support/level-places.js'
import { test } from './support/patient-test.js'
import { ENGINE_POLICY, PAGES, serveSite } from './support/site.js'

const openPage = useBrowser()

/** Databases, as source. */
const DATABASES = {
  'shared by tabs': 'new Level(location, { ...options, shared: true })',
  'of its own': 'new Level(location, { ...options, shared: false })',
  'in files alone': "new Level(location, { ...options, shared: false, storage: 'opfs' })",
  'in IndexedDB, shared by tabs': "new Level(location, { ...options, shared: true, storage: 'indexeddb' })",
  'in IndexedDB': "new Level(location, { ...options, shared: false, storage: 'indexeddb' })",
  'in memory, shared by tabs': "new Level(location, { ...options, shared: true, storage: 'memory' })",
  'of MemoryLevel': 'new MemoryLevel(options)'
}

const program = (database) => `
  import { Level, MemoryLevel } from '/terrace/terrace.js'

  globalThis.makeDatabase = (location, options) => ${database}
  export const run = () => import('/conditions.js').then(({ run }) => run())
`

for (const [kind, headers] of Object.entries(PAGES)) {
  for (const [name, database] of Object.entries(DATABASES)) {
    test(`terrace-core's tests of conditions pass in ${kind} and its workers over a database ${name}`, async (t) => {
      const files = {
        ...placeFiles,
        '/conditions.js': await coreConditions(),
        '/program.js': program(database)
      }
      for (const [place, run] of Object.entries(PLACES)) {
        const page = await openPage(t, await serveSite(t, files, ENGINE_POLICY, headers))
        const passed = await page.evaluate(run, '/program.js')
        assert.ok(passed.length >= 14, `${place}: ${passed.length} tests`)
        assert.deepEqual(page.problems, [], place)
      }
    })
  }
}
