// Every program in `examples/` runs to its end, and leaves nothing in the directory for temporary files.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { HANG_MS } from '../../../tests/support/waiting.mjs'

const examples = fileURLToPath(new URL('../../../examples', import.meta.url))
const names = readdirSync(examples).filter((name) => name.endsWith('.mjs'))

test('there is an example for each part, and one that uses them together', () => {
  assert.deepEqual(names.sort(), [
    'app.mjs',
    'copy.mjs',
    'feed.mjs',
    'index.mjs',
    'lock.mjs',
    'streams.mjs',
    'transaction.mjs',
    'ttl.mjs'
  ])
})

for (const name of names) {
  test(`examples/${name}`, () => {
    const directory = mkdtempSync(join(tmpdir(), 'terrace-examples-'))
    try {
      const { status, stdout, stderr } = spawnSync(process.execPath, [join(examples, name)], {
        env: { ...process.env, TMPDIR: directory },
        encoding: 'utf8',
        timeout: HANG_MS
      })
      assert.equal(stderr, '')
      assert.equal(status, 0)
      assert.notEqual(stdout, '')
      assert.deepEqual(readdirSync(directory), [])
    } finally {
      rmSync(directory, { recursive: true })
    }
  })
}
