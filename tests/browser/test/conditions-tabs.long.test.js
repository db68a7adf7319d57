// Tabs count in one database: each increment is a write under the condition that the count has not changed. Meanwhile the tabs that lead are
// killed. Each increment is done once, though some tabs do not hear of theirs. TERRACE_KILLS=100 kills more.
//
// Long: leaders are killed in real time.

import assert from 'node:assert/strict'
import { until } from '../../support/waiting.mjs'
import { crash, useBrowser } from './support/browser.js'
import { engineFiles } from './support/engine-site.js'
import { test } from './support/patient-test.js'
import { ENGINE_POLICY, ISOLATION, serveSite } from './support/site.js'

const KILLS = Number(process.env.TERRACE_KILLS ?? 4)
const TABS = 4

/** How many increments of each tab must be acknowledged between two kills. */
const INCREMENTS = 15

const openPage = useBrowser()

/** A tab. With an increment goes an entry that names it, which has the new count. */
const COUNTER = (options) => `
  import { Level } from '/terrace/terrace.js'

  export const db = new Level('count', { valueEncoding: 'json' ${options} })
  export const seen = { increments: 0, conflicts: 0, unknown: 0, failure: undefined }
  let isToStop = false
  let done

  export async function begin(tab) {
    await db.open()
    done = count(tab).catch((error) => {
      seen.failure = error.code + ' ' + error.stack
    })
  }

  async function count(tab) {
    for (let number = 0; !isToStop; number++) {
      while (!(await increment(tab + '/' + number, number % 4 === 0, number % 10 === 0)));
      seen.increments++
    }
  }

  /** Resolves with whether it is done. */
  async function increment(key, hasSnapshot, sync) {
    const snapshot = hasSnapshot ? db.snapshot() : undefined
    try {
      const count = await db.get('count', { snapshot })
      const one = count === undefined ? { key: 'count', exists: false } : { key: 'count', value: count }
      const condition = hasSnapshot ? { gte: 'count', lte: 'count', unchangedSince: snapshot } : one
      const next = (count ?? 0) + 1
      const operations = [{ type: 'put', key: 'count', value: next }, { type: 'put', key, value: next }]
      await db.batch(operations, { if: [condition, { key, exists: false }], sync })
      return true
    } catch (error) {
      if (error.code === 'LEVEL_CONFLICT') seen.conflicts++
      else if (error.code === 'LEVEL_LEADER_LOST') seen.unknown++
      else throw error
      return db.has(key)
    } finally {
      await snapshot?.close()
    }
  }

  export async function stop() {
    isToStop = true
    await done
    await db.close()
  }

  export async function all() {
    const entries = await db.iterator().all()
    await db.close()
    return entries
  }
`

const ENDS = [
  (page) => page.close({ runBeforeUnload: false }),
  (page) => crash(page),
  (page) => page.goto('about:blank')
]

const PLACES = {
  'in files': ['', {}],
  'in files, of isolated tabs': ['', ISOLATION],
  'in IndexedDB': [", storage: 'indexeddb'", {}]
}

for (const [place, [options, headers]] of Object.entries(PLACES)) {
  test(`no increment of tabs is lost or done twice while their leaders are killed: ${place}`, async (t) => {
    const files = { ...engineFiles, '/counter.js': COUNTER(options) }
    const origin = await serveSite(t, files, ENGINE_POLICY, headers)
    let made = 0
    const start = async () => {
      const page = await openPage(t, origin)
      await page.evaluate(async (tab) => {
        globalThis.counter = await import('/counter.js')
        await globalThis.counter.begin(tab)
      }, `tab ${made++}`)
      return page
    }
    const seenBy = (page) => page.evaluate(() => globalThis.counter.seen)
    const progress = async (page) => {
      const { increments } = await seenBy(page)
      await until(async () => {
        const seen = await seenBy(page)
        assert.equal(seen.failure, undefined)
        return seen.increments >= increments + INCREMENTS
      }, 'increments')
    }

    let tabs = await Promise.all(Array.from({ length: TABS }, start))
    let conflicts = 0
    let unknown = 0
    for (let kill = 0; kill < KILLS; kill++) {
      await Promise.all(tabs.map(progress))
      const owners = await Promise.all(tabs.map((tab) => tab.evaluate(() => globalThis.counter.db.isOwner)))
      assert.equal(owners.filter(Boolean).length, 1, String(owners))
      const leader = tabs[owners.indexOf(true)]
      conflicts += (await seenBy(leader)).conflicts
      await ENDS[kill % ENDS.length](leader)
      tabs = tabs.filter((tab) => tab !== leader)
      tabs.push(await start())
    }

    await Promise.all(tabs.map((tab) => tab.evaluate(() => globalThis.counter.stop())))
    for (const tab of tabs) {
      const seen = await seenBy(tab)
      assert.equal(seen.failure, undefined)
      conflicts += seen.conflicts
      unknown += seen.unknown
    }
    const reader = await openPage(t, origin)
    const entries = new Map(await reader.evaluate(async () => (await import('/counter.js')).all()))
    const count = entries.get('count')
    entries.delete('count')
    const counts = [...entries.values()].sort((a, b) => a - b)
    assert.deepEqual(
      counts,
      Array.from({ length: count }, (_, index) => index + 1)
    )
    assert.ok(conflicts > 0, 'the tabs met')
    t.diagnostic(
      `${KILLS} leaders killed; ${count} increments, ${conflicts} conflicts, ${unknown} of unknown fate`
    )
  })
}
