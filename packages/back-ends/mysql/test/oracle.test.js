// The oracle of the fault programs finds each fault in histories that contain it, and none in those without
// faults.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FAULTS, judge } from './cluster/faults/oracle.js'
import { operationsOf } from './cluster/faults/writes.js'

const WRITERS = [1, 2]
const NUMBERS = Array.from({ length: 12 }, (_, i) => i + 1)

/**
 * A history without faults: two writers that alternate, each write acknowledged before the next one is called.
 */
function history() {
  const writes = []
  const changes = []
  const entries = new Map()
  let time = 0
  for (const number of NUMBERS) {
    for (const writer of WRITERS) {
      writes.push({ writer, number, start: time++, end: time++, outcome: 'acknowledged' })
      apply({ entries, changes }, writer, number)
    }
  }
  return { writes, changes, entries }
}

/** Applies a write, or only those of its operations that pass `filter`. */
function apply({ entries, changes }, writer, number, filter = () => true) {
  for (const operation of operationsOf(writer, number).filter(filter)) {
    const old = entries.get(operation.key) ?? null
    const now = operation.type === 'put' ? operation.value : null
    if (old !== null || now !== null) changes.push({ key: operation.key, old, now })
    if (now === null) entries.delete(operation.key)
    else entries.set(operation.key, now)
  }
}

/** The faults that the oracle finds in a history. */
function faultsOf({ writes, changes, entries, others = [] }) {
  const sorted = (map) => [...map].sort(([a], [b]) => (a < b ? -1 : 1))
  const counts = judge({ writes, changes, nodes: [entries, ...others].map(sorted) })
  return Object.fromEntries(FAULTS.filter((name) => counts[name] !== 0).map((name) => [name, counts[name]]))
}

/** The first writer's write of a number, in a history. */
const writeIn = ({ writes }, number) => writes.find((write) => write.writer === 1 && write.number === number)

/** A batch of the first writer. Its next batch is 5. */
const BATCH = 2
/** The first writer's last write that only puts a unique key. */
const UNIQUE = 9

test('a history without faults has none', () => {
  assert.deepEqual(faultsOf(history()), {})
})

test('an acknowledged write that nobody stored is lost', () => {
  const seen = history()
  seen.entries.delete(`u/1/${UNIQUE}`)
  seen.changes = seen.changes.filter(({ key }) => key !== `u/1/${UNIQUE}`)
  assert.deepEqual(faultsOf(seen), { lost: 1 })
})

test('an acknowledged write that was stored and is gone is lost', () => {
  const seen = history()
  seen.entries.delete(`u/1/${UNIQUE}`)
  assert.deepEqual(faultsOf(seen), { lost: 1 })
})

test('an acknowledged overwrite is lost if the entry shows an older one', () => {
  const seen = history()
  const older = operationsOf(1, 1)[0]
  assert.equal(older.key, 'own/1')
  seen.entries.set(older.key, older.value)
  assert.deepEqual(faultsOf(seen), { lost: 1 })
})

test('a part of a batch is torn, also if the batch failed', () => {
  const seen = history()
  seen.writes.push({
    writer: 1,
    number: 14,
    start: 100,
    end: 101,
    outcome: 'unknown',
    code: 'LEVEL_COMMIT_UNKNOWN'
  })
  apply(seen, 1, 14, ({ key }) => !key.endsWith('003'))
  // Counted once by the changes, and once by the final entries.
  assert.deepEqual(faultsOf(seen), { torn: 2 })
})

test('a whole batch of unknown fate is no fault, stored or not', () => {
  const seen = history()
  seen.writes.push({
    writer: 1,
    number: 14,
    start: 100,
    end: 101,
    outcome: 'unknown',
    code: 'LEVEL_COMMIT_UNKNOWN'
  })
  assert.deepEqual(faultsOf(seen), {})
  apply(seen, 1, 14)
  assert.deepEqual(faultsOf(seen), {})
})

test('calls that are pending at the same time may share a transaction, in which the last one on a key wins', () => {
  const shared = history()
  const [first, second] = [14, 17]
  const call = { writer: 1, end: 110, outcome: 'acknowledged' }
  shared.writes.push({ ...call, number: first, start: 100 })
  for (const number of [15, 16])
    shared.writes.push({ ...call, number, start: 101, outcome: 'failed', code: 'LEVEL_DEADLINE' })
  shared.writes.push({ ...call, number: second, start: 102 })
  const later = new Set(operationsOf(1, second).map(({ key }) => key))
  apply(shared, 1, first, ({ key }) => !later.has(key))
  apply(shared, 1, second)
  assert.deepEqual(faultsOf(shared), {})

  // Consecutive calls cannot share one.
  Object.assign(writeIn(shared, first), { end: 101 })
  assert.deepEqual(faultsOf(shared), { torn: 1 })
})

test('a write that is stored twice is counted, though the entries are the same', () => {
  const seen = history()
  apply(seen, 1, 12)
  assert.deepEqual(faultsOf(seen), { appliedTwice: 1 })
})

test('a failed write that is stored is counted', () => {
  const seen = history()
  Object.assign(writeIn(seen, UNIQUE), { outcome: 'failed', code: 'LEVEL_DEADLINE' })
  assert.deepEqual(faultsOf(seen), { failedButApplied: 1 })
})

test('an older batch that takes the place of a newer one of its writer is counted, for each key', () => {
  const seen = history()
  Object.assign(writeIn(seen, BATCH), { outcome: 'unknown', code: 'LEVEL_COMMIT_UNKNOWN' })
  // It is only stored now, at the end.
  seen.changes = seen.changes.filter(({ now }) => now === null || !now.startsWith(`1.${BATCH}.`))
  apply(seen, 1, BATCH)
  const { appliedOverNewer, lost } = faultsOf(seen)
  assert.ok(appliedOverNewer >= 10)
  assert.ok(lost > 0)
})

test('a write that had ended before another writer began, and takes its place, is counted', () => {
  const seen = history()
  // The common keys are written by the first writer's 4 and 10, and the second writer's 4 and 10, in this order.
  Object.assign(writeIn(seen, 10), { outcome: 'unknown', code: 'LEVEL_COMMIT_UNKNOWN' })
  seen.changes = seen.changes.filter(({ now }) => now === null || !now.startsWith('1.10.'))
  apply(seen, 1, 10)
  assert.ok(faultsOf(seen).appliedOverNewer >= 10)
})

test('a node with other entries has diverged', () => {
  const seen = history()
  const other = new Map(seen.entries)
  other.delete(`u/1/${UNIQUE}`)
  assert.deepEqual(faultsOf({ ...seen, others: [new Map(seen.entries), other] }), { divergedNodes: 1 })
})

test('an entry that no writer wrote is foreign', () => {
  const seen = history()
  seen.changes.push({ key: 'u/9/1', old: null, now: '9.1.' })
  assert.equal(faultsOf(seen).foreign, 1)
})

test('the longest gap is that of one writer, between two acknowledgements', () => {
  const writes = [
    { writer: 1, number: 1, start: 0, end: 10, outcome: 'acknowledged' },
    { writer: 2, number: 1, start: 0, end: 300, outcome: 'acknowledged' },
    { writer: 1, number: 2, start: 20, end: 100, outcome: 'failed', code: 'LEVEL_DEADLINE' },
    { writer: 1, number: 3, start: 100, end: 510, outcome: 'acknowledged' }
  ]
  assert.equal(judge({ writes, changes: [], nodes: [[]] }).longestGapMs, 500)
})
