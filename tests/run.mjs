// Runs parts of the tests, which are the targets test-NAME of tests/all.mk, and prints a table of what each came to.
//
//   node tests/run.mjs [--setup TARGET] [--build TARGET] [--beside NAME] [--from NAME] [--lanes 2] NAME …
//
// The two targets come first, and must pass. The parts run in lanes, and all of them run even if one fails; those named by --beside need
// nothing of what is built, and run beside it. What a part prints is in target/test-logs/NAME; of a part that failed, its failures are
// also printed here. --from leaves out what comes before a part. With TERRACE_SHORT=1, a test file that takes too long fails the run, see
// tests/rules/slow-files.json.

import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { failuresIn } from './support/failures.mjs'
import { countsIn, filesIn, skippedIn } from './support/logs.mjs'
import { slowFiles } from './support/slow-files.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const logs = join(root, 'target/test-logs')

/** Of Linux, everywhere. */
const TICKS_PER_SECOND = 100

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    setup: { type: 'string' },
    build: { type: 'string' },
    beside: { type: 'string', default: '' },
    from: { type: 'string', default: '' },
    lanes: { type: 'string', default: '2' }
  }
})
const start = values.from === '' ? 0 : positionals.indexOf(values.from)
if (start < 0) {
  console.error(`There is no part '${values.from}'. The parts: ${positionals.join(', ')}`)
  process.exit(2)
}
const queue = positionals.slice(start)
const isShort = process.env.TERRACE_SHORT === '1'

/** @type {{ name: string, seconds: number, passed: number, failed: number, skipped: number, status: number, note: string }[]} */
const rows = []
const files = new Map()
/** Processor time of the parts that have ended, in seconds. */
let cpuSeen = 0
const began = performance.now()

mkdirSync(logs, { recursive: true })
if (values.setup !== undefined && (await run(values.setup, values.setup)) !== 0) finish()
const build = values.build === undefined ? Promise.resolve(0) : run(values.build, values.build)
const others = Array.from({ length: Number(values.lanes) - 1 }, besideBuild)
if ((await build) !== 0) queue.length = 0
await Promise.all([lane(), ...others])
finish()

/** Runs what needs nothing of what is built, then what is next in the queue. */
async function besideBuild() {
  for (const name of values.beside.split(',').filter((name) => queue.includes(name))) {
    queue.splice(queue.indexOf(name), 1)
    await run(name, `test-${name}`)
  }
  await build
  await lane()
}

/** Runs what is next in the queue until nothing is left. */
async function lane() {
  for (let name = queue.shift(); name !== undefined; name = queue.shift()) await run(name, `test-${name}`)
}

/** Runs a target of make, with its output in a file, and notes what it came to. Returns its exit code. */
async function run(name, target) {
  const log = join(logs, name)
  rmSync(log, { force: true })
  const file = openSync(log, 'a')
  const since = performance.now()
  let cpu = 0
  say(`${name} …`)
  const status = await new Promise((resolve) => {
    const child = spawn('make', ['--no-print-directory', target], {
      cwd: root,
      stdio: ['ignore', file, file],
      env: { ...process.env, ...(name === target ? {} : { TERRACE_BUILT: '1' }) }
    })
    child.once('error', (error) => {
      console.error(`make cannot be started: ${error.message}`)
      resolve(127)
    })
    child.once('exit', (code) => {
      // What a process took is added to its parent's when it has ended: no other part's is within.
      cpu = childrenSeconds() - cpuSeen
      cpuSeen += cpu
      resolve(code ?? 1)
    })
  })
  closeSync(file)
  const seconds = (performance.now() - since) / 1000
  const lines = readFileSync(log, 'utf8').split('\n')
  for (const [path, time] of filesIn(lines)) files.set(path, Math.max(time, files.get(path) ?? 0))
  const counts = countsIn(lines)
  const isLeftOut = counts.passed + counts.failed === 0
  rows.push({ name, seconds, cpu, status, ...counts, note: isLeftOut ? skippedIn(lines).join('; ') : '' })
  say(`${name} ${status === 0 ? 'passed' : 'FAILED'} in ${duration(seconds)}`)
  if (status !== 0)
    console.log(`${failuresIn(lines).join('\n')}\nAll that it printed: target/test-logs/${name}`)
  return status
}

function say(text) {
  console.log(`${new Date().toTimeString().slice(0, 8)} ${text}`)
}

/** Processor time of all processes that this one has started and that have ended, with theirs; 0 where the system does not tell. */
function childrenSeconds() {
  if (process.platform !== 'linux') return 0
  const [, fields] = readFileSync('/proc/self/stat', 'utf8').split(') ')
  const [user, system] = fields.split(' ').slice(13, 15).map(Number)
  return (user + system) / TICKS_PER_SECOND
}

function duration(seconds) {
  return seconds < 100
    ? `${seconds.toFixed(1)} s`
    : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
}

/** Prints the table, and ends the program. */
function finish() {
  const all = (what) => rows.reduce((sum, row) => sum + row[what], 0)
  console.log('\n| part | time | CPU | passed | failed | skipped | |\n|---|--:|--:|--:|--:|--:|---|')
  for (const { name, seconds, cpu, passed, failed, skipped, status, note } of rows) {
    const counts = [passed, failed, skipped].map((count) => (passed + failed + skipped > 0 ? count : ''))
    console.log(
      `| ${[name, duration(seconds), `${cpu.toFixed(0)} s`, ...counts, status === 0 ? note : 'FAILED'].join(' | ')} |`
    )
  }
  console.log(
    `| all | ${duration((performance.now() - began) / 1000)} | ${all('cpu').toFixed(0)} s | ${all('passed')} | ${all('failed')} | ${all('skipped')} | |\n`
  )

  const broken = rows.filter(({ status }) => status !== 0)
  const slow = isShort ? judgeFiles() : []
  if (broken.length > 0) {
    console.log(
      `Failed: ${broken.map(({ name }) => name).join(', ')}. One part alone: make test-NAME. From one on: make … FROM=NAME`
    )
  }
  console.log(`${all('passed')} passed, ${all('failed')} failed, ${all('skipped')} skipped`)
  process.exit(broken.length > 0 || slow.length > 0 ? 1 : 0)
}

/** Prints the slowest files, and those that take longer than they may. Returns the latter. */
function judgeFiles() {
  const slowest = [...files].sort(([, a], [, b]) => b - a).slice(0, 5)
  if (slowest.length > 0) {
    console.log(
      `The slowest files: ${slowest.map(([path, seconds]) => `${path} ${seconds.toFixed(1)} s`).join(', ')}`
    )
  }
  const slow = slowFiles(files)
  if (slow.length > 0) console.log(slow.join('\n'))
  return slow
}
