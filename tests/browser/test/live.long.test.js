// A live page: its list follows writes made from Node. What a page has on the server goes with it.
//
// Long: a browser more, for what the tests of terrace-net try in Node.

import assert from 'node:assert/strict'
import { NetLevel } from 'terrace-net'
import { until } from '../../support/waiting.mjs'
import { useBrowser } from './support/browser.js'
import { test } from './support/patient-test.js'
import { serve } from './support/served.js'
import { serveSite } from './support/site.js'

const openPage = useBrowser()

/** Shows the entries of a sublevel as a list, and keeps it up to date. */
async function showList(address) {
  const { NetLevel } = await import('/terrace-net.js')
  const db = new NetLevel(address)
  const fruit = db.sublevel('fruit')
  const list = document.body.appendChild(document.createElement('ul'))
  const entries = new Map()
  const show = () => {
    const items = [...entries].sort().map(([key, value]) => {
      const item = document.createElement('li')
      item.textContent = `${key}: ${value}`
      return item
    })
    list.replaceChildren(...items)
  }
  const writes = db.watch({ sublevel: fruit })
  for await (const [key, value] of fruit.iterator()) entries.set(key, value)
  show()
  const follow = async () => {
    for await (const operations of writes) {
      for (const operation of operations) {
        if (operation.type === 'put') entries.set(operation.key, operation.value)
        else if (operation.type === 'del') entries.delete(operation.key)
        else for (const key of entries.keys()) if (operation.includes(key)) entries.delete(key)
      }
      show()
    }
  }
  follow()
}

const shows = (page, lines) =>
  page.waitForFunction(
    (wanted) => [...document.querySelectorAll('li')].map((item) => item.textContent).join('\n') === wanted,
    lines.join('\n')
  )

/** Resolves once the server has so many sessions. */
const hasSessions = (server, count) =>
  until(() => server.statistics().open.sessions === count, `${count} sessions`)

test('the list of a page follows puts, batches, deletions and clears from Node', async (t) => {
  const origin = await serveSite(t)
  const { address } = await serve(t, { origins: [origin] })
  const db = new NetLevel(address)
  t.after(() => db.close())
  const fruit = db.sublevel('fruit')
  await fruit.put('apple', '1')
  await db.put('elsewhere', 'not shown')

  const page = await openPage(t, origin)
  await page.evaluate(showList, address)
  await shows(page, ['apple: 1'])
  await fruit.put('pear', '2')
  await shows(page, ['apple: 1', 'pear: 2'])
  await db.batch([
    { type: 'put', key: 'cherry', value: '3', sublevel: fruit },
    { type: 'del', key: 'apple', sublevel: fruit },
    { type: 'put', key: 'elsewhere', value: 'still not shown' }
  ])
  await shows(page, ['cherry: 3', 'pear: 2'])
  await fruit.clear({ lt: 'd' })
  await shows(page, ['pear: 2'])
  await fruit.clear()
  await shows(page, [])
  assert.deepEqual(page.problems, [])
})

test('a page that is reloaded or closed leaves no session, iterator or subscription', async (t) => {
  const origin = await serveSite(t)
  const { db, server, address } = await serve(t, { origins: [origin], limits: { sessionMs: 20 } })
  const page = await openPage(t, origin)
  const open = () =>
    page.evaluate(async (address) => {
      const { NetLevel } = await import('/terrace-net.js')
      const db = new NetLevel(address)
      db.watch()
      await db.put('a', '1')
      globalThis.kept = [db, db.iterator(), db.snapshot()]
      await globalThis.kept[1].next()
    }, address)

  await open()
  assert.deepEqual(
    { ...server.statistics().open },
    { connections: 1, sessions: 1, iterators: 1, snapshots: 1, watches: 1, changes: 0 }
  )
  assert.equal(db.listenerCount('write'), 1)
  await page.reload()
  await hasSessions(server, 0)
  await open()
  await hasSessions(server, 1)
  await page.close()
  await hasSessions(server, 0)
  assert.deepEqual(
    { ...server.statistics().open },
    { connections: 0, sessions: 0, iterators: 0, snapshots: 0, watches: 0, changes: 0 }
  )
  assert.equal(db.listenerCount('write'), 0)
})
