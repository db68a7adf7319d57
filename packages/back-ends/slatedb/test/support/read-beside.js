// A reader of another process beside a writer.

import assert from 'node:assert/strict'
import { Other } from '../../../../../tests/support/back-ends/processes.mjs'
import { roundOf } from '../../../../../tests/support/back-ends/rounds.mjs'
import { until } from '../../../../../tests/support/waiting.mjs'
import { openLevel } from './databases.js'

const READER = new URL('reader.js', import.meta.url)

/** A reader in another process while batches are written, `rounds` at least. */
export async function readBeside(t, location, options, rounds, refreshIntervalMs) {
  const writer = await openLevel(t, options, location)
  await writer.batch(roundOf(0))
  const other = new Other(t, READER, location, JSON.stringify({ ...options, refreshIntervalMs }))
  assert.equal(await other.line(), 'open')
  let round = 0
  while (round < rounds) await writer.batch(roundOf(++round))
  await until(async () => {
    other.tell('')
    const { reads, states } = JSON.parse(await other.line())
    if (reads > 20 && states > 1) return true
    await writer.batch(roundOf(++round))
  }, 'the reader to see more states')
  other.tell('r000')
  assert.equal(parseInt(await other.line(), 10), round)
  await writer.put('last', 'put')
  other.tell('last')
  assert.equal(await other.line(), 'put')
  const end = other.end()
  const counts = JSON.parse(await other.line())
  t.diagnostic(JSON.stringify(counts))
  assert.equal(await end, 0)
  assert.equal(counts.torn, 0)
  assert.equal(counts.backwards, 0)
}
