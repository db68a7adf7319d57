// A slow reader holds no more than a page, however far behind it is.
//
// In the full form only: it writes a hundred thousand changes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { feed } from 'terrace-toolbox/feed'
import { memoryLeft } from '../../../../tests/support/memory-left.mjs'
import { databases } from '../support/databases.js'
import { next } from './support.js'

const CHANGES = 100_000
const AT_ONCE = 1000
const VALUE = 'x'.repeat(200)

async function memoryBytes() {
  const { heapUsed, external } = await memoryLeft()
  return heapUsed + external
}

for (const name of ['terrace', 'classic-level']) {
  test(`${name}: 100,000 changes and a slow reader`, async (t) => {
    assert.equal(typeof global.gc, 'function', 'to be run with --expose-gc')
    const db = await databases[name](t)
    const changes = feed(db)
    const readers = Array.from({ length: 5 }, () => changes.read({ live: true }))
    const firsts = readers.map(next)
    await db.put('first', '')
    for (const first of firsts) assert.equal((await first).sequence, 1)
    const before = await memoryBytes()

    for (let i = 0; i < CHANGES; i += AT_ONCE) {
      await db.batch(
        Array.from({ length: AT_ONCE }, (_, j) => ({ type: 'put', key: `${i + j}`, value: VALUE }))
      )
      if (i % 20_000 === 0) for (const reader of readers) await next(reader)
    }
    const grown = (await memoryBytes()) - before
    assert.ok(grown < 8 * 2 ** 20, `${grown} bytes, of ${CHANGES * VALUE.length} that were written`)

    let sequence = 6
    for await (const change of readers[0]) {
      assert.equal(change.sequence, ++sequence)
      if (sequence === CHANGES + 1) break
    }
    for (const reader of readers) await reader.return()
  })
}
