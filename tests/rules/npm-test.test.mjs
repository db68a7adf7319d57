// What `npm test` prints and chooses (tests/packages.mjs, tests/support/reporter.mjs), and what it builds on (scripts/build.mjs).

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { tidy } from '../../scripts/build.mjs'
import { packagesIn } from '../../scripts/workspace.mjs'
import { root } from './tracked.mjs'

const { NODE_TEST_CONTEXT, ...environment } = process.env

const TEST_FILE = `
  import assert from 'node:assert/strict'
  import { test } from 'node:test'
  console.log('what the file prints')
  test('outer', (t) => t.test('inner', () => assert.equal(1, 2)))
  test('passes', () => {})
  const skip = 'for this reason'
  test('left out', { skip }, () => {})
`

function makeDirectory(t) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-npm-test-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

function run(args, options) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    ...options,
    env: { ...environment, ...options?.env }
  })
  return { status, stdout, stderr }
}

/** Runs tests of terrace-bytewise, which is built. */
function runTests(...args) {
  const cwd = join(root, 'packages', 'bytewise')
  return run([join(root, 'tests', 'packages.mjs'), ...args], { cwd, env: { TERRACE_BUILT: '1' } })
}

test('failures are reported with places and reasons, then the counts, and names go to a file', (t) => {
  const directory = makeDirectory(t)
  const [file, names] = [join(directory, 'some.test.mjs'), join(directory, 'names')]
  writeFileSync(file, TEST_FILE)
  const reporter = join(root, 'tests', 'support', 'reporter.mjs')
  const { status, stdout } = run(['--test', `--test-reporter=${reporter}`, file], {
    env: { TERRACE_TEST_NAMES: names }
  })
  assert.equal(status, 1)
  const place = relative(root, file)
  const lines = stdout.split('\n')
  assert.equal(lines[0], `✖ outer › inner (${place}:5)`)
  assert.match(lines[1], /^ {2}AssertionError \[ERR_ASSERTION\]: Expected values to be strictly equal:$/)
  assert.ok(lines.includes('  1 !== 2'))
  assert.ok(lines.includes(`skipped: left out (${place}): for this reason`))
  assert.ok(lines.includes(`output of ${place}:`) && lines.includes('  what the file prints'))
  assert.deepEqual(lines.slice(-3), [
    'tests 1 passed, 1 failed, 1 skipped',
    '1 passed, 1 failed, 1 skipped',
    ''
  ])
  const named = ['outer › inner', 'outer', 'passes', 'left out'].map((name) => `${place} › ${name}\n`)
  assert.equal(readFileSync(names, 'utf8'), named.join(''))
})

test('one test runs by its name, or one file', () => {
  const name = 'every example has a check and every check an example'
  assert.match(runTests('test/format.test.js', '-t', name).stdout, /^tests 1 passed, 0 failed, 0 skipped$/m)
  assert.match(runTests(name).stdout, /^tests 1 passed, 0 failed, 0 skipped$/m)
  assert.match(runTests('test/format.test.js').stdout, /^tests \d+ passed, 0 failed, 0 skipped$/m)
})

test('a name that no test has, and a file that is missing, are errors', () => {
  const nobody = runTests('test/format.test.js', 'no test is named so')
  assert.equal(nobody.status, 1)
  assert.equal(nobody.stderr, 'no test has a name with "no test is named so"\n')
  const missing = runTests('test/missing.test.js')
  assert.equal(missing.status, 1)
  assert.equal(missing.stderr, 'there is no test/missing.test.js\n')
})

test('what was built of a removed source is removed, and what is missing is built again', (t) => {
  const directory = makeDirectory(t)
  for (const each of ['src', 'dist']) mkdirSync(join(directory, each))
  for (const file of [
    'src/kept.ts',
    'dist/kept.js',
    'dist/removed.js',
    'dist/removed.d.ts',
    'dist/.tsbuildinfo'
  ])
    writeFileSync(join(directory, file), '')
  const isThere = (file) => existsSync(join(directory, 'dist', file))

  tidy(directory)
  assert.deepEqual(['kept.js', 'removed.js', 'removed.d.ts'].map(isThere), [true, false, false])
  assert.ok(isThere('.tsbuildinfo'))
  rmSync(join(directory, 'dist', 'kept.js'))
  tidy(directory)
  assert.ok(!isThere('.tsbuildinfo'))
})

test('the packages are in an order in which none comes before one that it depends on', () => {
  const packages = packagesIn()
  const names = packages.map(({ name }) => name)
  for (const [at, { manifest }] of packages.entries()) {
    for (const name of Object.keys(manifest.dependencies ?? {})) {
      assert.ok(names.indexOf(name) < at, `${name} before ${manifest.name}`)
    }
  }
})
