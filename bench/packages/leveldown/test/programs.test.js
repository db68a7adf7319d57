// The benchmark of programs runs, at the smallest size. What it measures says nothing here.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { HANG_MS } from '../../../../tests/support/waiting.mjs'

const program = fileURLToPath(new URL('../programs.js', import.meta.url))

test('each program runs on both databases', { timeout: HANG_MS }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-bench-test-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, 'results.jsonl')
  const { stdout } = await promisify(execFile)(process.execPath, [
    program,
    ...['--rounds', '1', '--size', '0.005', '--results', file]
  ])
  const runs = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const programs = new Set(runs.map(({ program }) => program))
  const [whole, steps] = stdout
    .split('\n\n')
    .map((part) => part.split('\n').filter((line) => line.startsWith('| ')).length - 1)
  assert.equal(runs.length, 2 * programs.size)
  assert.equal(whole, programs.size)
  assert.ok(steps >= 2 * whole)
  assert.ok(
    runs.every(({ steps }) =>
      steps.every(({ milliseconds, processor }) => milliseconds > 0 && processor >= 0)
    )
  )
})
