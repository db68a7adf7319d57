// Connections to IndexedDB that are lost: the browser closes them, others delete the database or raise its version, the tab is killed.
//
// Long: tabs are killed.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { until } from '../../support/waiting.mjs'
import { useBrowser } from './support/browser.js'
import { serveLevel } from './support/indexeddb.js'
import { test } from './support/patient-test.js'

const KILLS = Number(process.env.TERRACE_KILLS ?? 4)

/** Each batch of the killed tab writes its number under so many keys. */
const BATCH_KEYS = 40

const openPage = useBrowser()

/** Opens a page with a database, and counts the connections that are opened from then on. */
async function openDatabase(t, origin) {
  const page = await openPage(t, origin)
  await page.evaluate(async () => {
    const { IndexedDbLevel } = await import('/level.js')
    globalThis.db = new IndexedDbLevel('lost')
    await globalThis.db.batch(
      Array.from({ length: 500 }, (_, i) => ({ type: 'put', key: String(1000 + i), value: `v${i}` }))
    )
    globalThis.opened = 0
    const { open } = IDBFactory.prototype
    IDBFactory.prototype.open = function (...args) {
      globalThis.opened++
      return open.apply(this, args)
    }
  })
  return page
}

test('calls go on while another tab raises the version, with the same state for iterators', async (t) => {
  const origin = await serveLevel(t)
  const page = await openDatabase(t, origin)
  const other = await openPage(t, origin)
  await page.evaluate(async () => {
    globalThis.iterator = globalThis.db.keys()
    globalThis.seen = await globalThis.iterator.nextv(10)
    await globalThis.db.del('1400')
  })
  await other.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const request = indexedDB.open('level-js-lost', 7)
        request.onsuccess = () => resolve(request.result.close())
        request.onblocked = () => reject(new Error('blocked'))
      })
  )
  const seen = await page.evaluate(async () => {
    const { db, iterator } = globalThis
    const first = db.put('2000', 'new')
    const rest = await iterator.all()
    await first
    return [
      globalThis.seen.length + rest.length,
      rest.includes('1400'),
      await db.has('1400'),
      globalThis.opened
    ]
  })
  assert.deepEqual(seen, [500, true, false, 1])
})

test('when another tab deletes the database, calls say so, and opened again it is empty', async (t) => {
  const origin = await serveLevel(t)
  const page = await openDatabase(t, origin)
  const other = await openPage(t, origin)
  await page.evaluate(() => {
    globalThis.snapshot = globalThis.db.snapshot()
  })
  await other.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const request = indexedDB.deleteDatabase('level-js-lost')
        request.onsuccess = () => resolve()
        request.onblocked = () => reject(new Error('blocked'))
      })
  )
  const seen = await page.evaluate(async () => {
    const { db, snapshot } = globalThis
    const events = []
    db.on('storageLost', ({ code }) => events.push(code))
    const iterator = db.iterator({ snapshot })
    const calls = [db.put('a', '1'), db.get('1000'), db.get('1000', { snapshot }), iterator.next()]
    const codes = await Promise.all(calls.map((call) => call.catch(({ code }) => code)))
    await iterator.close()
    await snapshot.close()
    await db.close()
    await db.open()
    await db.put('a', '1')
    return [...codes, await db.iterator().all(), events]
  })
  const lost = 'LEVEL_STORAGE_LOST'
  assert.deepEqual(seen, [lost, lost, lost, lost, [['a', '1']], [lost]])
})

test('calls whose transaction the browser ends are done again by a new connection, once', async (t) => {
  const page = await openDatabase(t, await serveLevel(t))
  const seen = await page.evaluate(async () => {
    const { db } = globalThis
    const failing = async (count, prototype, name, how, work) => {
      const original = prototype[name]
      prototype[name] = function (...args) {
        if (count-- <= 0) return original.apply(this, args)
        return how(this)
      }
      globalThis.opened = 0
      const result = await work().catch(({ code }) => code)
      Object.assign(prototype, { [name]: original })
      return [result, globalThis.opened]
    }
    const ended = (each) => each.abort()
    const closed = () => {
      throw new DOMException('The database connection is closing.', 'InvalidStateError')
    }
    const snapshot = db.snapshot()
    const put = (value) => () => db.put('1000', value).then(() => db.get('1000'))
    const results = [
      await failing(1, IDBTransaction.prototype, 'commit', ended, put('once')),
      await failing(1, IDBDatabase.prototype, 'transaction', closed, put('closed')),
      await failing(1, IDBTransaction.prototype, 'commit', ended, () => db.get('1001')),
      await failing(2, IDBTransaction.prototype, 'commit', ended, put('twice')),
      await failing(2, IDBDatabase.prototype, 'transaction', closed, () => db.keys().all())
    ]
    const states = [await db.get('1000'), await db.get('1000', { snapshot })]
    const refused = await db.put('1000', 'refused').catch(({ code }) => code)
    await snapshot.close()
    await db.close()
    await db.open()
    await db.put('1000', 'opened again')
    return [results, states, refused, await db.get('1000')]
  })
  assert.deepEqual(seen, [
    [
      ['once', 1],
      ['closed', 1],
      ['v1', 1],
      ['LEVEL_IO_ERROR', 1],
      // The one that the last call has left, and another one.
      ['LEVEL_IO_ERROR', 2]
    ],
    ['closed', 'v0'],
    'LEVEL_WRITES_REFUSED',
    'opened again'
  ])
})

