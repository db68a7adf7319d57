// Processes that are killed while they write: every acknowledged write is there afterwards, and every batch is there whole.
//
// `TERRACE_KILLS` sets the number of kills.

import { assertSurvivesKills } from '../../../../tests/support/back-ends/kills.mjs'
import { Other } from '../../../../tests/support/back-ends/processes.mjs'
import { scaled } from '../../../../tests/support/form.mjs'
import { newName, openLevel, test, theServer } from './support/databases.js'

const WRITER = new URL('support/writer.js', import.meta.url)

test('every acknowledged write survives kills, and batches are whole', async (t) => {
  const { url } = await theServer()
  const name = newName()
  await assertSurvivesKills(t, {
    startWriter: (first) => new Other(t, WRITER, url, name, `${first}`),
    openLevel: () => openLevel(t, { name }),
    kills: Number(process.env.TERRACE_KILLS ?? scaled(15, 3))
  })
})
