// Tabs share a database: they join and leave, open it with different options, and receive an error if it cannot be
// opened.
//
// Long: dozens of pages.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { crash, freeze, isWaitedFor, useBrowser } from './support/browser.js'
import { test } from './support/patient-test.js'
import { leaderOf, openTabs, serveTabsSite, Tab, tabsFiles, workersOf } from './support/tabs.js'

const openPage = useBrowser()

/** A site, and a function that opens a page of it. */
async function siteOf(t, files) {
  const origin = await serveTabsSite(t, files)
  return { origin, page: () => openPage(t, origin) }
}

/** Opens tabs, of which the first leads. */
const tabsOf = ({ origin, page }, location, count) => openTabs(origin, page, location, count)

test('tabs that join at the same time come to one worker, and one that joins later does too', async (t) => {
  const site = await siteOf(t)
  const pages = await Promise.all([1, 2, 3, 4].map(site.page))
  const tabs = await Promise.all(pages.map((page) => Tab.open(page, 'same time')))
  tabs.push(await Tab.open(await site.page(), 'same time'))
  assert.equal((await workersOf(tabs)).length, 1)
  await leaderOf(tabs)
  await tabs[4].ask('put', 'key', 'value')
  assert.deepEqual(
    await Promise.all(tabs.map((tab) => tab.ask('get', 'key'))),
    Array.from(tabs, () => 'value')
  )
  for (const { page } of tabs) assert.deepEqual(page.problems, [])
})

test('a leader that leaves answers what it was asked before, and closes the database for the next', async (t) => {
  const site = await siteOf(t)
  const tabs = await tabsOf(site, 'leave', 3)
  const [former] = await workersOf(tabs)
  const late = tabs.map((tab) => tab.ask('late'))
  // Requests sent before this have arrived.
  await Promise.all(tabs.map((tab) => tab.ask('who')))
  await tabs[0].leave()
  assert.deepEqual(await Promise.all(late), ['in the end', 'in the end', 'in the end'])
  const [worker, ...more] = await workersOf(tabs.slice(1))
  assert.deepEqual(more, [])
  assert.notEqual(worker, former)
  assert.deepEqual(await tabs[0].events(), ['own channel', 'last', 'lost'])
  const next = await leaderOf(tabs.slice(1))
  for (const tab of tabs.slice(1)) {
    const again = tab === next ? 'own channel' : 'channel'
    assert.deepEqual(await tab.events(), ['channel', 'last', 'lost', again])
  }

  await tabs[0].join('leave')
  assert.deepEqual(await workersOf(tabs), [worker])
  await Promise.all(tabs.map((tab) => tab.leave()))
  const events = await Promise.all(tabs.map((tab) => tab.events()))
  await tabs[1].join('leave')
  assert.notEqual(await tabs[1].insist('who'), worker)
  assert.deepEqual(await tabs[2].events(), events[2])
})

test('a tab that leaves while it opens the database leaves it to the next', async (t) => {
  const site = await siteOf(t)
  const [page, other] = [await site.page(), await site.page()]
  await page.evaluate(async () => {
    const { join, member } = await import('/tabs.js')
    join('brief', {})
    await member('brief').tabs.leave()
    join('brief', {})
    // The worker has only begun.
    while (!member('brief').tabs.isLeader) await new Promise((resolve) => setTimeout(resolve))
    await member('brief').tabs.leave()
    join('brief', {})
    await member('brief').ask('put', 'key', 'value')
    await member('brief').tabs.leave()
    await member('brief').tabs.leave()
  })
  const tab = await Tab.open(other, 'brief')
  assert.equal(await tab.ask('get', 'key'), 'value')
  assert.equal(await tab.isLeader(), true)
})

test('a tab cannot join twice', async (t) => {
  const site = await siteOf(t)
  const [tab] = await tabsOf(site, 'twice', 1)
  await assert.rejects(tab.join('twice'), /takes part already/)
})

