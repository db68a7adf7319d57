// Level in Firefox: in pages, which share a database, and in a worker; on the origin-private file system and on IndexedDB. TERRACE_SUITE=1 runs
// abstract-level's published suite in most of them as well, which takes many minutes.
//
// Long: it needs Firefox.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { missingFirefox, PRIVATE, useFirefox } from '../support/firefox.js'
import { PLACES, placeFiles, putShared, used, useProgram } from '../support/level-places.js'
import { levelSuite } from '../support/level-suite.js'
import { ENGINE_POLICY, serveSite } from '../support/site.js'
import { checkSuite } from '../support/suite-module.js'

/** How many tests the suite registers for each today. abstract-level may add more. */
const TESTS = 1470

const STORAGES = { opfs: '', indexeddb: ", storage: 'indexeddb', shared: false" }

/** On files, Firefox takes some ten times as long as on IndexedDB, and a page's database is in a worker there anyway. */
const SUITES = [
  ['page', 'opfs'],
  ['page', 'indexeddb'],
  ['worker', 'indexeddb']
]

const missing = missingFirefox()
if (missing !== undefined) console.log(`skipped: Firefox: ${missing}`)
else tests()

function tests() {
  const openPage = useFirefox()
  const siteOf = (t, files = {}) => serveSite(t, { ...placeFiles, ...files }, ENGINE_POLICY)

  for (const [storage, options] of Object.entries(STORAGES)) {
    for (const [place, run] of Object.entries(PLACES)) {
      test(`a ${place} uses a database on ${storage} in all ways`, async (t) => {
        const page = await openPage(t, await siteOf(t, { '/terrace/use.js': useProgram(options) }))
        assert.deepEqual(await page.evaluate(run, '/terrace/use.js'), used(storage))
      })
    }
  }

  test('tabs share a database, and another one leads when the leader is closed', async (t) => {
    const origin = await siteOf(t)
    const pages = [await openPage(t, origin), await openPage(t, origin), await openPage(t, origin)]
    const put = (page, key) => page.evaluate(putShared, key)
    assert.deepEqual(await put(pages[0], 'a'), [true, ['a']])
    assert.deepEqual(await put(pages[1], 'b'), [false, ['a', 'b']])
    assert.deepEqual(await put(pages[2], 'c'), [false, ['a', 'b', 'c']])
    await pages[0].close()
    const [one, other] = [await put(pages[1], 'd'), await put(pages[2], 'e')]
    assert.deepEqual([one[0], other[0]].sort(), [false, true])
    assert.deepEqual(other[1], ['a', 'b', 'c', 'd', 'e'])
  })

  const openPrivatePage = useFirefox(PRIVATE)
  for (const [place, run] of Object.entries(PLACES)) {
    test(`a ${place} of a private window, where the browser refuses OPFS, uses a database of IndexedDB in all ways`, async (t) => {
      const program = useProgram(", storage: ['opfs', 'indexeddb']")
      const page = await openPrivatePage(t, await siteOf(t, { '/terrace/use.js': program }))
      assert.deepEqual(await page.evaluate(run, '/terrace/use.js'), used('indexeddb'))
    })
  }

  test('a page of a private window that has a database for itself uses IndexedDB in all ways', async (t) => {
    const page = await openPrivatePage(
      t,
      await siteOf(t, { '/terrace/use.js': useProgram(', shared: false') })
    )
    assert.deepEqual(await page.evaluate(PLACES.page, '/terrace/use.js'), used('indexeddb'))
  })

  if (process.env.TERRACE_SUITE !== undefined) suites(openPage, siteOf)
}

function suites(openPage, siteOf) {
  for (const [place, storage] of SUITES) {
    test(`abstract-level's suite passes in a ${place} on ${storage}`, async (t) => {
      const page = await openPage(t, await siteOf(t, await levelSuite(STORAGES[storage])))
      const { registered, lines } = await page.evaluate(PLACES[place], '/terrace/suite.js')
      checkSuite(t, registered, lines, TESTS)
    })
  }
}