test('while the browser opens no database, as when it removes data, calls wait, for a time', async (t) => {
  const page = await openDatabase(t, await serveLevel(t))
  const seen = await page.evaluate(async () => {
    const { db } = globalThis
    const { open } = IDBFactory.prototype
    const { transaction } = IDBDatabase.prototype
    const refusing = async (count, name, work) => {
      IDBFactory.prototype.open = function (...args) {
        if (count-- <= 0) return open.apply(this, args)
        globalThis.opened++
        const request = { error: new DOMException('Internal error opening backing store', name) }
        setTimeout(() => request.onerror())
        return request
      }
      IDBDatabase.prototype.transaction = () => {
        IDBDatabase.prototype.transaction = transaction
        throw new DOMException('The database connection is closing.', 'InvalidStateError')
      }
      globalThis.opened = 0
      const result = await work().catch(({ code }) => code)
      return [result, globalThis.opened]
    }
    const put = (value) => () => db.put('1000', value).then(() => db.get('1000'))
    const results = [
      await refusing(3, 'UnknownError', put('waited')),
      await refusing(Number.POSITIVE_INFINITY, 'UnknownError', () => db.get('1000')),
      await refusing(1, 'QuotaExceededError', () => db.get('1000')),
      await refusing(2, 'AbortError', put('once more')),
      await refusing(Number.POSITIVE_INFINITY, 'UnknownError', async () => {
        const read = db.get('1000').catch(({ code }) => code)
        await db.close()
        return await read
      })
    ]
    IDBFactory.prototype.open = open
    await db.open()
    return [results, await db.get('1000')]
  })
  assert.deepEqual(seen, [
    [
      ['waited', 4],
      ['LEVEL_IO_ERROR', 20],
      ['LEVEL_QUOTA_EXCEEDED', 1],
      // The one that the last call has not opened, and another one.
      ['once more', 4],
      ['LEVEL_DATABASE_NOT_OPEN', 1]
    ],
    'once more'
  ])
})

test('a tab that is killed leaves every write that was acknowledged, and no part of a batch', async (t) => {
  const origin = await serveLevel(t)
  let least = 0
  let batches = 0
  for (let kill = 1; kill <= KILLS; kill++) {
    const page = await openPage(t, origin)
    const acknowledged = []
    await page.exposeFunction('acknowledge', (number) => acknowledged.push(number))
    const found = await page.evaluate(
      async ([keys, least]) => {
        const { IndexedDbLevel } = await import('/level.js')
        const db = new IndexedDbLevel('killed', { valueEncoding: 'json' })
        await db.open()
        const values = await db.values().all()
        const write = (number) =>
          db.batch(
            Array.from({ length: keys }, (_, i) => ({ type: 'put', key: `k${i}`, value: number })),
            { sync: number % 5 === 0 }
          )
        let next = least
        const loop = async () => {
          for (;;) {
            const number = ++next
            await write(number)
            globalThis.acknowledge(number)
          }
        }
        // A few are always on their way.
        for (let i = 0; i < 4; i++) loop()
        return values
      },
      [BATCH_KEYS, least + 100]
    )
    if (kill > 1) {
      assert.equal(found.length, BATCH_KEYS)
      assert.equal(new Set(found).size, 1, `parts of several batches: ${new Set(found)}`)
      assert.ok(found[0] >= least, `${least} was acknowledged, ${found[0]} is there`)
    }
    await until(() => acknowledged.length >= 20 * kill)
    const crashed = once(page, 'crash')
    page.goto('chrome://crash').catch(() => {})
    await crashed
    least = Math.max(...acknowledged)
    batches += acknowledged.length
  }
  t.diagnostic(`${KILLS} kills, ${batches} batches acknowledged`)
})
