// The table has a line for each kind of operation that a target can do.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory, terraceBench } from './support/run.js'

const LEVELS = ['terrace', 'terrace:leveldb', 'classic-level', 'memory-level']
/** SQLite comes as source, which `make bench-node` compiles. Until then it is left out. */
const OTHERS = ['lmdb', 'better-sqlite3']

test('table: all targets', async (t) => {
  const file = join(temporaryDirectory(t), 'results.jsonl')
  const args = [
    'table',
    ...LEVELS,
    ...OTHERS,
    '-n',
    '1000',
    '--rounds',
    '1',
    '--skip-missing',
    '--results',
    file
  ]
  const { code, stdout, stderr } = await terraceBench('run', ...args)
  assert.equal(code, 0, stderr)

  const lines = readFileSync(file, 'utf8').trim().split('\n')
  const found = new Map(
    lines
      .map((line) => JSON.parse(line))
      .map((result) => [result.target, result.lines.map(({ name }) => name)])
  )

  const ofAll = ['batch of 1000, sequential', 'batch of 1000, random', 'getSync']
  const ofLevels = [
    'put, concurrency 1',
    'put, concurrency 64',
    'get, concurrency 4',
    'getMany of 100, a key',
    'for await, per entry',
    'nextv(1000), per entry',
    'for await in reverse',
    'for await, keys only',
    'for await, values only',
    'range of 100, per entry',
    'put through two sublevels, concurrency 4',
    'put, buffer, concurrency 4',
    'get, view, concurrency 4',
    'for await, view, per entry'
  ]
  const blocking = ['putSync', 'delSync', 'batchSync of 1000', 'iterateSync, per entry']
  const synced = 'put with sync, concurrency 64'

  const leftOut =
    /left out: better-sqlite3: does not open: its native part is missing: run 'npm rebuild/.test(stderr)
  assert.deepEqual([...found.keys()], [...LEVELS, ...OTHERS].slice(0, leftOut ? -1 : undefined))
  for (const [target, names] of found) {
    for (const line of ofAll) assert.ok(names.includes(line), `${target}: ${line}`)
    for (const line of ofLevels) assert.equal(names.includes(line), has(target, line), `${target}: ${line}`)
    for (const line of OTHERS.includes(target) ? blocking : [])
      assert.ok(names.includes(line), `${target}: ${line}`)
    assert.equal(names.includes(synced), !['memory-level', 'better-sqlite3'].includes(target), target)
    assert.match(stdout, new RegExp(`\\| +${target} `))
  }
  assert.match(
    stdout,
    /\*\*table\*\*: times as fast as classic-level\n\n[\s\S]*\| put, concurrency 1 +\| +\d+\.\d\d \|/
  )

  function has(target, line) {
    if (LEVELS.includes(target)) return true
    return target === 'lmdb' && /^(put, (conc|buffer)|getMany)/.test(line)
  }
})
