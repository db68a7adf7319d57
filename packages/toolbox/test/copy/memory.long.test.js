// A copy takes as much memory for many entries as for few.
//
// In the full form only: it copies a million entries.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { Level } from 'terrace'
import { copy } from 'terrace-toolbox/copy'
import { directory } from '../support/databases.js'

const MIB = 2 ** 20

/** The most memory that the work had in use outside the engine: objects and buffers, after collections. */
async function peakOf(work) {
  let peak = 0
  const measure = () => {
    global.gc()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    peak = Math.max(peak, heapUsed + arrayBuffers)
  }
  measure()
  const before = peak
  await work(measure)
  return peak - before
}

test('a million small entries, or 200 of 1 MB, are not held in memory', async (t) => {
  const many = new Level(join(directory(t), 'many'))
  t.after(() => many.close())
  for (let first = 0; first < 1_000_000; first += 10_000) {
    await many.batch(
      Array.from({ length: 10_000 }, (_, index) => ({
        type: 'put',
        key: String(first + index).padStart(9, '0'),
        value: 'small'
      }))
    )
  }
  const large = new Level(join(directory(t), 'large'), { valueEncoding: 'view' })
  t.after(() => large.close())
  for (let index = 0; index < 200; index++) {
    await large.put(`${100 + index}`, new Uint8Array(1_000_000).fill(index))
  }

  for (const [from, entries, limit] of [
    [many, 1_000_000, 24],
    [large, 200, 64]
  ]) {
    const to = new Level(join(directory(t), 'to'))
    for (const existing of ['refuse', 'overwrite']) {
      const peak = await peakOf(async (measure) => {
        const summary = await copy(from, to, { existing, onProgress: measure })
        assert.equal(summary.entries, entries)
      })
      t.diagnostic(`${entries} entries, ${existing}: ${(peak / MIB).toFixed(1)} MiB`)
      assert.ok(peak < limit * MIB, `${entries} entries took ${peak} bytes`)
    }
    await to.close()
  }
})
