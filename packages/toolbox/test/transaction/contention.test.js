// Many transactions that want the same key.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transactions } from 'terrace-toolbox/transaction'
import { holdClock } from '../../../../tests/support/clock.mjs'
import { scaled } from '../../../../tests/support/form.mjs'
import { MAX_WAIT_MS } from '../../dist/transaction/turns.js'
import { databases } from '../support/databases.js'

const CALLERS = 64
/** How often each of them increments. */
const INCREMENTS = scaled(20, 8)

for (const [name, open] of Object.entries(databases)) {
  for (const sync of [false, true]) {
    test(`${name}: a counter that ${CALLERS} callers increment at once ends at their number, sync ${sync}`, async (t) => {
      const db = await open(t, { valueEncoding: 'json' })
      const transaction = transactions(db, { sync })
      const increments = Array.from({ length: CALLERS }, () =>
        transaction(async (tx) => tx.put('n', ((await tx.get('n')) ?? 0) + 1))
      )
      await Promise.all(increments)
      assert.equal(await db.get('n'), CALLERS)
    })
  }

  test(`${name}: nobody starves while ${CALLERS} callers increment without pause`, async (t) => {
    const clock = holdClock(t)
    const db = await open(t, { valueEncoding: 'json' })
    const transaction = transactions(db)
    let calls = 0

    async function caller() {
      for (let i = 0; i < INCREMENTS; i++) {
        await transaction(async (tx) => {
          calls++
          tx.put('n', ((await tx.get('n')) ?? 0) + 1)
        })
      }
    }

    // A turn is waited for in vain on a machine that is slow enough; here it never is.
    const done = Promise.all(Array.from({ length: CALLERS }, caller))
    await clock.passPauses(done, MAX_WAIT_MS - 1)
    assert.equal(await db.get('n'), CALLERS * INCREMENTS)
    assert.ok(calls < CALLERS * INCREMENTS * 3, `${calls} calls`)
  })
}
