// The order of writes, and what a failed one leaves.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { testWrites } from '../../../../tests/support/back-ends/writes.mjs'
import { HANG_MS } from '../../../../tests/support/waiting.mjs'
import { openLevel, temporaryDirectory } from './support/databases.js'

testWrites({ test, openLevel })

for (const [name, ...args] of [['a write'], ['a conditional write', 'if']]) {
  test(`${name} that has no room is refused with the reason, and nothing of it is there`, (t) => {
    if (process.platform === 'win32') {
      t.diagnostic('not run: Windows has no limit on the size of files')
      return
    }

    const fill = fileURLToPath(new URL('support/fill.js', import.meta.url))
    const location = temporaryDirectory(t)
    // The signal is ignored, so that the call fails instead. The unit of the limit is 512 bytes or 1 KiB, by the shell.
    const command = `trap '' XFSZ; ulimit -f 4000; exec "$0" "$@"`
    const { stdout, stderr } = spawnSync(
      '/bin/sh',
      ['-c', command, process.execPath, fill, location, ...args],
      {
        encoding: 'utf8',
        timeout: HANG_MS
      }
    )
    assert.notEqual(stdout, '', stderr)
    const { written, code, cause, path, keys, small } = JSON.parse(stdout)
    assert.equal(code, 'LEVEL_IO_ERROR')
    // LMDB reports the call that fails, or EIO if one wrote a part.
    assert.match(cause, /^(EFBIG|EIO)$/)
    assert.equal(path, location)
    assert.ok(written > 10 && written < 1000)
    assert.equal(keys.length, 2 * written)
    assert.equal(small, 'value')
  })
}
