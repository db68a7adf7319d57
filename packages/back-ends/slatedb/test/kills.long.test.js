// Processes that are killed while they write to an object store. Long, because that is a server, which takes its time.
//
// `TERRACE_KILLS` sets the number of kills.

import { after, before, test } from 'node:test'
import { assertAllThere, killWriters } from '../../../../tests/support/back-ends/kills.mjs'
import { missing, Store } from './support/store.js'
import { writersOn } from './support/writers.js'

let store

before(async () => {
  if (missing === undefined) store = await Store.start()
})
// After the databases of all tests are closed: a close waits for the store.
after(() => store?.stop())

const kills = Number(process.env.TERRACE_KILLS ?? 12)

test('every acknowledged write survives kills in an object store', { skip: missing ?? false }, async (t) => {
  const writers = writersOn(t, store.location(), { ...store.options, flushIntervalMs: 20 })
  assertAllThere(await killWriters(t, { ...writers, kills: Math.ceil(kills / 2) }))
})
