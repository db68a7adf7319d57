// Snapshots and iterators over IndexedDB: histories at random beside a model, in a page and in a worker.
//
// Long: histories at random.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { useBrowser } from './support/browser.js'
import { serveLevel } from './support/indexeddb.js'
import { test } from './support/patient-test.js'

/** TERRACE_HISTORIES=1000 runs more, TERRACE_SEED those of another run. */
const HISTORIES = Number(process.env.TERRACE_HISTORIES ?? 25)
const FIRST = Number(process.env.TERRACE_SEED ?? Date.now() % 1_000_000_000)
const STEPS = 150

const openPage = useBrowser()

const files = {
  '/history.js': readFileSync(new URL('support/indexeddb-history.js', import.meta.url)),
  '/run.js': `
    import { IndexedDbLevel } from '/level.js'
    import { runHistory } from '/history.js'
    export async function run(first, count, steps) {
      let checks = 0
      for (let seed = first; seed < first + count; seed++) checks += await runHistory(IndexedDbLevel, seed, steps)
      return checks
    }
  `,
  '/worker.js': `
    import { run } from '/run.js'
    // As browsers are that cannot read pages backwards.
    delete IDBObjectStore.prototype.getAllRecords
    onmessage = ({ data }) =>
      run(...data).then((checks) => postMessage({ checks }), ({ message }) => postMessage({ message }))
  `
}

test(`a view always shows the same state, and one that there was, in a page (TERRACE_SEED=${FIRST})`, async (t) => {
  const page = await openPage(t, await serveLevel(t, files))
  const checks = await page.evaluate(
    (given) => import('/run.js').then(({ run }) => run(...given)),
    [FIRST, HISTORIES, STEPS]
  )
  t.diagnostic(`${checks} reads checked`)
  assert.ok(checks > HISTORIES * 10)
  assert.deepEqual(page.problems, [])
})

test(`and in a worker, without getAllRecords() (TERRACE_SEED=${FIRST + HISTORIES})`, async (t) => {
  const page = await openPage(t, await serveLevel(t, files))
  const { checks, message } = await page.evaluate(
    (given) =>
      new Promise((resolve) => {
        const worker = new Worker('/worker.js', { type: 'module' })
        worker.onmessage = ({ data }) => resolve(data)
        worker.postMessage(given)
      }),
    [FIRST + HISTORIES, HISTORIES, STEPS]
  )
  assert.equal(message, undefined)
  t.diagnostic(`${checks} reads checked`)
  assert.ok(checks > HISTORIES * 10)
})
