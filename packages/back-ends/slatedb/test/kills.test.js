// Processes that are killed while they write to a directory: every acknowledged write is there afterwards, and every batch is there whole.
//
// `TERRACE_KILLS` sets the number of kills.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  assertSomeAcknowledged,
  assertSurvivesKills,
  killWriters
} from '../../../../tests/support/back-ends/kills.mjs'
import { scaled } from '../../../../tests/support/form.mjs'
import { temporaryDirectory } from './support/databases.js'
import { writersOn } from './support/writers.js'

const kills = Number(process.env.TERRACE_KILLS ?? scaled(12, 3))

test('every acknowledged write survives kills, and batches are whole', async (t) => {
  const writers = writersOn(t, temporaryDirectory(t), { flushIntervalMs: 20 })
  await assertSurvivesKills(t, { ...writers, kills })
})

test('acknowledged in memory, a kill takes the newest writes, and never a part of a batch', async (t) => {
  const writers = writersOn(t, temporaryDirectory(t), { acknowledge: 'memory', flushIntervalMs: 100 })
  const counts = await killWriters(t, { ...writers, kills: Math.ceil(kills / 2) })
  assertSomeAcknowledged(counts)
  assert.equal(counts.torn, 0)
  assert.equal(counts.gaps, 0)
})