test('a worker is told when a tab is gone, whether it has left, was closed, has crashed or is frozen', async (t) => {
  const site = await siteOf(t)
  const tabs = await tabsOf(site, 'gone', 5)
  const ends = [
    (tab) => tab.leave(),
    ({ page }) => page.close(),
    ({ page }) => crash(page),
    ({ page }) => freeze(page)
  ]
  for (const [index, end] of ends.entries()) {
    assert.equal(await tabs[0].ask('atMost', 5), 5 - index)
    await end(tabs[index + 1])
    assert.equal(await tabs[0].ask('atMost', 4 - index), 4 - index)
  }
})

test('two instances in one page share a database as two tabs do', async (t) => {
  const site = await siteOf(t)
  const page = await site.page()
  const [first, second, afterwards] = await page.evaluate(async () => {
    const { Member } = await import('/tabs.js')
    const members = [new Member('same page'), new Member('same page')]
    for (const { tabs } of members) tabs.join({})
    const workers = await Promise.all(members.map((member) => member.ask('who')))
    await members[0].tabs.leave()
    return [...workers, await members[1].insist('who')]
  })
  assert.equal(first, second)
  assert.notEqual(first, afterwards)
  const tab = await Tab.open(await site.page(), 'same page')
  assert.equal(await tab.ask('who'), afterwards)
})

test('two databases at once have leaders of their own', async (t) => {
  const site = await siteOf(t)
  const pages = [await site.page(), await site.page(), await site.page()]
  const one = []
  const two = []
  for (const page of pages) {
    one.push(await Tab.open(page, 'one'))
    await one.at(-1).insist('who')
  }
  for (const page of pages.toReversed()) {
    two.push(await Tab.open(page, 'two'))
    await two.at(-1).insist('who')
  }
  await one[1].ask('put', 'key', 'one')
  await two[1].ask('put', 'key', 'two')
  assert.equal(await leaderOf(one), one[0])
  assert.equal(await leaderOf(two), two[0])
  await pages[0].close()
  assert.equal((await workersOf(one.slice(1))).length, 1)
  assert.equal((await workersOf(two.slice(0, 2))).length, 1)
  assert.equal(await leaderOf(two.slice(0, 2)), two[0])
  assert.deepEqual(await two[0].events(), ['own channel'])
  assert.equal(await one[1].ask('get', 'key'), 'one')
  assert.equal(await two[1].ask('get', 'key'), 'two')
})

/** A worker for which it is late once a lock is free. */
const LATE_WHEN_FREE = `
  navigator.locks.request('clock', { mode: 'shared' }, () => {
    globalThis.isLate = true
  })
`

/** Holds the clock of workers in a page. If it was held before, it is late for those that wait. */
const holdClock = (page) =>
  page.evaluate(
    () =>
      new Promise((resolve) => {
        globalThis.letClockGo?.()
        navigator.locks.request('clock', () => {
          resolve()
          return new Promise((letGo) => {
            globalThis.letClockGo = letGo
          })
        })
      })
  )

test('a leader that cannot open the database tells every tab, and the next one tries', async (t) => {
  const owner = `
    import { Level } from './terrace.js'
    const db = new Level('failing')
    addEventListener('message', () => db.close().then(() => postMessage('closed')))
    db.open().then(() => postMessage('open'))
  `
  const files = await tabsFiles('/')
  const site = await siteOf(t, {
    '/owner.js': owner,
    '/terrace.js': readFileSync(fileURLToPath(import.meta.resolve('terrace/browser'))),
    '/terrace-worker.js': LATE_WHEN_FREE + files['/terrace-worker.js']
  })
  const page = await site.page()
  await holdClock(page)
  await page.evaluate(
    () =>
      new Promise((resolve) => {
        globalThis.owner = new Worker('/owner.js', { type: 'module' })
        globalThis.owner.onmessage = resolve
      })
  )
  const pages = [await site.page(), await site.page(), await site.page()]
  const tabs = [await Tab.open(page, 'failing')]
  await tabs[0].leads()
  for (const page of pages) tabs.push(await Tab.open(page, 'failing'))
  await isWaitedFor(page, 'clock')
  await holdClock(page)
  await tabs[0].seen('own failure LEVEL_LOCKED')
  await Promise.all(tabs.slice(1).map((tab) => tab.seen('failure LEVEL_LOCKED')))
  await page.evaluate(
    () =>
      new Promise((resolve) => {
        globalThis.owner.onmessage = resolve
        globalThis.owner.postMessage('close')
      })
  )
  assert.equal((await workersOf(tabs.slice(1))).length, 1)
  await tabs[0].join('failing')
  assert.equal((await workersOf(tabs)).length, 1)
  assert.deepEqual(await tabs[0].events(), ['own failure LEVEL_LOCKED', 'channel'])
})

