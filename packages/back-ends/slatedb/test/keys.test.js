// Keys, and ranges of them over a log and tables.

import { test } from 'node:test'
import { MAX_KEY_SIZE_BYTES } from 'terrace-slatedb'
import { testKeys, testValues } from '../../../../tests/support/back-ends/keys.mjs'
import { scaled } from '../../../../tests/support/form.mjs'
import { openLevel } from './support/databases.js'

const histories = { rounds: scaled(8, 3), writes: 40, ranges: 60 }

/** What was in the log becomes a table. The last round stays in the log. */
async function between(db, round) {
  if (round === histories.rounds - 1) return
  await db.close()
  await db.open()
}

testKeys({ test, openLevel, longestBytes: MAX_KEY_SIZE_BYTES, histories, between })
testValues({ test, openLevel, sizes: [0, 1, 4096, 70_000, 6_000_000] })
