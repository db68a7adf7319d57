// What programs from npm cost on terrace-leveldown, compared with leveldown:
//
//   node bench/packages/leveldown/programs.js [--rounds 7] [--size 1] [--only NAME …] [--results FILE]
//
// The programs are those of tests/downstream/leveldown, whose prepare.js must have run. It replaces leveldown and memdown with ours, as
// an override does. Each round runs the workload of each program (workloads.js) on both, each in a new process and an empty
// directory, first on one and then on the other, in an order that rotates. Times do not include starting the process and
// loading the packages. Ratios are medians of the ratios within each round. Progress goes to standard error, tables to
// standard output.
//
// On a busy machine, compare processor times: a thread that seldom sleeps, as that of a program on Terrace, waits longer for a core.
//
// --results appends a line of JSON for each run: program, version, database, round, and for each step the milliseconds and the processor
// time of all threads.

import { fork } from 'node:child_process'
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { commit, machine } from '../../../scripts/machine.mjs'
import { distinct, median } from '../../node/src/statistics.js'

/** The programs, with the package that has the version, if its name is another. */
const PROGRAMS = {
  levelup: undefined,
  level: 'level-7',
  'level-mem': undefined,
  'level-sublevel': undefined,
  subleveldown: undefined,
  multilevel: undefined,
  multileveldown: undefined,
  'level-party': undefined,
  'level-ttl': undefined,
  PouchDB: 'pouchdb-core',
  'merkle-patricia-tree': undefined,
  'y-leveldb': 'y-leveldb-0.1',
  dynalite: undefined,
  'ethereumjs-blockchain': undefined,
  ganache: undefined,
  'flumelog-level': undefined,
  'flumeview-level': undefined,
  'ssb-db': undefined
}

const root = fileURLToPath(new URL('../../..', import.meta.url))
const TREES = {
  terrace: join(root, 'target', 'leveldown-clients'),
  leveldown: join(root, 'tests', 'downstream', 'leveldown')
}

const { values: args } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    size: { type: 'string', default: '1' },
    only: { type: 'string', multiple: true, default: Object.keys(PROGRAMS) },
    results: { type: 'string' }
  }
})
for (const tree of Object.values(TREES)) {
  if (existsSync(join(tree, 'node_modules'))) continue
  throw new Error(`${tree} has no node_modules: run "make bench-leveldown-programs"`)
}
const unknown = args.only.filter((name) => !Object.hasOwn(PROGRAMS, name))
if (unknown.length > 0) throw new Error(`There is no program ${unknown.join(', ')}`)

const here = { date: new Date().toISOString(), commit: commit(), load: loadavg()[0], ...machine('.') }
const rounds = Number(args.rounds)

/** Runs a program on one of the databases. Returns its steps, and the milliseconds that loading the database's package took. */
async function measured(program, database) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-programs-'))
  try {
    const child = fork(
      fileURLToPath(new URL('workloads.js', import.meta.url)),
      [TREES[database], program, args.size],
      { cwd: directory, execArgv: ['--no-deprecation'], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }
    )
    let result
    child.on('message', (message) => (result = message))
    const code = await new Promise((resolve) => child.on('close', resolve))
    if (code !== 0 || result === undefined) throw new Error(`${program} failed on ${database}: ${code}`)
    return result
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function versionOf(program) {
  const file = join(TREES.leveldown, 'node_modules', PROGRAMS[program] ?? program, 'package.json')
  return JSON.parse(readFileSync(file, 'utf8')).version
}

const runs = []
for (let round = 0; round < rounds; round++) {
  for (const program of args.only) {
    const databases = Object.keys(TREES)
    for (const database of round % 2 === 0 ? databases : databases.toReversed()) {
      const run = { program, version: versionOf(program), database, round }
      runs.push({ ...run, ...(await measured(program, database)) })
      if (args.results !== undefined) {
        appendFileSync(
          args.results,
          `${JSON.stringify({ ...runs.at(-1), size: Number(args.size), ...here })}\n`
        )
      }
    }
    const [other, own] = runs.slice(-2).map(({ steps }) => sum(steps, 'milliseconds'))
    console.error(`round ${round + 1} of ${rounds}: ${program}, ${((other + own) / 1000).toFixed(1)} s`)
  }
}

function sum(steps, what) {
  return steps.reduce((total, step) => total + step[what], 0)
}

/** A row: what `pick` takes from the steps of each run, by time and by processor time, with the ratios. */
function row(title, program, pick) {
  const found = runs.filter((run) => run.program === program)
  const cells = ['milliseconds', 'processor'].flatMap((what) => {
    const [own, other] = Object.keys(TREES).map((database) =>
      found.filter((run) => run.database === database).map(({ steps }) => pick(steps, what))
    )
    const ratio = median(own.map((time, i) => other[i] / time))
    return [median(own), median(other)].map((time) => time.toFixed(0)).concat(ratio.toFixed(2))
  })
  console.log(`| ${title} | ${cells.join(' | ')} |`)
}

function header(title) {
  const columns = ['terrace', 'leveldown', 'times as fast']
  const processor = ['processor time: terrace', 'leveldown', 'leveldown ÷ terrace']
  console.log(`| ${[title, ...columns, ...processor].join(' | ')} |\n|---|${'---:|'.repeat(6)}`)
}

const programs = distinct(runs.map(({ program }) => program))
const stepsOf = (program) => runs.find((run) => run.program === program).steps
header('whole workload: ms')
for (const program of programs) row(`${program} ${versionOf(program)}`, program, sum)
console.log()
header('per operation: µs')
for (const program of programs) {
  for (const [i, { name, count }] of stepsOf(program).entries()) {
    const perOperation = (steps, what) => (steps[i][what] * 1000) / count
    row(`${program}: ${name}, ${count.toLocaleString('en')}`, program, perOperation)
  }
}
const loading = Object.keys(TREES).map((database) => {
  const times = runs.filter((run) => run.database === database).map((run) => run.loading)
  return `${database} ${median(times).toFixed(0)} ms`
})
console.log(
  `\n${here.cpu}, ${here.cores} cores, Node ${here.node}, at ${here.commit ?? 'no commit'}. ${rounds} rounds. ` +
    `Loading the package, which the times above do not include: ${loading.join(', ')}. ` +
    `Load of the machine: ${here.load.toFixed(1)} at the beginning, ${loadavg()[0].toFixed(1)} at the end. ` +
    'On a busy machine, compare processor times: a thread that seldom sleeps, as on Terrace, waits longer for a core.'
)
