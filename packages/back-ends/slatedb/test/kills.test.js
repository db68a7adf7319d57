// Processes that are killed while they write: every acknowledged write is there afterwards, and every batch is there whole.
//
// `TERRACE_KILLS` sets the number of kills.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  assertAllThere,
  assertSomeAcknowledged,
  assertSurvivesKills,
  killWriters
} from '../../../../tests/support/back-ends/kills.mjs'
import { Other } from '../../../../tests/support/back-ends/processes.mjs'
import { scaled } from '../../../../tests/support/form.mjs'
import { openLevel, temporaryDirectory } from './support/databases.js'
import { missing, Store } from './support/store.js'

let store

before(async () => {
  if (missing === undefined) store = await Store.start()
})
// After the databases of all tests are closed: a close waits for the store.
after(() => store?.stop())

const kills = Number(process.env.TERRACE_KILLS ?? scaled(12, 3))
const WRITER = new URL('support/writer.js', import.meta.url)

/** Writers on a location, see `killWriters()`. */
const writersOn = (t, location, options) => ({
  startWriter: (first) => new Other(t, WRITER, location, `${first}`, JSON.stringify(options)),
  openLevel: () => openLevel(t, options, location),
  longestPauseMs: 600
})

test('every acknowledged write survives kills, and batches are whole', async (t) => {
  const writers = writersOn(t, temporaryDirectory(t), { flushIntervalMs: 20 })
  await assertSurvivesKills(t, { ...writers, kills })
})

test('every acknowledged write survives kills in an object store', { skip: missing ?? false }, async (t) => {
  const writers = writersOn(t, store.location(), { ...store.options, flushIntervalMs: 20 })
  assertAllThere(await killWriters(t, { ...writers, kills: Math.ceil(kills / 2) }))
})

test('acknowledged in memory, a kill takes the newest writes, and never a part of a batch', async (t) => {
  const writers = writersOn(t, temporaryDirectory(t), { acknowledge: 'memory', flushIntervalMs: 100 })
  const counts = await killWriters(t, { ...writers, kills: Math.ceil(kills / 2) })
  assertSomeAcknowledged(counts)
  assert.equal(counts.torn, 0)
  assert.equal(counts.gaps, 0)
})
