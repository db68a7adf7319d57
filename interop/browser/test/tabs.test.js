// Several tabs share a database: one leads, and has it open in its worker; the others get channels to that worker, and one of them leads when the
// leader is gone. TERRACE_KILLS=100 kills more leaders.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crash, freeze, thaw, useBrowser } from './support/browser.js'
import { leaderOf, serveTabsSite, Tab, workersOf } from './support/tabs.js'

const KILLS = Number(process.env.TERRACE_KILLS ?? 6)

const openPage = useBrowser()

/** So many tabs, of which the first leads. */
async function openTabs(t, origin, location, count = 5) {
  const tabs = []
  for (let number = 0; number < count; number++) {
    tabs.push(await Tab.open(await openPage(t, origin), location))
    await tabs[number].insist('who')
  }
  return tabs
}

/** Checks that another tab leads all that are left, and says how long that took since `begin`. */
async function checkTakeover(t, what, former, others, begin) {
  const [worker, ...more] = await workersOf(others)
  assert.deepEqual(more, [])
  assert.notEqual(worker, former)
  const leader = await leaderOf(others)
  const times = await Promise.all(
    others.map((tab) => tab.seen(tab === leader ? 'own channel' : 'channel', tab === leader ? 1 : 2))
  )
  const losses = await Promise.all(others.map((tab) => tab.seen('lost')))
  const since = (begins) => times.map((time, index) => time - begins(index)).join(', ')
  t.diagnostic(
    `${what}: all have the next leader after ${since(() => begin)} ms, and ${since((index) => losses[index])} ms without one`
  )
  assert.equal(await leader.insist('get', 'before'), 'the end')
}

/** Five tabs, whose leader ends in some way. Returns the tabs. */
async function takeOver(t, what, end) {
  const tabs = await openTabs(t, await serveTabsSite(t), what)
  const [former] = await workersOf(tabs)
  await tabs[4].ask('put', 'before', 'the end')
  const begin = Date.now()
  await end(tabs[0])
  await checkTakeover(t, what, former, tabs.slice(1), begin)
  return tabs
}

test('the tabs of a database have channels to one worker, and another tab leads when the leader is closed', (t) =>
  takeOver(t, 'closed', (tab) => tab.page.close()))

test('another tab leads when the leader has crashed', (t) => takeOver(t, 'crashed', (tab) => crash(tab.page)))

test('another tab leads when the leader is reloaded, which joins as one of the others', async (t) => {
  const tabs = await takeOver(t, 'reloaded', async (tab) => {
    await tab.page.reload()
    await tab.join('reloaded')
  })
  assert.equal((await workersOf(tabs)).length, 1)
  assert.equal(await tabs[0].isLeader(), false)
})

test('another tab leads when the leader is frozen, which joins again when it goes on', async (t) => {
  const tabs = await takeOver(t, 'frozen', (tab) => freeze(tab.page))
  await thaw(tabs[0].page)
  assert.equal((await workersOf(tabs)).length, 1)
  assert.deepEqual(await tabs[0].events(), ['own channel', 'lost', 'channel'])
})

test('another tab leads when the worker of the leader has ended, whose tab joins again', async (t) => {
  const tabs = await takeOver(t, 'ended', async (tab) => {
    await tab.ask('die')
    await tab.seen('lost')
  })
  assert.equal((await workersOf(tabs)).length, 1)
  assert.deepEqual(await tabs[0].events(), ['own channel', 'lost', 'channel'])
})
