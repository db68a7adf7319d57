// The workload that creates and opens databases: what it records, and how it counts system calls.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { countCalls, MARK } from '../src/opening/trace.js'
import { reportOf } from '../src/report.js'
import { temporaryDirectory, terraceBench } from './support/run.js'

const LINES = [
  'create and close',
  'open and close, empty',
  'open and close, 200 entries',
  'open and close after a kill, 200 entries in the log',
  'open and close, 20 tables'
]
const SMALL = ['-n', '200', '--tables', '20', '--stores', '30', '--repeats', '3', '--rounds', '2']

test('open: every kind of database, its system calls, and many at once', async (t) => {
  const directory = temporaryDirectory(t)
  const file = join(directory, 'results.jsonl')
  const args = ['open', 'terrace', 'classic-level', ...SMALL, '--dir', directory, '--results', file]
  const { code, stdout, stderr } = await terraceBench('run', ...args)
  assert.equal(code, 0, stderr)
  const results = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    results.map(({ target }) => target),
    ['terrace', 'classic-level', 'classic-level', 'terrace']
  )
  const canTrace = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0
  if (!canTrace) t.diagnostic('system calls are not counted: strace is missing or not allowed')
  for (const { target, lines, calls, many, settings } of results) {
    assert.deepEqual(
      lines.map(({ name, ops }) => [name, ops]),
      LINES.map((name) => [name, 3])
    )
    assert.equal(settings.sync, true)
    assert.deepEqual(Object.keys(calls), LINES)
    for (const line of LINES) {
      if (!canTrace) assert.equal(calls[line], null)
      else assert.ok(calls[line].total > 20 && calls[line].total > calls[line].syncs, `${target}, ${line}`)
    }
    if (canTrace) assert.ok(calls['create and close'].syncs >= 1)
    assert.equal(many.databases, 30)
    assert.ok(many.microsPerOpen > 0)
    if (process.platform === 'linux') assert.ok(many.growth.descriptors >= 30)
  }
  assert.match(stdout, /\*\*open\*\*: syncs \/ system calls, once/)
  assert.match(stdout, /\| 30 databases: memory added, MB +\| +\d/)
})

test('open: a database in memory is refused, since it has no files', async () => {
  const { code, stderr } = await terraceBench('run', 'open', 'memory-level', ...SMALL)
  assert.equal(code, 1)
  assert.match(stderr, /memory-level: has no files to open/)
})

test('calls of all threads between the marks are counted once each', () => {
  const output = [
    '10 openat(AT_FDCWD, "before", O_RDONLY) = 3',
    `10 access("${MARK}", F_OK) = -1 ENOENT (No such file or directory)`,
    '10 openat(AT_FDCWD, "a", O_RDONLY) = 3',
    '11 fsync(4 <unfinished ...>',
    '10 read(3, "x", 1) = 1',
    '11 <... fsync resumed>) = 0',
    '11 fdatasync(4) = 0',
    '11 +++ exited with 0 +++',
    `10 access("${MARK}", F_OK) = -1 ENOENT (No such file or directory)`,
    '10 fsync(5) = 0'
  ]
  assert.deepEqual(countCalls(output.join('\n')), { syncs: 2, total: 4 })
  assert.throws(() => countCalls(output.slice(2).join('\n')), /1 marks/)
})

test('the report leaves out what could not be counted', () => {
  const result = {
    workload: 'open',
    target: 'one',
    package: { name: 'one', version: '1.0.0' },
    databaseOptions: {},
    settings: { n: 10, valueSize: 1 },
    round: 0,
    lines: ['a', 'b'].map((name) => ({ name, microsPerOp: 1 })),
    memory: { peakRssBytes: 5e6, peakHeapBytes: 3e6 },
    calls: { a: { syncs: 2, total: 30 }, b: null },
    many: { databases: 5, microsPerOpen: 7, growth: null },
    machine: { cpu: 'c', cores: 2, memoryBytes: 2 ** 33, os: 'o', kernel: 'k', fileSystem: 'f', node: 'v20' },
    commit: null
  }
  const text = reportOf([result])
  assert.match(text, /\| a +\| +2 \/ 30 \|\n\| b +\| +– \|/)
  assert.match(
    text,
    /\| 5 databases: µs to create one +\| +7\.00 \|\n\| 5 databases: memory added, MB +\| +– \|/
  )
})
