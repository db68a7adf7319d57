// Error messages name the problem and the remedy.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse, runSettings } from '../src/options.js'
import { WORKLOADS } from '../src/workloads/index.js'
import { temporaryDirectory, terraceBench } from './support/run.js'

const settingsOf = (...args) => runSettings(parse('run', args))

test('defaults depend on the workload', () => {
  assert.equal(settingsOf('put').settings.n, 1_000_000)
  assert.equal(settingsOf('table').settings.n, 300_000)
  assert.equal(settingsOf('sorted-write').settings.n, 10_000_000)
  assert.equal(settingsOf('sorted-write', '--key-order', 'random').settings.n, 3_000_000)
  assert.equal(settingsOf('sustained').settings.concurrency, 64)
  assert.deepEqual(settingsOf('put').targets, ['terrace'])
})

test('numbers may be written as 1e6 or 1_000', () => {
  assert.equal(settingsOf('put', '-n', '1e6').settings.n, 1_000_000)
  assert.equal(settingsOf('put', '--n', '1_000').settings.n, 1000)
})

test('wrong options are named', () => {
  const wrong = [
    [[], /name a workload: put, /],
    [['write'], /unknown workload write: put, /],
    [['put', '--n', 'many'], /--n must be an integer .* not many/],
    [['put', '-n', '0'], /--n must be an integer from 1/],
    [['put', '--read-percent', '101'], /--read-percent must be an integer from 0 to 100/],
    [['put', '--key-order', 'up'], /--key-order must be one of sorted, random: not up/],
    [['put', '--key-encoding', 'latin1'], /--key-encoding must be one of utf8/],
    [['put', '--db', 'cacheSize=1'], /--db wants an object of JSON/],
    [['put', '--db', '[1]'], /--db wants an object of JSON/],
    [['put', '--db', 'missing.json'], /there is no file missing\.json/],
    [['get', '--read-options', 'fillCache'], /--read-options wants an object of JSON/],
    [['put', '--compressible-percent', '101'], /--compressible-percent must be an integer from 0 to 100/],
    [['put', '--fast'], /Unknown option '--fast'[\s\S]*--help/]
  ]
  for (const [args, message] of wrong)
    assert.throws(() => settingsOf(...args), { name: 'UsageError', message })
})

test('options of databases may be in a file', (t) => {
  const file = join(temporaryDirectory(t), 'options.json')
  writeFileSync(file, '{"cacheSize": 1}')
  assert.deepEqual(settingsOf('put', '--db', file).databaseOptions.all, { cacheSize: 1 })
  assert.deepEqual(settingsOf('put', '--db', `lmdb=${file}`).databaseOptions.lmdb, { cacheSize: 1 })
})

test('the program says what to do', async (t) => {
  const file = join(temporaryDirectory(t), 'two.js')
  const body = 'open() {} close() {} batch() {}'
  writeFileSync(file, `module.exports = { One: class { ${body} }, Two: class { ${body} }, version: 1 }`)
  const wrong = [
    [['race'], /unknown command race: choose one of run, report, plot/],
    [['run', 'put', 'no-such-level'], /no-such-level is not installed: run 'npm install no-such-level'/],
    [['run', 'put', './no-such-file.js'], /there is no such file/],
    [['run', 'put', file], /several classes: choose with --class \(One, Two\)/],
    [['run', 'put', file, '--class', 'Three'], /no database class named Three/],
    [
      ['run', 'put', 'memory-level', 'memory-level'],
      /two targets are named memory-level: tell them apart with LABEL=/
    ],
    [['run', 'put', 'memory-level', '--db', 'lmdb={}'], /there is no such target in this run/],
    [['run', 'put', 'memory-level', '--reference', 'lmdb'], /--reference lmdb is none of memory-level/],
    [
      ['run', 'put', 'terrace', '-n', '4e9', '--value-size', '1e6'],
      /are free: choose another directory with --dir/
    ],
    [['run', 'put', 'terrace', '--dir', '/dev/null'], /choose with --dir/],
    [['run', 'put', 'lmdb', '--key-encoding', 'view'], /lmdb: does not open: there is no encoding view/],
    [['report'], /name a file of results/],
    [['report', 'no-such-file.jsonl'], /cannot read results: ENOENT/],
    [['plot', file], /line 1: this is not a result of terrace-bench/]
  ]
  for (const [args, message] of wrong) {
    const { code, stdout, stderr } = await terraceBench(...args)
    assert.equal(code, 1, args.join(' '))
    assert.match(stderr, message)
    assert.doesNotMatch(stderr, /\n +at /)
    assert.equal(stdout, '')
  }
})

test('targets that do not load can be left out, with the reason', async () => {
  const args = ['run', 'put', 'no-such-level', 'memory-level', '-n', '100', '--rounds', '1', '--skip-missing']
  const { code, stdout, stderr } = await terraceBench(...args)
  assert.equal(code, 0)
  assert.match(stderr, /left out: the package no-such-level is not installed/)
  assert.match(stdout, /memory-level/)
})

test('help names every workload and has examples for each command', async () => {
  for (const command of ['run', 'report', 'plot']) {
    const { code, stdout } = await terraceBench(command, '--help')
    assert.equal(code, 0)
    assert.match(stdout, new RegExp(`\n  terrace-bench ${command} `))
  }
  const { stdout } = await terraceBench('run', '--help')
  for (const name of Object.keys(WORKLOADS)) assert.match(stdout, new RegExp(`\n  ${name} `))
})
