// Readers beside a writer in another process that repeatedly opens, writes, compacts and closes. TERRACE_BESIDE_BATCHES=300000
// makes it run longer.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { scaled } from '../../../tests/support/form.mjs'
import { HANG_MS } from '../../../tests/support/waiting.mjs'
import { openLevel } from './support/databases.js'

/** How many batches the writer writes at least, and how often each reader looks at least. */
const BATCHES = Number(process.env.TERRACE_BESIDE_BATCHES ?? scaled(3000))
const LOOKS = BATCHES / 30
/** A reader that needs refreshes for longer than this never gets ahead of the writer. */
const PATIENCE_MS = HANG_MS
const writer = new URL('./support/beside-writer.js', import.meta.url)
/** How readers read. Without a mapping and with few tables open, files that the writer removes are gone for them. */
const ways = [{}, { mapTables: false }, { mapTables: false, maxOpenFiles: 2 }]

/** The number of the last batch that a reader shows. All of the batch must be there. */
async function shown(reader) {
  const entries = await reader.iterator().all()
  const first = Number(entries[0][1])
  assert.equal(entries[0][0], 'a')
  assert.deepEqual(entries.at(-1), ['z', String(first)])
  for (const [key, value] of entries.slice(1, -1)) {
    assert.ok(value.length >= 1000 && Number(value.slice(0, value.length / 1000)) <= first, key)
  }
  return first
}

test('readers open and refresh beside a process that opens, writes, compacts and closes', async (t) => {
  const db = await openLevel(t)
  await db.batch(['a', 'z'].map((key) => ({ type: 'put', key, value: '0' })))
  await db.close()

  const child = spawn(process.execPath, [fileURLToPath(writer), db.location], {
    stdio: ['pipe', 'pipe', 'inherit']
  })
  const ended = once(child, 'exit')
  let acknowledged = 0
  createInterface({ input: child.stdout }).on('line', (line) => {
    acknowledged = Number(line)
  })
  const counts = { opened: 0, refreshed: 0, outdated: 0 }

  /** An iterator of a reader without mapping may need a table that is gone. Then it says so, and a refresh helps. */
  async function look(reader) {
    const patienceEnd = performance.now() + PATIENCE_MS
    for (;;) {
      const least = acknowledged
      await reader.refresh()
      counts.refreshed++
      try {
        const last = await shown(reader)
        assert.ok(last >= least, `${last} is shown after ${least} was acknowledged`)
        return last
      } catch (error) {
        if (error.code !== 'LEVEL_OUTDATED' || performance.now() > patienceEnd) throw error
        counts.outdated++
      }
    }
  }

  async function read(options) {
    let looks = 0
    const isOver = () => acknowledged >= BATCHES && looks >= LOOKS
    while (!isOver()) {
      const reader = await openLevel(t, { readOnly: true, ...options }, db.location)
      counts.opened++
      let before = 0
      for (let round = 0; round < 10 && !isOver(); round++) {
        const last = await look(reader)
        looks++
        assert.ok(last >= before, `${last} after ${before}`)
        before = last
        await new Promise(setImmediate)
      }
      await reader.close()
    }
  }

  try {
    await Promise.all(ways.map(read))
  } finally {
    child.stdin.end()
    assert.deepEqual(await ended, [0, null], 'the writer works')
  }
  assert.ok(acknowledged > 0 && counts.opened >= ways.length)
  t.diagnostic(`${acknowledged} batches written; ${JSON.stringify(counts)}`)
})
