// Firefox is killed while a worker writes. TERRACE_KILLS=20 kills it more often.
//
// Long: it needs Firefox, which is killed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KillableFirefox, missingFirefox } from '../support/firefox.js'
import { killDuringWrites } from '../support/killed-writes.js'

const rounds = Number(process.env.TERRACE_KILLS ?? 4)

const STORAGES = {
  opfs: { database: '', syncEvery: 50 },
  indexeddb: { database: ", storage: 'indexeddb'", syncEvery: 3 }
}

const missing = missingFirefox()
if (missing !== undefined) console.log(`skipped: Firefox: ${missing}`)
else tests()

function tests() {
  for (const [storage, options] of Object.entries(STORAGES)) {
    test(`every acknowledged write on ${storage} is there after Firefox was killed`, async (t) => {
      const place = await killDuringWrites(t, new KillableFirefox(t), { ...options, rounds })
      assert.equal(place, storage)
    })
  }
}
