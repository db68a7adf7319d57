// A view passes the published test suite of abstract-level.
//
// In the full form only: the suite runs in the short form on the databases themselves.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { databases, directory } from '../support/databases.js'

const suite = fileURLToPath(new URL('../support/ttl-suite.mjs', import.meta.url))

for (const name of Object.keys(databases)) {
  test(`${name}: a view is a database as abstract-level has it`, (t) => {
    const { status, stdout } = spawnSync(process.execPath, [suite, name, directory(t)], {
      encoding: 'utf8',
      maxBuffer: 2 ** 26
    })
    const failures = stdout.split('\n').filter((line) => line.startsWith('not ok'))
    assert.deepEqual(failures, [])
    assert.equal(status, 0)
    const checks = Number(/^# tests (\d+)$/m.exec(stdout)?.[1])
    assert.ok(checks >= 4700, `${checks} checks`)
  })
}
