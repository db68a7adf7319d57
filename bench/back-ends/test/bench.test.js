// The short form of `make bench-back-ends`: every target that runs without a server is measured in every line.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { targets } from '../targets.js'

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url))
const local = targets.filter(({ server }) => server === undefined).map(({ name }) => name)

test('each target is measured in each line', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-bench-test-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, 'results.jsonl')
  const chosen = local.flatMap((name) => ['--target', name])
  const amount = ['-n', '3000', '--seconds', '1', '--rounds', '1', '--dir', directory, '--results', file]
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...chosen, ...amount], {
    encoding: 'utf8'
  })
  assert.equal(status, 0, stderr)
  const results = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    results.map(({ target }) => target),
    local
  )
  const names = results[0].lines.map(({ name }) => name)
  assert.equal(names.length, 8)
  for (const { target, lines } of results) {
    assert.deepEqual(
      lines.map(({ name }) => name),
      names,
      target
    )
    for (const { name, ops, microsPerOp } of lines)
      assert.ok(ops > 0 && microsPerOp > 0, `${target}, ${name}`)
  }
  for (const name of names) assert.ok(stdout.includes(`| ${name} `), name)
})

test('a target that does not exist is named', () => {
  const { status, stderr } = spawnSync(process.execPath, [MAIN, '--target', 'NoLevel'], { encoding: 'utf8' })
  assert.equal(status, 1)
  assert.match(stderr, /there is no target 'NoLevel': Level; MemoryLevel; LmdbLevel/)
})