test("each tab opens the database with its own options, another's failure is no reason to give up", async (t) => {
  const site = await siteOf(t)
  const strict = await Tab.open(await site.page(), 'options', { createIfMissing: false })
  await strict.seen('own failure LEVEL_DATABASE_MISSING')
  assert.equal(await strict.isLeader(), false)
  const first = await Tab.open(await site.page(), 'options', { errorIfExists: true }, { cacheSize: 1 })
  assert.deepEqual(await first.ask('options'), { errorIfExists: true })
  await strict.join('options', { createIfMissing: false }, { cacheSize: 2 })
  assert.deepEqual(await strict.ask('options'), { errorIfExists: true })
  await first.page.reload()
  assert.deepEqual(await strict.insist('options'), { cacheSize: 2 })
  const exists = await Tab.open(await site.page(), 'options', { errorIfExists: true })
  await exists.insist('who')
  await strict.page.close()
  // Without options for later, those for the first time count again.
  await exists.seen('own failure LEVEL_DATABASE_EXISTS')
})

test('a worker that dies while it opens the database is told to every tab, and the next one tries', async (t) => {
  const site = await siteOf(t)
  const pages = [await site.page(), await site.page()]
  await pages[1].evaluate(
    () =>
      new Promise((resolve) => {
        navigator.locks.request('alive', () => {
          resolve()
          return new Promise((die) => {
            globalThis.die = die
          })
        })
      })
  )
  const dying = await Tab.open(pages[0], 'dies', { die: true })
  await dying.leads()
  const tab = await Tab.open(pages[1], 'dies')
  await pages[1].evaluate(() => globalThis.die())
  await dying.seen('own failure LEVEL_INTERNAL_ERROR')
  await tab.insist('who')
  assert.deepEqual(await tab.events(), ['failure LEVEL_INTERNAL_ERROR', 'own channel'])
})

test('a worker that cannot be started is told, and the next leader tries', async (t) => {
  const site = await siteOf(t)
  const pages = [await site.page(), await site.page()]
  await pages[0].evaluate(() => {
    globalThis.Worker = class extends Worker {
      constructor() {
        super('/missing.js', { type: 'module' })
      }
    }
  })
  const broken = await Tab.open(pages[0], 'no worker')
  await broken.seen('own failure LEVEL_NOT_SUPPORTED')
  const tab = await Tab.open(pages[1], 'no worker')
  // Only then: if the other one overtook it, that would lead, and fail.
  await tab.leads()
  await broken.join('no worker')
  assert.equal((await workersOf([tab, broken])).length, 1)
  await tab.page.close()
  await broken.seen('own failure LEVEL_NOT_SUPPORTED', 2)
})

test('whoever asks a tab that takes no part any more is told so', async (t) => {
  const site = await siteOf(t)
  const tab = await Tab.open(await site.page(), 'no part', { createIfMissing: false })
  await assert.rejects(tab.insist('who'), /takes no part any more: LEVEL_DATABASE_MISSING/)
  await tab.join('no part')
  await tab.insist('who')
})
