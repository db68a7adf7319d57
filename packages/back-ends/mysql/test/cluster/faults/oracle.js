// Judges the outcomes of writes from three sources independent of the database under test: the writers' records of each call, the
// triggers' records of each changed row, and the final entries on each node.
//
// A write: { writer, number, start, end, outcome, code }, times in ms on a clock that all processes share. The outcome is
// `acknowledged`, `failed` (none of it may be stored), or `unknown` (it may be stored, as a whole).
// A change: { key, old, now }, the values before and after; null if there was none.

import { COMMON_PREFIX, operationsOf, parseValue, putsOf, tornIn } from './writes.js'

const nameOf = ({ writer, number }) => `${writer}.${number}`

/**
 * Counts faults, and what happened.
 *
 * @param nodes - For each node its entries, as a sorted array of pairs.
 */
export function judge({ writes, changes, nodes }) {
  const byName = new Map(writes.map((write) => [nameOf(write), write]))
  const traces = tracesOf(changes)
  const excused = isOverwrittenWithin(writes, traces)
  const lost = lostOf(writes, traces, excused, new Map(nodes[0]))
  return {
    ...outcomes(writes, traces),
    lost: lost.length,
    // Where to start an investigation.
    ...(lost.length === 0 ? {} : { lostWrites: lost.slice(0, 20) }),
    torn: torn(traces, excused) + tornIn(nodes[0].filter(([key]) => key.startsWith('b/'))),
    appliedTwice: [...traces.values()].filter((keys) => [...keys.values()].some((count) => count > 1)).length,
    failedButApplied: writes.filter((write) => write.outcome === 'failed' && traces.has(nameOf(write)))
      .length,
    appliedOverNewer: appliedOverNewer(changes, byName),
    foreign: [...traces.keys()].filter((name) => !byName.has(name)).length,
    divergedNodes: nodes.slice(1).filter((entries) => JSON.stringify(entries) !== JSON.stringify(nodes[0]))
      .length,
    longestGapMs: longestGap(writes)
  }
}

/** The names of the counts that must be zero. */
export const FAULTS = [
  'lost',
  'torn',
  'appliedTwice',
  'failedButApplied',
  'appliedOverNewer',
  'foreign',
  'divergedNodes'
]

/** For each write that left traces: how often it was stored under each key. */
function tracesOf(changes) {
  const traces = new Map()
  for (const { key, now } of changes) {
    if (now === null) continue
    const name = nameOf(parseValue(now))
    if (!traces.has(name)) traces.set(name, new Map())
    const keys = traces.get(name)
    keys.set(key, (keys.get(key) ?? 0) + 1)
  }
  return traces
}

function outcomes(writes, traces) {
  const counts = { operations: writes.length, acknowledged: 0, failed: {}, unknown: 0, unknownButApplied: 0 }
  for (const write of writes) {
    if (write.outcome === 'acknowledged') counts.acknowledged++
    else if (write.outcome === 'failed') counts.failed[write.code] = (counts.failed[write.code] ?? 0) + 1
    else {
      counts.unknown++
      if (traces.has(nameOf(write))) counts.unknownButApplied++
    }
  }
  return counts
}

/** Acknowledged writes that left no trace, or whose entry is gone although only newer writes of the same writer overwrite it. */
function lostOf(writes, traces, excused, entries) {
  return writes.filter((write) => {
    if (write.outcome !== 'acknowledged') return false
    const puts = putsOf(write.writer, write.number)
    const isThere = puts.every(({ key, value }) => holds(entries.get(key), value, key, write))
    const hasTrace = traces.has(nameOf(write)) || excused(write, puts[0].key)
    return !isThere || !hasTrace
  })
}

function holds(found, value, key, { writer, number }) {
  if (key.startsWith('u/')) return found === value
  // A later batch may have deleted it; another count covers whether that batch is whole.
  if (key.endsWith('/more') && found === undefined) return true
  if (found === undefined) return false
  // Another count covers which writer is the last one here.
  if (key.startsWith(COMMON_PREFIX)) return true
  const holder = parseValue(found)
  return holder.writer === writer && holder.number >= number
}

/** Writes that left traces under only some of their keys. */
function torn(traces, excused) {
  let count = 0
  for (const [name, keys] of traces) {
    const write = parseValue(name)
    const puts = putsOf(write.writer, write.number)
    if (!puts.every(({ key }) => keys.has(key) || excused(write, key))) count++
  }
  return count
}

/** Whether a write deletes a key and is stored, as its traces under other keys show. */
function isStoredDeletion({ writer, number }, key, traces) {
  const deletes = operationsOf(writer, number).some(
    (operation) => operation.type === 'del' && operation.key === key
  )
  return deletes && traces.has(nameOf({ writer, number }))
}

/**
 * Whether a write left no trace under a key because another one replaced it in the same transaction: concurrent calls of one writer
 * may share a transaction, in which the last one on a key wins.
 */
function isOverwrittenWithin(writes, traces) {
  const ofWriter = new Map()
  for (const write of writes) {
    if (!ofWriter.has(write.writer)) ofWriter.set(write.writer, new Map())
    ofWriter.get(write.writer).set(write.number, write)
  }
  return ({ writer, number }, key) => {
    const own = ofWriter.get(writer)
    const write = own?.get(number)
    if (write === undefined) return false
    for (let next = own.get(number + 1); next !== undefined; next = own.get(next.number + 1)) {
      if (next.start >= write.end) return false
      if (traces.get(nameOf(next))?.has(key) || isStoredDeletion(next, key, traces)) return true
    }
    return false
  }
}

/**
 * Changes in which an older write replaced a newer one. For the same writer, numbers decide, since calls take effect in order. For
 * different writers, the older one must have ended before the newer one was called.
 */
function appliedOverNewer(changes, byName) {
  let count = 0
  for (const { old, now } of changes) {
    if (old === null || now === null) continue
    const [before, after] = [parseValue(old), parseValue(now)]
    if (before.writer === after.writer) {
      if (after.number < before.number) count++
      continue
    }
    const [newer, older] = [byName.get(nameOf(before)), byName.get(nameOf(after))]
    if (newer !== undefined && older !== undefined && older.end < newer.start) count++
  }
  return count
}

/** The longest time for which a writer got no acknowledgement, in ms. */
export function longestGap(writes) {
  const last = new Map()
  let longest = 0
  const acknowledged = writes
    .filter(({ outcome }) => outcome === 'acknowledged')
    .sort((a, b) => a.end - b.end)
  for (const { writer, end } of acknowledged) {
    longest = Math.max(longest, end - (last.get(writer) ?? end))
    last.set(writer, end)
  }
  return Math.round(longest)
}
