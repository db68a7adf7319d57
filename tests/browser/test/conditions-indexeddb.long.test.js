// Conditional writes in IndexedDB: several connections that no lock keeps apart, and transactions that the browser ends.
//
// Long: one database of IndexedDB is in the smoke test.

import assert from 'node:assert/strict'
import { useBrowser } from './support/browser.js'
import { serveLevel } from './support/indexeddb.js'
import { test } from './support/patient-test.js'

const openPage = useBrowser()

const PAGES = 3
const INCREMENTS = 60

/** Opens a page whose browser has no locks. */
async function openWithoutLocks(t, origin) {
  const page = await openPage(t, origin)
  await page.evaluate(() => Object.defineProperty(navigator, 'locks', { value: undefined }))
  return page
}

test('tabs that no lock keeps apart count without a lost increment', async (t) => {
  const origin = await serveLevel(t)
  const pages = await Promise.all(Array.from({ length: PAGES }, () => openWithoutLocks(t, origin)))
  const conflicts = await Promise.all(
    pages.map((page) =>
      page.evaluate(async (increments) => {
        const { IndexedDbLevel } = await import('/level.js')
        const db = new IndexedDbLevel('count', { valueEncoding: 'json', allowMissingLocks: true })
        let conflicts = 0
        for (let done = 0; done < increments; ) {
          const count = await db.get('count')
          const condition =
            count === undefined ? { key: 'count', exists: false } : { key: 'count', value: count }
          try {
            await db.put('count', (count ?? 0) + 1, { if: [condition] })
            done++
          } catch (error) {
            if (error.code !== 'LEVEL_CONFLICT') throw error
            conflicts++
          }
        }
        globalThis.db = db
        return conflicts
      }, INCREMENTS)
    )
  )
  assert.equal(await pages[0].evaluate(() => globalThis.db.get('count')), PAGES * INCREMENTS)
  const all = conflicts.reduce((sum, each) => sum + each)
  t.diagnostic(`${all} conflicts`)
  assert.ok(all > 0, 'the tabs met')
})

/**
 * Opens a database with the entry `a` in a page. `losing(how, work)` has the next transactions end in these ways: `undone` before they are
 * committed, `late` after their requests, `stored` though that is not reported. Resolves with the code of the work's error.
 */
async function openLosing(page) {
  await page.evaluate(async () => {
    const { IndexedDbLevel } = await import('/level.js')
    globalThis.db = new IndexedDbLevel('lost', { allowMissingLocks: true })
    await globalThis.db.put('a', '1')
    const { commit } = IDBTransaction.prototype
    const ways = {
      undone: (transaction) => transaction.abort(),
      late(transaction) {
        const request = transaction.objectStore(transaction.objectStoreNames[0]).count()
        request.onsuccess = () => transaction.abort()
      },
      stored(transaction) {
        transaction.oncomplete = () => transaction.onabort()
        commit.call(transaction)
      }
    }
    globalThis.losing = async (how, work) => {
      const left = [...how]
      IDBTransaction.prototype.commit = function () {
        const way = left.shift()
        return way === undefined ? commit.call(this) : ways[way](this)
      }
      const result = await work().then(
        () => 'done',
        ({ code }) => code
      )
      IDBTransaction.prototype.commit = commit
      return [result, left.length]
    }
  })
}

test('a write with conditions whose transaction the browser ends is done once', async (t) => {
  const page = await openPage(t, await serveLevel(t))
  await openLosing(page)
  const seen = await page.evaluate(async () => {
    const { db, losing } = globalThis
    const results = []
    for (const how of ['undone', 'late', 'stored']) {
      const value = await db.get('a')
      const put = (next, condition) => () => db.put('a', next, { if: [condition] })
      results.push([how, await losing([how], put(`${value}+`, { key: 'a', value })), await db.get('a')])

      // What the lost transaction was about to write is no change of the range.
      const snapshot = db.snapshot()
      const unchanged = { gte: 'a', unchangedSince: snapshot }
      results.push([await losing([how], put(`${value}++`, unchanged)), await db.get('a')])
      results.push([await losing([], put('no', unchanged)), await db.get('a', { snapshot })])
      await snapshot.close()

      const conflict = () => db.put('a', 'no', { if: [{ key: 'a', exists: false }] })
      results.push([await losing([how], conflict), await db.get('a')])
    }
    await db.put('later', '1')
    return [results, await db.keys().all()]
  })
  const done = ['done', 0]
  const conflict = ['LEVEL_CONFLICT', 0]
  assert.deepEqual(seen, [
    [
      ['undone', '1'],
      ['late', '1++'],
      ['stored', '1++++']
    ].flatMap(([how, value]) => [
      [how, done, `${value}+`],
      [done, `${value}++`],
      [conflict, `${value}+`],
      [conflict, `${value}++`]
    ]),
    ['a', 'later']
  ])
})

test('where others may write, a write with conditions that may be stored fails, and so do later ones', async (t) => {
  const page = await openWithoutLocks(t, await serveLevel(t))
  await openLosing(page)
  const seen = await page.evaluate(async () => {
    const { db, losing } = globalThis
    const put = (next, value) => () => db.put('a', next, { if: [{ key: 'a', value }] })
    const results = [
      await losing(['undone'], put('2', '1')),
      await losing(['stored'], put('3', '2')),
      await db.get('a'),
      await losing([], put('4', '3'))
    ]
    await db.close()
    await db.open()
    await put('5', '3')()
    return [...results, await db.get('a')]
  })
  assert.deepEqual(seen, [['done', 0], ['LEVEL_IO_ERROR', 0], '3', ['LEVEL_WRITES_REFUSED', 0], '5'])
})
