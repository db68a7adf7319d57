// How a tab reaches the worker of another: through ports that a shared worker passes on, or broadcast channels.
//
// Long: dozens of pages, and waits for what a browser lacks.

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

/** Checks what a channel promises, and whether it uses a port or broadcasts. */
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
        const { port } = new SharedWorker('/terrace-broker.js', { type: 'module', name: 'terrace' })
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
  const origin = await serveTabsSite(t, { '/terrace-broker.js': undefined })
  await join(await openPage(t, origin), 'no broker')
  await checkWay(await join(await openPage(t, origin), 'no broker'), true)
})

test('a tab whose shared worker says nothing reaches the leader', async (t) => {
  const origin = await serveTabsSite(t, { '/terrace-broker.js': '' })
  await join(await openPage(t, origin), 'silent broker')
  await checkWay(await join(await openPage(t, origin), 'silent broker'), true)
})

/** A page whose tab asks the leader again when `askAgain()` is called, not after a second. `hasAsked` says that it has, by the broker. */
async function askingPage(t, origin) {
  const page = await openPage(t, origin)
  await page.evaluate(() => {
    globalThis.setInterval = (askAgain) => {
      globalThis.askAgain = askAgain
      return 0
    }
    const { postMessage } = BroadcastChannel.prototype
    BroadcastChannel.prototype.postMessage = function (message) {
      if (message.kind === 'introduce' && message.broker !== undefined) globalThis.hasAsked = true
      return postMessage.call(this, message)
    }
  })
  return page
}

test('a tab that asks again, since the leader waits for its shared worker, keeps the channel that it gets', async (t) => {
  const origin = await serveTabsSite(t)
  const slow = await openPage(t, origin)
  await slow.evaluate(() => {
    const { postMessage } = Worker.prototype
    Worker.prototype.postMessage = function (message, ...rest) {
      if (message.kind !== 'line') postMessage.call(this, message, ...rest)
      else globalThis.giveLine = () => postMessage.call(this, message, ...rest)
    }
  })
  const leader = await join(slow, 'asks again')
  const page = await askingPage(t, origin)
  const tab = await Tab.open(page, 'asks again')
  await page.waitForFunction(() => globalThis.hasAsked)
  await page.evaluate(() => globalThis.askAgain())
  await checkWay(tab, true)

  await slow.evaluate(() => globalThis.giveLine())
  // The worker has answered all questions that are older.
  await checkWay(await join(await askingPage(t, origin), 'asks again'), false)
  assert.equal((await workersOf([leader, tab])).length, 1)
  assert.deepEqual(await tab.events(), ['channel'])
})

test('a tab that gets a port in the moment in which it asks again has a channel in the end', async (t) => {
  const origin = await serveTabsSite(t)
  const leader = await join(await openPage(t, origin), 'moment')
  const page = await askingPage(t, origin)
  await page.evaluate(() => {
    const { get, set } = Object.getOwnPropertyDescriptor(MessagePort.prototype, 'onmessage')
    let isFirst = true
    Object.defineProperty(MessagePort.prototype, 'onmessage', {
      get,
      set(listener) {
        set.call(this, (event) => {
          if (event.ports.length > 0 && isFirst) {
            isFirst = false
            globalThis.askAgain()
          }
          listener(event)
        })
      }
    })
  })
  const tab = await Tab.open(page, 'moment')
  await tab.seen('channel', 2)
  assert.deepEqual(await tab.events(), ['channel', 'lost', 'channel'])
  assert.equal((await workersOf([leader, tab])).length, 1)
})
