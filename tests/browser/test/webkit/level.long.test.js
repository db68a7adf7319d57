// Level in WebKitGTK, which has no files for it: it falls to IndexedDB, in pages, which share a database, and in workers. TERRACE_SUITE=1 runs
// abstract-level's published suite in both as well.
//
// Long: it needs WebKitGTK.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PLACES, placeFiles, putShared, used, useProgram } from '../support/level-places.js'
import { levelSuite } from '../support/level-suite.js'
import { ENGINE_POLICY, serveSite } from '../support/site.js'
import { checkSuite } from '../support/suite-module.js'
import { missingWebKit, useWebKit } from '../support/webkit.js'

/** How many tests the suite registers for each today. abstract-level may add more. */
const TESTS = 1470

/** How each has a place to fall to: a worker that has a database for itself must name it. */
const OPTIONS = { page: '', worker: ", storage: ['opfs', 'indexeddb']" }

const missing = missingWebKit()
if (missing !== undefined) console.log(`skipped: WebKitGTK: ${missing}`)
else tests()

function tests() {
  const openWindow = useWebKit()
  const siteOf = (t, files = {}) => serveSite(t, { ...placeFiles, ...files }, ENGINE_POLICY)
  const windowOf = async (t, options) =>
    openWindow(t, await siteOf(t, { '/terrace/use.js': useProgram(options) }))

  for (const [place, run] of Object.entries(PLACES)) {
    test(`a ${place} without files of its own falls to IndexedDB, and uses it in all ways`, async (t) => {
      const window = await windowOf(t, OPTIONS[place])
      assert.deepEqual(await window.evaluate(run, '/terrace/use.js'), used('indexeddb'))
    })
  }

  test('a worker that shares its database falls to IndexedDB as pages do', async (t) => {
    const window = await windowOf(t, ', shared: true')
    assert.deepEqual(await window.evaluate(PLACES.worker, '/terrace/use.js'), used('indexeddb'))
  })

  test('a worker that has a database for itself, and names no other place, is told that there are no files', async (t) => {
    const window = await windowOf(t, '')
    await assert.rejects(window.evaluate(PLACES.worker, '/terrace/use.js'), /LEVEL_NOT_SUPPORTED/)
  })

  test('tabs share a database, and another one leads when the leader is closed', async (t) => {
    const first = await openWindow(t, await siteOf(t))
    const second = await first.openTab()
    const third = await first.openTab()
    assert.deepEqual(await first.evaluate(putShared, 'a'), [true, ['a']])
    assert.deepEqual(await second.evaluate(putShared, 'b'), [false, ['a', 'b']])
    assert.deepEqual(await third.evaluate(putShared, 'c'), [false, ['a', 'b', 'c']])
    await first.close()
    const [one, other] = [await second.evaluate(putShared, 'd'), await third.evaluate(putShared, 'e')]
    assert.deepEqual([one[0], other[0]].sort(), [false, true])
    assert.deepEqual(other[1], ['a', 'b', 'c', 'd', 'e'])
  })

  if (process.env.TERRACE_SUITE !== undefined) suites(openWindow, siteOf)
}

function suites(openWindow, siteOf) {
  for (const [place, run] of Object.entries(PLACES)) {
    test(`abstract-level's suite passes in a ${place}`, async (t) => {
      const window = await openWindow(
        t,
        await siteOf(t, await levelSuite(", storage: 'indexeddb', shared: false"))
      )
      const { registered, lines } = await window.evaluate(run, '/terrace/suite.js')
      checkSuite(t, registered, lines, TESTS)
    })
  }
}
