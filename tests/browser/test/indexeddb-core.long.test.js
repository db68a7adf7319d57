// The histories at random of terrace-core's tests, over IndexedDB in a page: every way of writing, with hooks, against their model.
//
// Long: histories at random.

import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { useBrowser } from './support/browser.js'
import { bundleOf } from './support/bundles.js'
import { IMPORT_LEVEL } from './support/indexeddb.js'
import { test } from './support/patient-test.js'
import { serveSite } from './support/site.js'

/** TERRACE_HISTORIES=1000 runs more, TERRACE_SEED those of another run. */
const HISTORIES = Number(process.env.TERRACE_HISTORIES ?? 30)
const FIRST = Number(process.env.TERRACE_SEED ?? Date.now() % 1_000_000_000)

const openPage = useBrowser()
const fileOf = (path) => fileURLToPath(new URL(path, import.meta.url))

const PROGRAM = `
  import { runHistory } from ${JSON.stringify(fileOf('../../../packages/core/test/support/histories.js'))}
  import { Buffer } from 'buffer'
  ${IMPORT_LEVEL}

  globalThis.Buffer = Buffer

  export async function run(first, count) {
    let calls = 0
    for (let seed = first; seed < first + count; seed++) {
      calls += await runHistory(seed, new IndexedDbLevel('history ' + seed))
    }
    return calls
  }
`

test(`${HISTORIES} random histories of writes end, and leave what the model says (TERRACE_SEED=${FIRST})`, async (t) => {
  const node = fileOf('support/node-for-histories.js')
  const alias = { 'node:assert/strict': node, 'node:timers/promises': node, 'node:util': node }
  const page = await openPage(t, await serveSite(t, { '/run.js': await bundleOf(PROGRAM, alias) }))
  const calls = await page.evaluate(
    (given) => import('/run.js').then(({ run }) => run(...given)),
    [FIRST, HISTORIES]
  )
  t.diagnostic(`${calls} calls`)
  assert.ok(calls > HISTORIES * 5)
  assert.deepEqual(page.problems, [])
})
