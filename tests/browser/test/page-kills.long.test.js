// Tabs write and read one database while those that lead are killed: no acknowledged write is lost, none is done twice. TERRACE_KILLS=100
// kills more.
//
// Long: leaders are killed in real time.

import assert from 'node:assert/strict'
import { until } from '../../support/waiting.mjs'
import { crash, useBrowser } from './support/browser.js'
import { engineFiles } from './support/engine-site.js'
import { test } from './support/patient-test.js'
import { ENGINE_POLICY, ISOLATION, serveSite } from './support/site.js'

const KILLS = Number(process.env.TERRACE_KILLS ?? 4)
const TABS = 5

/** How many writes must be acknowledged between two kills. */
const WRITES = 60

const openPage = useBrowser()

/**
 * A tab. Each of its writes stores its own entry and the number of the last one, which must never decrease. It reports what was
 * acknowledged, and what may have been done.
 */
const WRITER = `
  import { Level } from '/terrace/terrace.js'

  const key = (tab, number) => tab + '/' + String(number).padStart(6, '0')
  let isToStop = false
  let done
  export const db = new Level('killed', { writeBufferSize: 128 << 10 })

  export async function write(tab) {
    await db.open()
    done = run(tab).catch((error) => reportAll([[-1, 'failed: ' + error.code + ' ' + error.message]]))
  }

  async function run(tab) {
    let last = -1
    let reports = []
    const report = (number, what) => {
      if (reports.push([number, what]) === 1) setTimeout(() => reportAll(reports.splice(0)), 30)
    }
    for (let number = 0; !isToStop; number++) {
      const written = db.batch([
        { type: 'put', key: key(tab, number), value: number + ' ' + 'x'.repeat((number * 37) % 900) },
        { type: 'put', key: 'last/' + tab, value: String(number) }
      ], { sync: number % 20 === 0 })
      try {
        await written
        last = number
        report(number, 'acknowledged')
      } catch (error) {
        if (error.code !== 'LEVEL_LEADER_LOST') throw error
        report(number, 'unknown')
      }
      const [found, own] = await Promise.all([db.get('last/' + tab), db.get(key(tab, number))])
      const isStored = own !== undefined
      if (Number(found) !== (isStored ? number : last)) report(number, 'wrong: ' + found + ' after ' + last)
      if (isStored) last = number
      // The test is to hear of it, not to be flooded.
      await new Promise((resolve) => setTimeout(resolve, 3))
    }
    await reportAll(reports.splice(0))
  }

  export async function stop() {
    isToStop = true
    await done
    await db.close()
  }

  export async function all() {
    const entries = await db.iterator().all()
    await db.close()
    return entries.map(([key, value]) => [key, value.split(' ')[0]])
  }
`

class Writer {
  acknowledged = new Set()
  unknown = new Set()
  wrong = []

  constructor(name, page) {
    this.name = name
    this.page = page
  }

  static async start(t, origin, name) {
    const page = await openPage(t, origin)
    const writer = new Writer(name, page)
    await page.exposeFunction('reportAll', (reports) => {
      for (const [number, what] of reports) {
        if (what === 'acknowledged' || what === 'unknown') writer[what].add(number)
        else writer.wrong.push(what)
      }
    })
    await page.evaluate(async (name) => {
      globalThis.writer = await import('/writer.js')
      await globalThis.writer.write(name)
    }, name)
    return writer
  }

  /** Resolves once so many more writes are acknowledged. */
  async progress(count) {
    const wanted = this.acknowledged.size + count
    await until(
      () => this.acknowledged.size >= wanted || this.wrong.length > 0,
      `${count} more writes of ${this.name}`
    )
  }
}

const ENDS = [
  ['closed', (page) => page.close({ runBeforeUnload: false })],
  ['crashed', (page) => crash(page)],
  ['left for another page', (page) => page.goto('about:blank')]
]

for (const [pages, headers] of Object.entries({ 'five tabs': {}, 'five isolated tabs': ISOLATION })) {
  test(`no acknowledged write is lost, and none is done twice, while the leaders of ${pages} are killed`, async (t) => {
    const origin = await serveSite(t, { ...engineFiles, '/writer.js': WRITER }, ENGINE_POLICY, headers)
    let made = 0
    const start = () => Writer.start(t, origin, `tab${made++}`)
    let tabs = await Promise.all(Array.from({ length: TABS }, start))
    const former = []

    for (let kill = 0; kill < KILLS; kill++) {
      await Promise.all(tabs.map((tab) => tab.progress(WRITES / TABS)))
      for (const tab of tabs) assert.deepEqual(tab.wrong, [], tab.name)
      const owners = await Promise.all(
        tabs.map((tab) => tab.page.evaluate(() => globalThis.writer.db.isOwner))
      )
      assert.equal(owners.filter(Boolean).length, 1, String(owners))
      const leader = tabs[owners.indexOf(true)]
      const [how, end] = ENDS[kill % ENDS.length]
      await end(leader.page)
      former.push(leader)
      const counts = tabs.map((tab) => `${tab.acknowledged.size}+${tab.unknown.size}`)
      t.diagnostic(`${leader.name} ${how}; acknowledged and unknown: ${counts.join(', ')}`)
      tabs = tabs.filter((tab) => tab !== leader)
      tabs.push(await start())
    }

    await Promise.all(tabs.map((tab) => tab.page.evaluate(() => globalThis.writer.stop())))
    const reader = await openPage(t, origin)
    const entries = new Map(await reader.evaluate(async () => (await import('/writer.js')).all()))
    const all = [...former, ...tabs]
    let acknowledged = 0
    for (const tab of all) {
      assert.deepEqual(tab.wrong, [])
      const stored = [...entries.keys()].filter((key) => key.startsWith(`${tab.name}/`))
      const numbers = new Set(stored.map((key) => Number(key.split('/')[1])))
      for (const number of tab.acknowledged) assert.ok(numbers.has(number), `${tab.name} lost ${number}`)
      assert.equal(entries.get(`last/${tab.name}`), String(Math.max(...numbers)), `${tab.name}'s last write`)
      // A tab that was killed may not have reported its last writes.
      const unreported = [...numbers].filter(
        (number) => !tab.acknowledged.has(number) && !tab.unknown.has(number)
      )
      if (!former.includes(tab)) assert.deepEqual(unreported, [], `${tab.name} has writes that nobody made`)
      acknowledged += tab.acknowledged.size
    }
    const unknown = all.reduce((sum, tab) => sum + tab.unknown.size, 0)
    t.diagnostic(
      `${KILLS} leaders killed; ${acknowledged} writes acknowledged, none lost; ${unknown} of unknown fate, all reported`
    )
  })
}
