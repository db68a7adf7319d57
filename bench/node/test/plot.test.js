// Every kind of result can be drawn, and the picture names what it shows.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ratioDots } from '../src/plot/dots.js'
import { temporaryDirectory, terraceBench } from './support/run.js'

const PNG = Buffer.from('89504e470d0a1a0a', 'hex')
const SHORT = ['-n', '500', '--batch-size', '10', '--rounds', '1']
const CASES = [
  ['table', [], /getMany of 100, a key/],
  ['sorted-write', [], /s in all; a batch: median/],
  ['sustained', ['--seconds', '1'], /writes a second; delays: median/, 'sustained-batches'],
  ['cold-read', ['--seconds', '1'], / reads a second; delays: median/],
  ['cold-read', ['--seconds', '1', '--read-percent', '50'], /reads and writes a second/, 'cold-read-write']
]

for (const [workload, options, text, name = workload] of CASES) {
  test(`${name}: svg and png`, async (t) => {
    const directory = temporaryDirectory(t)
    const results = join(directory, 'results.jsonl')
    const args = [workload, 'terrace', 'memory-level', ...SHORT, ...options, '--results', results]
    assert.equal((await terraceBench('run', ...args)).code, 0)

    const { code, stderr } = await terraceBench('plot', results, '--out', join(directory, 'picture'))
    assert.equal(code, 0, stderr)
    const svg = readFileSync(join(directory, `picture-${name}.svg`), 'utf8')
    for (const expected of ['terrace', 'memory-level', text]) assert.match(svg, new RegExp(expected))
    assert.doesNotMatch(svg, /NaN|undefined/)
    assertFollowsScheme(svg)

    const png = readFileSync(join(directory, `picture-${name}.png`))
    assert.deepEqual(png.subarray(0, 8), PNG)
    // Width and height, twice those of the SVG.
    const [, width, height] = svg.match(/<svg[^>]* width="([\d.]+)" height="([\d.]+)"/)
    assert.ok(Math.abs(png.readUInt32BE(16) - 2 * width) <= 2)
    assert.ok(Math.abs(png.readUInt32BE(20) - 2 * height) <= 2)
  })
}

test('a target alone is drawn by its times', async (t) => {
  const results = join(temporaryDirectory(t), 'results.jsonl')
  assert.equal((await terraceBench('run', 'table', 'memory-level', ...SHORT, '--results', results)).code, 0)
  const { code, stderr } = await terraceBench('plot', results)
  assert.equal(code, 0, stderr)
  const svg = readFileSync(results.replace('.jsonl', '-table.svg'), 'utf8')
  for (const expected of [/getMany of 100, a key/, /µs per operation, logarithmic/])
    assert.match(svg, expected)
  assert.doesNotMatch(svg, /NaN|undefined|times as fast/)
})

test('ratios that would cover each other at the edge are drawn where they are', () => {
  const valuesOf = (...ratios) =>
    ratioDots(
      {},
      ratios.map((ratio, index) => ({ line: 'put', target: `${index}`, ratio }))
    ).data.values
  assert.deepEqual(
    valuesOf(1, 1000, 1 / 1000).map(({ shown }) => shown),
    [1, 128, 1 / 128]
  )
  assert.deepEqual(
    valuesOf(1, 1 / 1000, 1 / 2000).map(({ shown }) => shown),
    [1, 1 / 1000, 1 / 2000]
  )
  const { scale, axis } = ratioDots({}, [
    { line: 'put', target: 'a', ratio: 1 / 3000 },
    { line: 'put', target: 'b', ratio: 1 / 50_000 }
  ]).encoding.x
  assert.deepEqual(
    [scale.domain, axis.values],
    [
      [1 / 65_536, 4],
      [1 / 65_536, 1 / 4096, 1 / 256, 1 / 16, 1]
    ]
  )
})

/** Every colour of the picture has one for a dark scheme. */
function assertFollowsScheme(svg) {
  const [, style] = svg.match(/<style>@media \(prefers-color-scheme:dark\)\{(.*?)\}<\/style>/)
  const colours = [...svg.matchAll(/(?:fill|stroke)="(?!none|transparent)([^"]+)"/g)].map(
    ([, colour]) => colour
  )
  assert.ok(new Set(colours).size > 3)
  assert.deepEqual(
    colours.filter((colour) => !style.includes(`[fill="${colour}"]`)),
    []
  )
}
