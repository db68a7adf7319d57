// What snapshots and iterators show while batches are written: one state each, never a part of a batch.

import assert from 'node:assert/strict'
import { scaled } from '../form.mjs'
import { until } from '../waiting.mjs'
import { roundIn, roundOf } from './rounds.mjs'

/** How many are written at least. */
const ROUNDS = scaled(300, 60)

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** Reads everything, entry by entry, with pauses in which batches are written. */
async function readSlowly(db, options) {
  const entries = []
  for await (const entry of db.iterator({ ...options, highWaterMarkBytes: 1 })) {
    entries.push(entry)
    if (entries.length % 7 === 0) await pause(1)
  }
  return entries
}

/** The entries of keys that have a value. */
const entriesOf = (keys, values) =>
  keys.map((key, i) => [key, values[i]]).filter(([, value]) => value !== undefined)

/** Reads of all rounds in several ways. Each returns the entries. */
function readersOf(db, isSync) {
  const rounds = { lt: 'z' }
  const keys = roundOf(0).map(({ key }) => key)
  const readers = [
    () => readSlowly(db, rounds),
    () => db.iterator(rounds).all(),
    async () => (await db.iterator({ ...rounds, reverse: true }).all()).reverse(),
    async () => entriesOf(keys, await db.getMany(keys)),
    async () => {
      const snapshot = db.snapshot()
      // Writes of the same turn come after it.
      const later = db.put('z', 'later')
      const first = await db.iterator({ ...rounds, snapshot }).all()
      await pause(2)
      const found = await readSlowly(db, { ...rounds, snapshot })
      assert.deepEqual(await db.iterator({ ...rounds, snapshot }).all(), first)
      assert.deepEqual(entriesOf(keys, await db.getMany(keys, { snapshot })), first)
      await snapshot.close()
      await later
      await db.del('z')
      return found
    }
  ]
  if (isSync) readers.push(async () => [...db.iterateSync({ ...rounds, reverse: true })].reverse())
  return readers
}

/**
 * Checks that no reader sees a part of a batch while batches are written to a database that has no other users.
 */
export async function assertNothingTorn(t, db, { isSync = false, leastReads = 100 } = {}) {
  const counts = { reads: 0, torn: 0, states: new Set() }
  let isWriting = true
  let acknowledged = 0
  const reading = readersOf(db, isSync).map(async (read) => {
    while (isWriting) {
      const since = acknowledged
      const round = roundIn(await read())
      counts.reads++
      counts.states.add(round)
      // An acknowledged batch is seen.
      if (round === undefined || round < since) counts.torn++
      await pause(0)
    }
  })
  const write = async () => {
    await db.batch(roundOf(acknowledged + 1))
    acknowledged++
  }
  while (acknowledged < ROUNDS) await write()
  // The readers may have been slower.
  await until(async () => {
    if (counts.reads > leastReads && counts.states.size > 10) return true
    await write()
  }, 'readers to see more states')
  isWriting = false
  await Promise.all(reading)

  t.diagnostic(`${counts.reads} reads of ${counts.states.size} states, ${counts.torn} torn`)
  assert.equal(counts.torn, 0)
}

/** Registers the test that holds for any back-end. */
export function testSnapshots({ test, openLevel }) {
  test('a snapshot has no write that is called after it in the same turn', async (t) => {
    const db = await openLevel(t)
    await db.put('a', '1')
    for (let i = 0; i < 20; i++) {
      const snapshot = db.snapshot()
      const write = db.put('a', `${i}`)
      const before = await db.get('a', { snapshot })
      await write
      assert.notEqual(before, `${i}`)
      await snapshot.close()
      await db.put('a', 'between')
    }
  })
}

/** Checks that `count` snapshots can be open, each of another state. */
export async function assertManySnapshots(db, count, { isSync = false } = {}) {
  const snapshots = []
  for (let i = 0; i < count; i++) {
    await db.put('key', `${i}`)
    snapshots.push(db.snapshot())
  }
  for (const [i, snapshot] of snapshots.entries())
    assert.equal(isSync ? db.getSync('key', { snapshot }) : await db.get('key', { snapshot }), `${i}`)
  await Promise.all(snapshots.map((snapshot) => snapshot.close()))
  assert.equal(await db.get('key'), `${count - 1}`)
}
