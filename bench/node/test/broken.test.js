// A database that is fast because it is wrong does not get a result.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryDirectory, terraceBench } from './support/run.js'

const BROKEN = fileURLToPath(new URL('support/broken.js', import.meta.url))
const CASES = [
  ['put', 'LosesPuts', /1000 entries were written, but \d+ were found/],
  ['batch-put', 'LosesOfBatches', /1000 entries were written, but \d+ were found/],
  ['put', 'MixesValues', /has a wrong value/],
  ['get', 'FindsLess', /is not found/],
  ['put', 'FindsAll', /is found, but was never written/],
  ['clear', 'ClearsNothing', /was never written/],
  ['iterate', 'EndsEarly', /1000 entries were written, but 50 were found/],
  ['databases', 'LosesOfBatches', /entries were written, but \d+ were found/],
  ['sublevels', 'FindsLess', /is not found/],
  ['cold-read', 'FindsLess', /is not found/],
  ['cold-read', 'EndsEarly', /entries were written, but \d+ were found/]
]

for (const [workload, className, message] of CASES) {
  test(`${workload}: ${className} is found out`, async (t) => {
    const results = join(temporaryDirectory(t), 'results.jsonl')
    const options = ['--class', className, '--in-memory', '-n', '1000', '--results', results]
    const { code, stdout, stderr } = await terraceBench('run', workload, BROKEN, ...options)
    assert.equal(code, 1)
    assert.match(stderr, message)
    assert.equal(stdout, '')
    assert.ok(!existsSync(results))
  })
}
