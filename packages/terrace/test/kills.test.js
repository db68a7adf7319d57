// Processes that are killed while they write: every write whose promise was fulfilled is there afterwards.
//
// `TERRACE_SEED` sets the seed, `TERRACE_KILLS` the number of kills.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scaled } from '../../../tests/support/form.mjs'
import { killTrials } from './support/kill-trials.js'

const { TERRACE_SEED: seed = Date.now(), TERRACE_KILLS: kills = scaled(50) } = process.env

test('every acknowledged write survives kills', async (t) => {
  const counts = await killTrials({ seed: Number(seed), kills: Number(kills) })
  t.diagnostic(`from TERRACE_SEED=${seed}: ${JSON.stringify(counts)}`)
  assert.equal(counts.kills, Number(kills))
  assert.ok(counts['acknowledged batches'] > 0)

  // A trial in which this never happens proves nothing.
  if (kills >= 50) {
    assert.ok(counts['acknowledged batches'] > 10 * kills)
    assert.ok(counts['kills while opening'] > 0)
    assert.ok(counts.checkpoints > 0)
  }
})
