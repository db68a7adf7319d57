// The ways by which a tab reaches the worker of another: ports that a shared worker passes on, or broadcast channels.

import assert from 'node:assert/strict'
import { crash, useBrowser } from './support/browser.js'
import { test } from './support/patient-test.js'
import { serveTabsSite, Tab, tabsFiles, workersOf } from './support/tabs.js'

const openPage = useBrowser()

/** A page without shared workers, as in Chrome for Android. */
async function poorPage(t, origin) {
  const page = await openPage(t, origin)
  await page.evaluate(() => {
    delete globalThis.SharedWorker
  })
  return page
}

/** Checks what a channel promises, and by which way it goes. */
async function checkWay(tab, isBroadcast) {
  assert.equal(await tab.call('askInOrder', 500, 'who'), true)
  assert.equal(await tab.call('sendBytes', 5 << 20), 5 << 20)
  assert.equal(await tab.isBroadcast(), isBroadcast)
}

/** Opens a tab that reaches the leader of another. */
async function join(page, location) {
  const tab = await Tab.open(page, location)
  await tab.insist('who')
  return tab
}

test('a tab has a port to the worker of another', async (t) => {
  const origin = await serveTabsSite(t)
  await join(await openPage(t, origin), 'port')
  await checkWay(await join(await openPage(t, origin), 'port'), false)
})

test('without shared workers, tabs reach the leader by broadcast channels, and the next one', async (t) => {
  const origin = await serveTabsSite(t)
  const tabs = []
  for (let number = 0; number < 5; number++) tabs.push(await join(await poorPage(t, origin), 'poor'))
  for (const tab of tabs.slice(1)) await checkWay(tab, true)
  const [former] = await workersOf(tabs)
  assert.equal(await tabs[0].ask('atMost', 5), 5)

  await tabs[0].page.close()
  const others = tabs.slice(1)
  const [worker, ...more] = await workersOf(others)
  assert.deepEqual(more, [])
  assert.notEqual(worker, former)
  await others[3].leave()
  assert.equal(await others[2].ask('atMost', 3), 3)
  assert.deepEqual(await others[3].events(), ['channel', 'lost', 'channel'])
})

test('a leader that has shared workers serves a tab that has none, and the other way round', async (t) => {
  const origin = await serveTabsSite(t)
  const rich = await join(await openPage(t, origin), 'mixed')
  const poor = await join(await poorPage(t, origin), 'mixed')
  await checkWay(poor, true)
  await rich.page.close()
  await poor.seen('own channel')
  await checkWay(await join(await openPage(t, origin), 'mixed'), true)
})

test('a tab reaches the leader after the shared worker has died with the process of another tab', async (t) => {
  const origin = await serveTabsSite(t)
  // The shared worker runs in the process of the first page that needs it, which here is neither the leader nor a tab that stays.
  const first = await openPage(t, origin)
  await first.evaluate(
    () =>
      new Promise((resolve) => {
        const { port } = new SharedWorker('/broker.js', { type: 'module', name: 'terrace' })
        port.onmessage = resolve
        port.postMessage({ kind: 'hello' })
      })
  )
  const leader = await join(await openPage(t, origin), 'broker')
  const stays = await join(await openPage(t, origin), 'broker')
  await crash(first)
  const late = await join(await openPage(t, origin), 'broker')
  await checkWay(late, false)
  assert.equal((await workersOf([leader, stays, late])).length, 1)
  assert.deepEqual(await stays.events(), ['channel'])
  await leader.page.close()
  assert.equal((await workersOf([stays, late])).length, 1)
  await checkWay(late, false)
})

test('a tab of another version of the site, whose shared worker is another, reaches the leader', async (t) => {
  const origin = await serveTabsSite(t, await tabsFiles('/next/'))
  const old = await join(await openPage(t, origin), 'versions')
  const tab = new Tab(await openPage(t, origin))
  tab.module = '/next/tabs.js'
  await tab.join('versions')
  assert.equal((await workersOf([old, tab])).length, 1)
  await checkWay(tab, true)
  await old.page.close()
  await tab.seen('own channel')
})

test('a tab whose shared worker cannot be loaded reaches the leader', async (t) => {
  const origin = await serveTabsSite(t, { '/broker.js': undefined })
  await join(await openPage(t, origin), 'no broker')
  await checkWay(await join(await openPage(t, origin), 'no broker'), true)
})

test('a tab whose shared worker says nothing reaches the leader', async (t) => {
  const origin = await serveTabsSite(t, { '/broker.js': '' })
  await join(await openPage(t, origin), 'silent broker')
  await checkWay(await join(await openPage(t, origin), 'silent broker'), true)
})
