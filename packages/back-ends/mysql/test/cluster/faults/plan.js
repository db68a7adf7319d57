// The scenarios, their sizes, and which of their counts must be zero.

import { FAULTS } from './oracle.js'
import { conflictingWriters, readsAfterWrites } from './scenarios/conflicts.js'
import { incrementsInTransactions, incrementsWithoutTransactions } from './scenarios/increments.js'
import { killsOfTheNodeInUse } from './scenarios/kill.js'
import { allNodesAreKilled, twoNodesAreKilled } from './scenarios/majority.js'
import { aFollowerHangs, theNodeInUseHangs } from './scenarios/suspend.js'

const ofReaders = ['tornSnapshots', 'changedSnapshots']

/**
 * Each scenario has a title, a function, sizes, and `zero`: the names of the counts that must be zero. The function gets the
 * scene and a size, and returns counts. A size can set `repeat` to run it several times; the counts are then totals.
 */
export const SCENARIOS = {
  kill: {
    title: 'kill -9 of the node in use, four writers',
    run: killsOfTheNodeInUse,
    short: { kills: 1, writes: 40 },
    full: { kills: 3, writes: 300 },
    zero: [...FAULTS, ...ofReaders]
  },
  follower: {
    title: 'another node hangs, two writers, deadline 4 s',
    run: aFollowerHangs,
    short: { writes: 40, deadlineMs: 4000 },
    full: { writes: 300, deadlineMs: 4000 },
    zero: FAULTS
  },
  patient: {
    title: 'another node hangs, two writers, deadline 15 s',
    run: aFollowerHangs,
    full: { writes: 300, deadlineMs: 15_000 },
    zero: FAULTS
  },
  hang: {
    title: 'the node in use hangs, four writers',
    run: theNodeInUseHangs,
    short: { writes: 40 },
    full: { writes: 200, repeat: 2 },
    zero: [...FAULTS, ...ofReaders, 'appliedLate']
  },
  two: {
    title: 'two of three killed, then one restarted',
    run: twoNodesAreKilled,
    short: { writes: 40, probes: 3, waitMs: 0 },
    full: { writes: 300, probes: 5, waitMs: 15_000 },
    zero: [...FAULTS, 'untypedRefusals', 'answered']
  },
  all: {
    title: 'all three killed at once and restarted',
    run: allNodesAreKilled,
    short: { rounds: 1, writes: 40 },
    full: { rounds: 2, writes: 200 },
    zero: FAULTS
  },
  conflicts: {
    title: 'a writer on each node, the same keys; snapshot readers on each',
    run: conflictingWriters,
    short: { writes: 100 },
    full: { writes: 1500 },
    zero: [...FAULTS, ...ofReaders]
  },
  transactions: {
    title: 'increments in transactions, the node in use killed',
    run: incrementsInTransactions,
    short: { increments: 200 },
    full: { increments: 1000 },
    zero: ['lost', 'tooMany']
  },
  withoutTransactions: {
    title: 'increments by get and put on three nodes',
    run: incrementsWithoutTransactions,
    full: { increments: 300 },
    zero: []
  },
  waits: {
    title: 'read on one node after a write on another, waitForSync on',
    run: readsAfterWrites,
    short: { reads: 150, waitForSync: true },
    full: { reads: 1000, waitForSync: true },
    zero: ['stale']
  },
  withoutWaits: {
    title: 'the same, waitForSync off',
    run: readsAfterWrites,
    short: { reads: 150, waitForSync: false },
    full: { reads: 1000, waitForSync: false },
    zero: []
  }
}

/** Runs a scenario. Returns its counts, its time, and `faults`: the counts that should be zero but are not. */
export async function runScenario(scene, name, form) {
  const { title, run, zero, [form]: size } = SCENARIOS[name]
  const start = Date.now()
  let counts
  for (let i = 0; i < (size.repeat ?? 1); i++) counts = together(counts, await run(scene, size))
  const faults = Object.fromEntries(
    zero.filter((each) => counts[each] !== 0).map((each) => [each, counts[each]])
  )
  return { name, title, size, counts, faults, seconds: Math.round((Date.now() - start) / 1000) }
}

/** Combines the counts of several runs: sums, also of counts by name, and the longest times. */
function together(before, now) {
  if (before === undefined) return now
  if (typeof now === 'string') return before === now ? now : `${before}, ${now}`
  if (typeof now === 'number') return before + now
  const names = new Set([...Object.keys(before), ...Object.keys(now)])
  const value = (name) => (name in now ? together(before[name], now[name]) : before[name])
  const longest = (name) => Math.max(before[name], now[name])
  return Object.fromEntries(
    [...names].map((name) => [name, name.endsWith('Ms') ? longest(name) : value(name)])
  )
}
