// What is run in each runtime, and the counts that it prints.

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { countsOf } from './counts.mjs'
import { installAndUse, startRegistry } from './install.mjs'
import { MAY_FAIL, NOT_IN, ownTestFile, ownTests } from './own-tests.mjs'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const support = here('../../packages/terrace/test/support/')

/** Kinds of databases of `test/suite/run.mjs`. A tab is not of this machine. */
export const SUITES = ['databases', 'sublevels', 'shared', 'clients', 'memory', 'memorySublevels']
const KILLS = 50

/**
 * The jobs, each a function that runs it and returns its counts `{ passed, failed, failures }`, where `failures` are what to read. A
 * job whose program ends in another way than by its own count has failed.
 */
export const JOBS = {
  smoke: async (runtime) => {
    const { status, output } = await runtime.run(here('smoke.cjs'))
    return one(status === 0 && /^ok /m.test(output) ? undefined : output)
  },
  suite: async (runtime, kinds = SUITES) => {
    const results = []
    for (const kind of kinds) {
      results.push(
        counted(kind, await runtime.run(here('../../packages/terrace/test/suite/run.mjs'), [kind, '--tap']))
      )
    }
    return sum(results)
  },
  own: async (runtime, names = ownTestsIn(runtime)) => {
    const results = []
    for (const name of names) {
      const ended = await runtime.test(ownTestFile(name), runtime.isEmulated)
      results.push(tested(name, ended, MAY_FAIL[runtime.family]))
    }
    return sum(results)
  },
  kills: async (runtime, kills = KILLS) => {
    const ended = await runtime.run(join(support, 'kill-trials.js'), ['--kills', String(kills)])
    return killed(kills, ended)
  },
  interop: async (runtime) => tested('beside', await runtime.test(here('beside/classic-level.test.js'))),
  install: async (runtime) => {
    registry ??= await startRegistry()
    const { wrong, ...more } = await installAndUse(runtime, registry)
    return { ...one(wrong), ...more }
  }
}

/** What the short form passes to which jobs. */
export const SHORT = { smoke: [], suite: [['memory']], own: [['open', 'operations']], kills: [2] }

// Packing takes longer than installing.
let registry

/** Ends what the jobs have left running. */
export function endJobs() {
  registry?.close()
}

/** The test files that a runtime can run. Those of kills are a separate job. */
function ownTestsIn({ family }) {
  return ownTests().filter((name) => name !== 'kills' && !(name in (NOT_IN[family] ?? {})))
}

/** The count of a job that is good, or of which something is `wrong`. */
function one(wrong) {
  const isGood = wrong === undefined
  return { passed: Number(isGood), failed: Number(!isGood), failures: isGood ? [] : [wrong] }
}

/** The counts at the end of what tape has printed. */
export function counted(name, { status, output }) {
  const count = (word) => Number(new RegExp(`^# ${word}\\s+(\\d+)$`, 'm').exec(output)?.[1] ?? 0)
  const [passed, failed] = [count('pass'), count('fail')]
  if (failed === 0 && status === 0 && passed > 0) return { passed, failed, failures: [] }
  const lines = output.split('\n').filter((line) => /^\s*not ok /.test(line))
  return {
    passed,
    failed: Math.max(failed, 1),
    failures: lines.length > 0 ? lines : [ending(name, status, output)]
  }
}

/** The counts of a file of tests, of which those in `mayFail` may. */
export function tested(name, { status, output }, mayFail = {}) {
  const { passed, failed } = countsOf(output)
  const surprises = failed.filter((each) => !(each in mayFail))
  const known = failed.length - surprises.length
  // A test that may fail makes the program fail as well.
  const endedWell = passed.length > 0 && (status === 0 || (status !== null && failed.length > 0))
  if (surprises.length === 0 && endedWell) {
    return { passed: passed.length, failed: 0, ...(known > 0 && { known }), failures: [] }
  }
  return {
    passed: passed.length,
    failed: Math.max(surprises.length, 1),
    failures: [...surprises, ending(name, status, output)]
  }
}

/** The kills of trials that have all gone as they should. */
export function killed(wanted, { status, output }) {
  const line = output.split('\n').find((each) => each.startsWith('{'))
  const kills = line === undefined ? 0 : JSON.parse(line).kills
  if (status === 0 && kills === wanted) return { passed: kills, failed: 0, failures: [] }
  return { passed: 0, failed: 1, failures: [ending('kills', status, output)] }
}

function ending(name, status, output) {
  return `${name} ended with status ${status}:\n${output.slice(-3000)}`
}

function sum(results) {
  const total = (key) => results.reduce((all, result) => all + (result[key] ?? 0), 0)
  return {
    passed: total('passed'),
    failed: total('failed'),
    ...(total('known') > 0 && { known: total('known') }),
    failures: results.flatMap(({ failures }) => failures)
  }
}
