// Counts over a database whose writes take their time.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BackendLevel } from 'terrace-core'
import { count } from 'terrace-toolbox/feed'
import { scaled } from '../../../../tests/support/form.mjs'
import { ArrayBackend } from '../../../core/test/support/array-backend.js'

const first = Number(process.env.TERRACE_SEED ?? Date.now() % 1_000_000_000)

test(`a count is ready when its numbers are stored, not when they are about to be (TERRACE_SEED=${first})`, async () => {
  for (let seed = first; seed < first + scaled(150); seed++) {
    const db = new BackendLevel(new ArrayBackend({ sync: true, seed }))
    await db.open()
    const counts = ['a', 'b'].map((name) => count(db, { name, of: () => 'all' }))
    for (const key of ['1', '2', '3']) await db.put(key, 'v')
    for (const each of counts) assert.equal(await each.get('all'), 3, `seed ${seed}`)
    await db.close()
  }
})
