// Typed arrays in browsers, where parts of other entries were stored: the checks of terrace-core's tests in pages and workers, isolated or
// not, over every storage, and over a client of a server.
//
// Long: four databases in four places.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { MemoryLevel } from 'terrace'
import { createServer } from 'terrace-net/server'
import { useBrowser } from './support/browser.js'
import { PLACES, placeFiles } from './support/level-places.js'
import { test } from './support/patient-test.js'
import { ENGINE_POLICY, PAGES, serveSite } from './support/site.js'

const checks = readFileSync(new URL('../../../packages/core/test/support/exact-bytes.js', import.meta.url))
const openPage = useBrowser()

/** Databases, as source. */
const DATABASES = {
  MemoryLevel: 'new MemoryLevel()',
  'Level in files': "new Level('files')",
  'Level in IndexedDB': "new Level('indexed', { storage: 'indexeddb' })",
  NetLevel: 'new NetLevel(ADDRESS)'
}

/** A script that runs the checks. */
const program = (database, address) => `
  import { Level, MemoryLevel } from '/terrace/terrace.js'
  import { NetLevel } from '/terrace-net.js'
  import { checkFound, checkRefused, checkStored, viewsWith } from '/checks.js'

  const ADDRESS = ${JSON.stringify(address)}

  /** A page has another realm in a frame; a worker has none. */
  function realm() {
    if (globalThis.document === undefined) return globalThis
    const frame = document.createElement('iframe')
    document.body.append(frame)
    return frame.contentWindow
  }

  export async function run() {
    const views = viewsWith(realm())
    const db = ${database}
    await db.open()
    await checkStored(db, 'view', views)
    await checkFound(db, 'view', views)
    await checkRefused(db)
    await db.close()
    return views.length
  }
`

for (const [kind, headers] of Object.entries(PAGES)) {
  test(`in ${kind} and its workers, a view of any kind is its bytes, and what cannot be stored is refused`, async (t) => {
    for (const [place, run] of Object.entries(PLACES)) {
      for (const [name, database] of Object.entries(DATABASES)) {
        const policy = `${ENGINE_POLICY}; connect-src 'self' ws://127.0.0.1:*`
        const files = { ...placeFiles, '/checks.js': checks }
        const origin = await serveSite(t, files, policy, headers)
        const served = new MemoryLevel()
        const server = createServer(served, { origins: [origin] })
        files['/program.js'] = program(database, await server.listen('ws://127.0.0.1:0/db'))
        const page = await openPage(t, origin)
        const count = await page.evaluate(run, '/program.js').catch((error) => {
          throw new Error(`${name} in ${place}: ${error.message}`, { cause: error })
        })
        assert.ok(count >= 24, `${name} in ${place}`)
        assert.deepEqual(page.problems, [], `${name} in ${place}`)
        await server.close()
        await served.close()
      }
    }
  })
}
