// Tests that packages ship, unmodified: each file prints the same assertions on leveldown 6.1.1 and on Terrace.

import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { environment } from '../../../support/projects.mjs'
import { LEGACY, ran, TREES } from './support/both.js'

const NULLS = 'leveldown 6 refuses null and undefined values'
const MEMDOWN = 'it reads what memdown 1 had inside'

/**
 * The packages, the files of their tests, those that do not pass on leveldown 6.1.1 and memdown 6.1.1 either, with the reason, those
 * with assertions that pass there alone, and those that are left out.
 */
const PACKAGES = [
  {
    name: 'levelup-0.18',
    ...levelup({ 'write-stream-test.js': 'leveldown 6 refuses operations without a type' })
  },
  {
    name: 'levelup-0.19',
    ...levelup({ 'write-stream-test.js': 'leveldown 6 refuses operations without a type' })
  },
  {
    name: 'levelup-1',
    ...levelup({
      'approximate-size-test.js': 'the message of another error',
      'batch-test.js': NULLS,
      'null-and-undefined-test.js': NULLS
    })
  },
  {
    name: 'levelup-2',
    tests: /-test\.js$/,
    fail: {
      'read-stream-test.js': 'encoding-down has no `start` and `end`',
      'batch-test.js': NULLS,
      'null-and-undefined-test.js': NULLS,
      'leveldown-substitution-test.js': MEMDOWN
    },
    without: ['browserify-test.js']
  },
  {
    name: 'level-sublevel',
    // The second reads while its batch is being written, which leveldown does not always answer with all entries.
    without: ['mock.js', 'key-stream-issues.js']
  },
  {
    name: 'level-sublevel-5',
    fail: Object.fromEntries(
      [
        'batch.js',
        'key-value-stream.js',
        'keyvalue.js',
        'limit.js',
        'mixed-value-encodings-per-action.js',
        'mixed-value-encodings-per-sub.js',
        'mixed-value-encodings-writeStream-per-sub.js',
        'mixed-value-encodings-writeStream-per-write.js',
        'reverse-order.js',
        'reverse.js',
        'streams-sublevel-key-value.js',
        'streams.js'
      ].map((file) => [file, 'they need a levelup before 1'])
    ),
    without: ['key-stream-issues.js']
  },
  {
    name: 'subleveldown-2',
    fail: { 'index.js': 'an abstract-leveldown of its own time' },
    without: ['common.js']
  },
  {
    name: 'subleveldown-4',
    // memdown's seek() finds entries that were written after the iterator was made. Ours has a snapshot.
    differ: { 'index.js': Array(3).fill('key is as expected') }
  },
  { name: 'subleveldown-5', fail: { 'index.js': 'it closes a parent that is not open' } },
  { name: 'encoding-down-5' },
  { name: 'encoding-down-6' },
  { name: 'multileveldown-3' },
  { name: 'level-party-4' },
  {
    name: 'multilevel',
    fail: { 'live-stream.js': 'the version of level-live-stream' },
    // stream.js closes its database twice and reads in between.
    without: ['util.js', 'stream.js']
  },
  // append.js writes outside of the directory that it is given. log.js reads without waiting for its own deletion, which leveldown lets
  // finish first, since it takes turns of the event loop for each read.
  { name: 'ssb-db', without: ['append.js', 'log.js'] },
  { name: 'flumeview-level', without: ['bench.js'] },
  { name: 'level-mem-4', within: '.', tests: /^test\.js$/ },
  { name: 'level-mem-5', within: '.', tests: /^test\.js$/ },
  { name: 'level-packager-4', within: '.', tests: /^test\.js$/ },
  { name: 'level-packager-5', within: '.', tests: /^test\.js$/ }
]

/** The tests of levelup before 2. */
function levelup(fail) {
  return {
    tests: /-test\.js$/,
    fail: {
      'init-test.js': 'memdown 6 has no location',
      'leveldown-substitution-test.js': MEMDOWN,
      ...fail
    },
    // The first bundles for browsers, the second changes what Node has loaded of leveldown's package.json.
    without: ['browserify-test.js', 'optional-leveldown-test.js']
  }
}

/** Runs a file of tests in one tree. Returns what became of each assertion, by TAP. */
async function outcomes(t, tree, name, file) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-shipped-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const preload = join(tree, 'programs', 'support', 'preload.js')
  const env = { ...environment, HOME: directory, TMPDIR: directory }
  const { status, stdout, stderr } = await ran(
    [...LEGACY[tree], '--require', preload, join(tree, 'node_modules', name, file)],
    directory,
    { env }
  )
  // Streams that run side by side may end in another order.
  const lines = stdout
    .split('\n')
    .filter((line) => /^\s*(not )?ok\b/.test(line))
    .map((line) => line.trim().replace(/^((?:not )?ok) \d+/, '$1'))
    .sort()
  return {
    status,
    lines,
    failed: lines.filter((line) => line.startsWith('not ok')),
    output: `${stderr}${stdout}`.slice(-3000)
  }
}

for (const { name, within = 'test', tests = /\.js$/, fail = {}, differ = {}, without = [] } of PACKAGES) {
  test(name, async (t) => {
    const files = readdirSync(join(TREES.original, 'node_modules', name, within))
    const wanted = files.filter((file) => tests.test(file) && !without.includes(file)).sort()
    assert.ok(wanted.length > 0)
    let assertions = 0
    // One after another: some write beside themselves, or into a directory that they name.
    for (const file of wanted) {
      await t.test(file, async (t) => {
        const original = await outcomes(t, TREES.original, name, join(within, file))
        const ours = await outcomes(t, TREES.terrace, name, join(within, file))
        if (file in fail) assert.notEqual(original.status, 0)
        else assert.equal(original.status, 0, original.output)
        const { [file]: texts = [] } = differ
        const failing = texts.map((text) => `not ok ${text}`)
        assert.deepEqual(ours.failed, [...original.failed, ...failing].sort(), ours.output)
        const passing = [...ours.lines, ...texts.map((text) => `ok ${text}`)]
        for (const line of failing) passing.splice(passing.indexOf(line), 1)
        assert.deepEqual(passing.sort(), original.lines, ours.output)
        if (texts.length === 0) assert.equal(ours.status, original.status, ours.output)
        assertions += ours.lines.length - ours.failed.length
      })
    }
    t.diagnostic(`${assertions} assertions`)
  })
}
