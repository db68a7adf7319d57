// The parts that figures depend on.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileSystem } from '../../../scripts/machine.mjs'
import { Entries } from '../src/entries.js'
import { EventLoopMonitor } from '../src/event-loop.js'
import { Random, shuffled, zipfian } from '../src/random.js'
import { reportOf } from '../src/report.js'
import { lineNames, median } from '../src/statistics.js'
import { percentiles, series } from '../src/workloads/sorted-write.js'

const entries = (encoding) =>
  new Entries({ valueSize: 100, keyEncoding: encoding, valueEncoding: encoding, seed: 1 })

for (const encoding of ['utf8', 'buffer', 'view']) {
  test(`entries in ${encoding}: keys are in order, values belong to their keys`, () => {
    const some = entries(encoding)
    assert.equal(some.key(42).length, 16)
    assert.equal(some.value(42).length, 100)
    assert.equal(some.indexOf(some.key(1_234_567)), 1_234_567)
    assert.ok(Buffer.from(some.key(9)).compare(Buffer.from(some.key(10))) < 0)
    assert.ok(Buffer.from(some.missingKey(9)).compare(Buffer.from(some.key(10))) < 0)
    assert.ok(Buffer.from(some.missingKey(9)).compare(Buffer.from(some.key(9))) > 0)
    assert.ok(some.holds(42, entries(encoding).value(42)))
    assert.ok(!some.holds(42, some.value(43)))
    assert.ok(!some.holds(42, some.value(42).slice(0, 99)))
    assert.ok(!some.holds(42, encoding === 'utf8' ? Buffer.from(some.value(42)) : String(some.value(42))))
  })
}

test('random numbers follow from their seed', () => {
  const some = (seed) => [...shuffled(1000, new Random(seed))]
  assert.deepEqual(some(1), some(1))
  assert.notDeepEqual(some(1), some(2))
  assert.deepEqual(
    some(1).sort((a, b) => a - b),
    Array.from({ length: 1000 }, (_, i) => i)
  )
})

test('zipfian numbers: the first is as frequent as theory says, none is out of bounds', () => {
  const next = zipfian(1000, new Random(1))
  const counts = new Uint32Array(1000)
  for (let i = 0; i < 100_000; i++) counts[next()]++
  // 1 / zeta(1000, 0.99)
  assert.ok(Math.abs(counts[0] / 100_000 - 0.1295) < 0.005, `${counts[0]}`)
  assert.ok(counts[0] > counts[1] && counts[1] > counts[10] && counts[10] > counts[500])
  assert.equal(
    counts.reduce((a, b) => a + b),
    100_000
  )
})

test('a blocked event loop is seen, also right at the beginning and end', async () => {
  const monitor = await EventLoopMonitor.start()
  for (const end = performance.now() + 80; performance.now() < end; );
  await monitor.stop()
  assert.ok(monitor.delays.max >= 80 && monitor.delays.max < 1000, JSON.stringify(monitor.delays))
  assert.equal(
    monitor.buckets.reduce((sum, { count }) => sum + count, 0),
    monitor.delays.count
  )
  assert.ok(
    monitor.buckets.some(({ from, to, count }) => from <= monitor.delays.max && to >= 80 && count >= 1)
  )
})

test('times of batches: percentiles, and at most 2,000 points that lose no maximum', () => {
  const millis = Float64Array.from({ length: 10_000 }, (_, i) => (i === 4321 ? 500 : 1))
  assert.deepEqual(percentiles(millis), { p50: 1, p99: 1, 'p99.9': 1, max: 500 })
  const { batchesEach, seconds, mean, max } = series(millis)
  assert.equal(batchesEach, 5)
  assert.equal(seconds.length, 2000)
  assert.equal(max[864], 500)
  assert.equal(mean[864], (500 + 4) / 5)
  assert.equal(seconds.at(-1), 10.499)
})

test('tables: medians of times, and of ratios within rounds', () => {
  const result = (target, round, micros) => ({
    workload: 'put',
    target,
    package: { name: target, version: '1.0.0' },
    databaseOptions: {},
    settings: {
      n: 10,
      valueSize: 1,
      concurrency: 1,
      batchSize: 1,
      keyOrder: 'random',
      keyDistribution: 'uniform'
    },
    round,
    lines: [{ name: 'put', microsPerOp: micros, eventLoop: { p50: 1, p99: 1, max: 2 } }],
    memory: { peakRssBytes: 5e6, peakHeapBytes: 3e6 },
    machine: {
      cpu: 'a cpu',
      cores: 2,
      memoryBytes: 2 ** 33,
      os: 'an os',
      kernel: 'k',
      fileSystem: 'fs',
      node: 'v20'
    },
    commit: 'abc'
  })
  const slowMinute = [result('fast', 0, 1), result('classic-level', 0, 4), result('fast', 1, 10)]
  const results = [
    ...slowMinute,
    result('classic-level', 1, 30),
    result('fast', 2, 2),
    result('classic-level', 2, 6)
  ]
  const text = reportOf(results)
  assert.match(text, /10 entries, .* medians of 3 rounds\n/)
  assert.match(text, /\| put +\| +2\.00 \| +6\.00 \|/)
  assert.match(text, /times as fast as classic-level\n\n\| +\| fast \|\n.*\n\| put \| 3\.00 \|/)
  assert.match(text, /- a cpu, 2 cores, 8 GiB, an os, k, fs, Node v20, commit abc/)
  assert.equal(median([1, 2, 3, 10]), 2.5)
})

test('lines of a table stay in order if a target has some that others lack', () => {
  const result = (...names) => ({ lines: names.map((name) => ({ name })) })
  const names = lineNames([result('a', 'x', 'c', 'd'), result('a', 'b', 'c', 'e', 'f')])
  assert.deepEqual(names, ['a', 'b', 'x', 'c', 'e', 'f', 'd'])
})

test('the closest mount counts', () => {
  const mounts = '/dev/a / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n'
  assert.equal(fileSystem(mounts, '/tmp/bench'), 'tmpfs')
  assert.equal(fileSystem(mounts, '/tmpfiles'), 'ext4')
})
