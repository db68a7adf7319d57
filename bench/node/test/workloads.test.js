// Every workload runs, and records what it measured.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { WORKLOADS } from '../src/workloads/index.js'
import { temporaryDirectory, terraceBench } from './support/run.js'

const N = 2000
const SMALL = ['-n', String(N), '--batch-size', '100', '--rounds', '1', '--seconds', '1']

/** The first line of workloads that have several. */
const FIRST_LINES = { calls: 'put, awaited', databases: 'batch', sublevels: 'batch' }

async function results(t, ...args) {
  const file = join(temporaryDirectory(t), 'results.jsonl')
  const { code, stdout, stderr } = await terraceBench('run', ...args, '--results', file)
  assert.equal(code, 0, stderr)
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return { stdout, stderr, results: lines.map((line) => JSON.parse(line)) }
}

test('rounds: every target once in each, in turns', async (t) => {
  const args = ['put', 'terrace', 'memory-level', '-n', '1000', '--rounds', '3']
  const { results: found, stdout } = await results(t, ...args)
  assert.deepEqual(
    found.map(({ round, target }) => `${round} ${target}`),
    ['0 terrace', '0 memory-level', '1 memory-level', '1 terrace', '2 terrace', '2 memory-level']
  )
  assert.match(stdout, /medians of 3 rounds\n[\s\S]*: times as fast as terrace/)
})

for (const workload of Object.keys(WORKLOADS).filter((name) => !['open', 'table'].includes(name))) {
  test(`${workload}: two targets`, async (t) => {
    const { results: found, stdout } = await results(t, workload, 'terrace', 'memory-level', ...SMALL)
    assert.deepEqual(
      found.map(({ target }) => target),
      ['terrace', 'memory-level']
    )

    for (const result of found) {
      assert.equal(result.workload, workload)
      assert.equal(result.package.name, result.target)
      assert.match(result.package.version, /^\d+\.\d+\.\d+/)
      assert.equal(result.settings.n, N)
      assert.ok(result.machine.cores > 0 && result.machine.node === process.version)
      assert.ok(result.memory.peakRssBytes > 1e6 && result.memory.peakHeapBytes > 1e6)
      assert.ok(result.target === 'memory-level' || result.fileBytes > N * 100)
      assert.ok(Math.abs(new Date(result.date) - Date.now()) < 60_000)

      const [{ name, ops, seconds, microsPerOp, eventLoop }] = result.lines
      assert.equal(name, FIRST_LINES[workload] ?? workload)
      if (['sustained', 'cold-read', 'plain-loop', 'calls'].includes(workload)) assert.ok(ops > 0)
      else assert.equal(ops, N)
      assert.ok(seconds > 0 && Math.abs(microsPerOp - (seconds * 1e6) / ops) < 1e-6)
      assert.ok(eventLoop.count > 0 && eventLoop.min <= eventLoop.p50 && eventLoop.p50 <= eventLoop.max)
    }

    assert.match(stdout, /\| *terrace \| *memory-level \|/)
    assert.match(stdout, /: times as fast as [\s\S]*\| +\d+\.\d\d \|/)
  })
}

test('put: options of keys, values and writes', async (t) => {
  for (const options of [
    ['--key-order', 'sorted', '--concurrency', '64', '--sync'],
    ['--key-distribution', 'zipfian', '--value-size', '1000'],
    ['--key-encoding', 'buffer', '--value-encoding', 'view'],
    ['--value-encoding', 'json']
  ]) {
    const { results: found } = await results(t, 'put', 'terrace', '-n', '1000', '--rounds', '1', ...options)
    assert.equal(found[0].lines[0].ops, 1000)
  }
})

test('sorted-write: the times of batches, also with random keys', async (t) => {
  for (const order of ['sorted', 'random']) {
    const { results: found } = await results(t, 'sorted-write', 'terrace', ...SMALL, '--key-order', order)
    const [{ batches, lines }] = found
    assert.equal(lines[0].name, `${order}-write`)
    assert.equal(batches.count, N / 100)
    assert.equal(batches.series.seconds.length, N / 100)
    assert.ok(batches.p50 <= batches.p99 && batches.p99 <= batches.max)
    assert.ok(Math.abs(batches.max / Math.max(...batches.series.max) - 1) < 0.001)
  }
})

test('sustained: every delay of the event loop is in the histogram', async (t) => {
  const { results: found } = await results(t, 'sustained', 'terrace', ...SMALL)
  const [{ eventLoopBuckets, lines }] = found
  const counted = eventLoopBuckets.reduce((sum, { count }) => sum + count, 0)
  assert.equal(counted, lines[0].eventLoop.count)
  assert.ok(eventLoopBuckets.at(-1).to >= lines[0].eventLoop.max)
})

test('sustained: batches are made before the loop, which they do not hold up', async (t) => {
  const large = [
    '-n',
    '200000',
    '--batch-size',
    '100000',
    '--concurrency',
    '1',
    '--seconds',
    '1',
    '--rounds',
    '1'
  ]
  const { results: found, stdout } = await results(t, 'sustained', 'terrace', ...large)
  const [{ lines }] = found
  assert.ok(lines[0].ops >= 100_000 && lines[0].ops % 100_000 === 0)
  assert.match(stdout, /100000 a call, concurrency 1/)
})

test('cold-read: files are dropped from memory, and read again', async (t) => {
  for (const options of [[], ['--read-percent', '50', '--sync']]) {
    const { results: found, stdout } = await results(t, 'cold-read', 'terrace', ...SMALL, ...options)
    const [{ pageCache, eventLoopBuckets, lines }] = found
    assert.ok(pageCache.fileBytes > N * 1000)
    assert.ok(pageCache.residentAtStartBytes === null || pageCache.residentAtEndBytes > 0)
    assert.equal(
      eventLoopBuckets.reduce((sum, { count }) => sum + count, 0),
      lines[0].eventLoop.count
    )
    assert.match(stdout, /\| of them in memory at the start, % /)
  }
})

test('values compress as far as they should, and options of reads are passed', async (t) => {
  const targets = ['none=terrace', 'snappy=terrace', '--db', 'none={"compression": false}']
  const { results: found } = await results(
    t,
    ...[
      'iterate',
      ...targets,
      '-n',
      '100000',
      '--rounds',
      '1',
      '--compacted',
      '--compressible-percent',
      '50'
    ],
    ...['--read-options', '{"fillCache": false}']
  )
  const [none, snappy] = found.map(({ fileBytes }) => fileBytes)
  assert.ok(snappy < 0.75 * none, `${snappy} against ${none}`)
  assert.deepEqual(found[0].settings.readOptions, { fillCache: false })
})

test('options of databases, for all targets and for one, and a target twice', async (t) => {
  const { results: found } = await results(
    t,
    ...['put', 'terrace', 'small=terrace', '-n', '1000', '--rounds', '1'],
    ...['--db', '{"blockSize": 8192}', '--db', 'small={"writeBufferSize": 65536}']
  )
  assert.deepEqual(
    found.map(({ target, databaseOptions }) => [target, databaseOptions]),
    [
      ['terrace', { blockSize: 8192 }],
      ['small', { blockSize: 8192, writeBufferSize: 65536 }]
    ]
  )
})
