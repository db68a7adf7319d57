// Processes that are killed while they write: every acknowledged write is there afterwards, and every batch is there whole.
//
// `TERRACE_KILLS` sets the number of kills.

import { test } from 'node:test'
import { assertSurvivesKills } from '../../../../tests/support/back-ends/kills.mjs'
import { Other } from '../../../../tests/support/back-ends/processes.mjs'
import { scaled } from '../../../../tests/support/form.mjs'
import { openLevel, temporaryDirectory } from './support/databases.js'

const WRITER = new URL('support/writer.js', import.meta.url)

test('every acknowledged write survives kills, and batches are whole', async (t) => {
  const location = temporaryDirectory(t)
  await assertSurvivesKills(t, {
    startWriter: (first) => new Other(t, WRITER, location, `${first}`),
    openLevel: () => openLevel(t, {}, location),
    kills: Number(process.env.TERRACE_KILLS ?? scaled(15, 3))
  })
})
