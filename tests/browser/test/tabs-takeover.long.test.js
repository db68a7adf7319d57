// Tabs that share a database lose their leader in all ways, and another leads. TERRACE_KILLS=100 kills more leaders.
//
// Long: leaders end in all ways, in real time.

import assert from 'node:assert/strict'
import { crash, freeze, freezeHidden, hide, thaw, useBrowser } from './support/browser.js'
import { test } from './support/patient-test.js'
import { endLeaderOf, leaderOf, openTabs, serveTabsSite, workersOf } from './support/tabs.js'

const KILLS = Number(process.env.TERRACE_KILLS ?? 6)

/** Ways in which a tab ends for good. */
const ENDS = {
  close: (page) => page.close(),
  crash,
  leave: (page) => page.goto('about:blank'),
  freeze
}

/** Playwright has the browser keep no pages for the way back. */
const openPage = useBrowser({ ignoreDefaultArgs: ['--disable-back-forward-cache'] })

/** Checks that another tab leads all remaining ones, and prints how long that took since `begin`. */
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
  const tabs = await openTabs(await serveTabsSite(t), (origin) => openPage(t, origin), what)
  const [former] = await workersOf(tabs)
  await tabs[4].ask('put', 'before', 'the end')
  const begin = Date.now()
  await endLeaderOf(tabs.slice(1), () => end(tabs[0]))
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

test('another tab leads when the page of the leader is kept for the way back, which joins again when it is shown', async (t) => {
  const tabs = await takeOver(t, 'kept', (tab) => tab.page.goto('about:blank'))
  await tabs[0].page.goBack({ waitUntil: 'commit' })
  // A call that is made at once may still meet the page that was left.
  await tabs[0].page.waitForFunction(() => globalThis.site !== undefined)
  assert.equal((await workersOf(tabs)).length, 1)
  assert.deepEqual(await tabs[0].events(), ['own channel', 'lost', 'channel'])
})

/** Takes locks in a page, and keeps them. */
const keepLocks = (page, names, options) =>
  page.evaluate(
    ([names, options]) =>
      Promise.all(
        names.map(
          (name) =>
            new Promise((resolve) => {
              navigator.locks.request(name, options, () => new Promise(() => resolve()))
            })
        )
      ),
    [names, options]
  )

test('a tab leads if a page holds the locks of the leader and of the next without knowing, as one that was just frozen', async (t) => {
  const origin = await serveTabsSite(t)
  await keepLocks(await openPage(t, origin), ['terrace:opfs:stuck', 'terrace:next:stuck'], {})
  const tabs = await openTabs(origin, (origin) => openPage(t, origin), 'stuck', 3)
  await tabs[2].ask('put', 'before', 'the end')
  assert.equal(await leaderOf(tabs), tabs[0])
  await tabs[0].leave()
  assert.equal((await workersOf(tabs.slice(1))).length, 1)
  assert.equal(await (await leaderOf(tabs.slice(1))).ask('get', 'before'), 'the end')
})

test('a tab leads when the browser freezes all others at once, and they join again when they go on', async (t) => {
  const origin = await serveTabsSite(t)
  for (let round = 0; round < 4; round++) {
    const tabs = await openTabs(origin, (origin) => openPage(t, origin), `frozen ${round}`, 4)
    const others = tabs.slice(0, 3)
    await hide(...others.map(({ page }) => page))
    await Promise.all(others.map(({ page }) => freezeHidden(page)))
    await tabs[3].seen('own channel')
    await Promise.all(others.map(({ page }) => thaw(page)))
    assert.equal((await workersOf(tabs)).length, 1)
    await leaderOf(tabs)
  }
})

test('a leader whose lock is taken from it joins again as one of the others', async (t) => {
  const origin = await serveTabsSite(t)
  const tabs = await openTabs(origin, (origin) => openPage(t, origin), 'stolen', 3)
  const thief = await openPage(t, origin)
  await keepLocks(thief, ['terrace:opfs:stolen'], { steal: true })
  await tabs[0].seen('lost')
  await thief.close()
  assert.equal((await workersOf(tabs)).length, 1)
  await leaderOf(tabs)
  assert.deepEqual(await tabs[0].events(), ['own channel', 'lost', 'channel'])
})

test('the last of five tabs leads when the others are closed at once', async (t) => {
  const tabs = await openTabs(await serveTabsSite(t), (origin) => openPage(t, origin), 'at once')
  await Promise.all(tabs.slice(0, 4).map((tab) => tab.page.close()))
  await tabs[4].seen('own channel')
  assert.equal(await tabs[4].insist('atMost', 1), 1)
})

test('one leader after another ends while all tabs write: the others have one and the same leader, and what was acknowledged', async (t) => {
  const origin = await serveTabsSite(t)
  let tabs = await openTabs(origin, (origin) => openPage(t, origin), 'kills', 4)
  const ends = Object.keys(ENDS)
  const workers = new Set(await workersOf(tabs))
  const written = {}
  const begin = async (tab) => {
    tab.prefix = `${Object.keys(written).length} `
    written[tab.prefix] = 0
    await tab.call('write', tab.prefix)
  }
  for (const tab of tabs) await begin(tab)

  for (let kill = 0; kill < KILLS; kill++) {
    for (const tab of tabs) await tab.call('writes', 20)
    const leader = await leaderOf(tabs)
    written[leader.prefix] = await leader.written()
    const way = ends[kill % ends.length]
    tabs = tabs.filter((tab) => tab !== leader)
    await endLeaderOf(tabs, () => ENDS[way](leader.page))
    const [worker, ...more] = await workersOf(tabs)
    assert.deepEqual(more, [], `after ${way}`)
    assert.ok(!workers.has(worker), `after ${way}`)
    workers.add(worker)
    const [another] = await openTabs(origin, (origin) => openPage(t, origin), 'kills', 1)
    await begin(another)
    tabs.push(another)
  }

  for (const tab of tabs) written[tab.prefix] = await tab.written()
  const missing = await Promise.all(
    Object.entries(written).map(([prefix, count]) => tabs[0].insist('missing', prefix, count))
  )
  const total = Object.values(written).reduce((sum, count) => sum + count)
  t.diagnostic(`${KILLS} leaders ended while ${Object.keys(written).length} tabs wrote ${total} entries`)
  assert.ok(total >= 20 * KILLS)
  assert.deepEqual(new Set(missing), new Set([0]))
})
