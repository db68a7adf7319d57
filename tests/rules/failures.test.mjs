// The end of a long log tells which tests failed (tests/support/failures.mjs).

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { failuresIn } from '../support/failures.mjs'

/** What a test file that Node runs prints. */
const TEST_FILE = `
  import { test } from 'node:test'
  test('outer', (t) => t.test('inner', () => { throw new Error('the reason') }))
  test('passes', () => {})
`

test('failed tests are told with their places and reasons, and nothing else is', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-failures-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, 'some.test.mjs')
  writeFileSync(file, TEST_FILE)
  const { NODE_TEST_CONTEXT, ...env } = process.env
  const tap = spawnSync(process.execPath, ['--test', '--test-reporter=tap', file], { env, encoding: 'utf8' })
  assert.equal(tap.status, 1, tap.stderr)
  const others = 'test wal::torn_record ... FAILED\ntest wal::record ... ok\nmake[1]: *** [node] Error 2\n'

  assert.match(
    failuresIn((tap.stdout + others).split('\n')).join('\n'),
    /^inner · '.*some\.test\.mjs:3:\d+' · 'the reason'\ntest wal::torn_record \.\.\. FAILED\nmake\[1\]: \*\*\* \[node\] Error 2$/
  )
})
