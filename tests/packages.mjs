// Tests a package: what `npm test` runs in each. In the root it tests every package, those first that others depend on.
//
//   npm test                              in a package: builds what its tests need, then runs all of them
//   npm test -- 'a name'                  the tests whose names contain this; -t NAME is the same
//   npm test -- test/close.test.js        a file, or a directory of files
//   npm test --workspace packages/net -- 'a name'
//
// All of its tests are: the type tests, test/**/*.test.js, and abstract-level's suite over its databases.
// TERRACE_SHORT=1 leaves out *.long.test.js. TERRACE_BUILT=1 builds nothing.

import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { buildForTests } from '../scripts/build.mjs'
import { packagesIn, root } from '../scripts/workspace.mjs'
import { fileLine, placeOf } from './support/test-lines.mjs'
import { HANG_MS } from './support/waiting.mjs'

const { TERRACE_BUILT, TERRACE_SHORT } = process.env
const REPORTER = new URL('./support/reporter.mjs', import.meta.url).href
const COMPILER = join(root, 'node_modules/typescript/bin/tsc')

/** A test file that takes longer hangs. */
const MAX_FILE_MS = 6 * HANG_MS

/** Programs that are no tests of Node's runner, after those that are. */
const PROGRAMS = ['test/suite/run.mjs']
/** Where no tests are, but what they use. */
const NO_TESTS = ['support', 'fixtures', 'node_modules']

const { names, paths } = argumentsOf(process.argv.slice(2))
const here = placeOf(process.cwd())
const chosen = packagesIn().filter(({ directory }) =>
  paths.length > 0 ? paths.some((path) => isWithin(path, directory)) : isWithin(directory, here)
)
if (chosen.length === 0) fail(`no package is in ${process.cwd()}`)

let hasFailed = false
let found = 0
for (const one of chosen) {
  if (chosen.length > 1) console.log(`== ${one.directory}`)
  if (TERRACE_BUILT !== '1') buildForTests(one)
  await testPackage(one.directory)
}
if (names.length > 0 && found === 0) fail(`no test has a name with "${names.join('" or "')}"`)
if (hasFailed) process.exitCode = 1

async function testPackage(directory) {
  const within = paths
    .filter((path) => isWithin(path, directory))
    .map((path) => path.slice(directory.length + 1))
  const isWhole = within.length === 0 && names.length === 0
  if (isWhole && existsSync(join(root, directory, 'tsconfig.test.json'))) {
    note(spawnSync(process.execPath, [COMPILER, '--project', 'tsconfig.test.json'], run(directory)).status)
  }

  const files = (within.length > 0 ? within : ['test']).flatMap((path) => testsIn(directory, path))
  const tests = withNames(directory, files)
  if (tests.length > 0) note(await runTests(directory, tests))

  for (const program of PROGRAMS) {
    if (!(isWhole || within.includes(program)) || !existsSync(join(root, directory, program))) continue
    const begun = performance.now()
    note(spawnSync(process.execPath, [program], run(directory)).status)
    const seconds = (performance.now() - begun) / 1000
    if (seconds > 1) process.stdout.write(fileLine(`${directory}/${program}`, seconds))
  }
}

/** Runs files of tests, prints what they came to, and counts those that have been chosen by name. */
async function runTests(directory, files) {
  const patterns = names.map((name) => `--test-name-pattern=${name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}`)
  const reporter = [`--test-reporter=${REPORTER}`, '--test-reporter-destination=stdout']
  const args = ['--expose-gc', '--test', `--test-timeout=${MAX_FILE_MS}`, ...reporter, ...patterns, ...files]
  const child = spawn(process.execPath, args, {
    ...run(directory),
    stdio: ['inherit', 'pipe', 'inherit']
  })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (part) => {
    process.stdout.write(part)
    text = (text + part).slice(-1000)
  })
  const status = await new Promise((resolve) => child.on('close', resolve))
  const counts = /^(\d+) passed, (\d+) failed, (\d+) skipped$/m.exec(text) ?? []
  found += counts.slice(1).reduce((sum, count) => sum + Number(count), 0)
  return status
}

/** The files of tests at a path in a package. One that is named is run in the short form too. */
function testsIn(directory, path) {
  const at = join(root, directory, path)
  if (!existsSync(at) || statSync(at).isFile()) return /\.test\.js$/.test(path) ? [path] : []
  return readdirSync(at, { withFileTypes: true })
    .filter((entry) => !(entry.isDirectory() && NO_TESTS.includes(entry.name)))
    .flatMap((entry) => testsIn(directory, `${path}/${entry.name}`))
    .filter((file) => !(TERRACE_SHORT === '1' && file.endsWith('.long.test.js')))
    .sort()
}

/** The files whose text contains a requested name, or all of them if none does: many names are composed at run time. */
function withNames(directory, files) {
  const having = files.filter((file) => {
    const text = readFileSync(join(root, directory, file), 'utf8')
    return names.some((name) => text.includes(name))
  })
  return having.length > 0 ? having : files
}

function argumentsOf(args) {
  const names = []
  const paths = []
  for (let i = 0; i < args.length; i++) {
    if (args[i] === '-t') names.push(args[++i] ?? fail('-t needs a name'))
    else if (existsSync(args[i])) paths.push(placeOf(resolve(args[i])))
    else if (/\.m?js$/.test(args[i])) fail(`there is no ${args[i]}`)
    else names.push(args[i])
  }
  return { names, paths }
}

function isWithin(path, directory) {
  return directory === '' || path === directory || path.startsWith(`${directory}/`)
}

function run(directory) {
  return { cwd: join(root, directory), stdio: 'inherit' }
}

function note(status) {
  if (status !== 0) hasFailed = true
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
