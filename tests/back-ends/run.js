// Runs everything over every database, each job in a separate process, and records the results:
//
//   node tests/back-ends/run.js [--target NAME …] [--job JOB …] [--results FILE]
//
// A job is `suite` (abstract-level's published tests), `probes`, or a part of our own tests, see tests/support/common.mjs. With
// --target or --job, results of the others stay in the file. Without these three, jobs are left out that prove nothing new, see
// `repeats` in targets.js. The exit code is 1 if anything is a surprise: a test that fails for no known reason, or one that was known
// to fail and does not.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { PARTS, refusalOf, runPart } from '../support/common.mjs'
import { judge } from '../support/known.mjs'
import { countsLine } from '../support/test-lines.mjs'
import { Results } from './results.js'
import { targetNamed, targets } from './targets.js'

const JOB = fileURLToPath(new URL('job.js', import.meta.url))
const DATABASE = new URL('database.js', import.meta.url).href
/** A job whose target says nothing else ends after this time. */
const JOB_TIMEOUT_MS = 1_200_000
const JOBS = ['suite', ...Object.keys(PARTS), 'probes']
/** What abstract-level registers today for any database. It may add more. */
const LEAST_OF_SUITE = 1470

const { values } = parseArgs({
  options: {
    target: { type: 'string', multiple: true },
    job: { type: 'string', multiple: true },
    results: { type: 'string' }
  }
})
const jobs = values.job ?? JOBS
const unknown = jobs.find((job) => !JOBS.includes(job))
if (unknown !== undefined) throw new Error(`there is no job '${unknown}': ${JOBS.join(', ')}`)
const isWhole = values.target === undefined && values.job === undefined
const leavesOut = isWhole && values.results === undefined
const results = new Results(values.results, { isWhole })

/** Runs a job of job.js. */
async function inChild(job, target, environment) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-back-ends-'))
  try {
    const child = fork(JOB, [job, directory], {
      timeout: target.timeoutMs ?? JOB_TIMEOUT_MS,
      env: { ...process.env, ...environment, TERRACE_TARGET: target.name, TMPDIR: directory }
    })
    let answer
    child.once('message', (message) => {
      answer = message
    })
    // Until it has ended, its engine may write to the directory. The answer may arrive after the end.
    const [[code, signal]] = await Promise.all([once(child, 'exit'), once(child, 'disconnect')])
    if (answer !== undefined) return answer
    throw new Error(
      `${target.name}, ${job}: the process ended with ${signal ?? code} before it had an answer`
    )
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function runSuite(target, environment) {
  const begun = performance.now()
  const outcomes = await inChild('suite', target, environment)
  const counts = judge(outcomes, target.known.suite ?? [], LEAST_OF_SUITE)
  return { ...counts, seconds: (performance.now() - begun) / 1000 }
}

/** A part must refuse a database that lacks what it needs. */
async function runOurs(part, target, environment) {
  const { name, supports, known, timeoutMs } = target
  const refusedWith = refusalOf(part, supports)
  if (refusedWith !== undefined) {
    const { [part]: code } = await inChild('refusals', target, environment)
    return { refusedWith: code, surprises: code === refusedWith ? [] : [`${code} instead of ${refusedWith}`] }
  }
  const { errors, ...counts } = await runPart(part, {
    name,
    supports,
    module: DATABASE,
    known,
    environment: { ...environment, TERRACE_TARGET: name },
    timeoutMs
  })
  if (counts.surprises.length > 0) console.error(errors)
  return counts
}

async function runProbes(target, environment) {
  return { ...(await inChild('probes', target, environment)), surprises: [] }
}

/** A job that breaks off is a surprise; the others still run. */
async function runJob(job, target, environment) {
  const run = { suite: runSuite, probes: runProbes }[job] ?? ((...args) => runOurs(job, ...args))
  try {
    return await run(target, environment)
  } catch (error) {
    return { surprises: [error.message] }
  }
}

function summary({ passed, refusedWith, exceptions = [], surprises, seconds }) {
  if (surprises.length > 0) return `${surprises.length} surprises\n${surprises.join('\n')}`
  if (passed === undefined) return refusedWith === undefined ? 'done' : `refused with ${refusedWith}`
  const but = exceptions.length > 0 ? `, ${exceptions.length} known exceptions` : ''
  return `${passed} pass${but}, ${seconds.toFixed(1)} s`
}

function jobsOf({ repeats = [] }) {
  if (!leavesOut) return jobs
  return repeats === 'all' ? [] : jobs.filter((job) => !repeats.includes(job))
}

async function runTarget(target, environment) {
  for (const job of jobsOf(target)) {
    const { surprises, ...found } = await runJob(job, target, environment)
    console.log(`${target.name}, ${job}: ${summary({ surprises, ...found })}`)
    counts.passed += found.passed ?? (surprises.length === 0 ? 1 : 0)
    counts.failed += surprises.length
    if (surprises.length > 0) process.exitCode = 1
    results.add(target, job, { ...found, ...(surprises.length > 0 && { surprises }) })
    results.write()
  }
}

/** Servers that were started for the run, which targets share. */
const running = new Map()

async function environmentFor({ server }) {
  if (server === undefined) return {}
  if (!running.has(server)) running.set(server, await server.start())
  return running.get(server).environment
}

/** Tests that passed; surprises; jobs that were left out. A refusal that is right, and probes, count as one test. */
const counts = { passed: 0, failed: 0, skipped: 0 }
const chosen = values.target?.map(targetNamed) ?? targets
try {
  for (const target of chosen) {
    if (jobsOf(target).length === 0) continue
    const missing = target.missing?.() ?? target.server?.missing()
    if (missing === undefined) await runTarget(target, await environmentFor(target))
    else {
      console.log(`skipped: ${target.name}: ${missing}`)
      counts.skipped += jobs.length
      results.leaveOut(target, missing)
    }
    results.write()
  }
} finally {
  for (const { stop } of running.values()) await stop()
}
console.log(countsLine(counts))
