// The benchmark runs, at the smallest size. What it measures says nothing here.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { HANG_MS } from '../../../../tests/support/waiting.mjs'

const program = fileURLToPath(new URL('../main.js', import.meta.url))
const small = ['--entries', '50', '--target', 'terrace-net', '--target', 'local terrace']

/** Runs the benchmark. Returns what it prints and what it writes. */
async function run(t, ...args) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-bench-test-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, 'results.jsonl')
  const { stdout } = await promisify(execFile)(process.execPath, [
    program,
    ...small,
    ...args,
    '--results',
    file
  ])
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return { printed: stdout, written: lines.map((line) => JSON.parse(line)) }
}

for (const transport of ['unix', 'tcp']) {
  test(`it compares a server on ${transport} with the database itself`, { timeout: HANG_MS }, async (t) => {
    const { printed, written } = await run(t, '--transport', transport, '--rounds', '1', '--operations', '20')
    const rows = printed.split('\n').filter((line) => line.startsWith('| '))
    assert.equal(rows.length, 1 + 6)
    assert.equal(written.length, 2 * 6)
    assert.ok(written.every(({ count, seconds }) => count > 0 && seconds > 0))
  })
}

test('it measures the memory of a server with idle clients', { timeout: HANG_MS }, async (t) => {
  const { written } = await run(t, '--idle', '3')
  const [{ mode, connected, before, after }] = written
  assert.equal(mode, 'idle')
  assert.equal(connected, 3)
  assert.ok(before.rss > 0 && after.heapUsed > 0)
})

test('it samples the memory of a server that works on', { timeout: HANG_MS }, async (t) => {
  const { written } = await run(t, '--soak', '4000', '--max-growth-mb', '20')
  assert.equal(written.length, 8)
  assert.equal(written.at(-1).done, 4000)
  assert.ok(written.every(({ mode, isSteady }) => mode === 'soak' && isSteady))
})
