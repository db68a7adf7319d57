// Archives of the same files are the same bytes, whenever and wherever the files were written.

import assert from 'node:assert/strict'
import { readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { packDirectory, stageIn } from '../../../scripts/prebuilds/archive.mjs'
import { temporaryDirectory } from './support.mjs'

for (const ending of ['.tar.gz', '.zip']) {
  test(`${ending}: order, times, permissions and place of the files leave no trace`, (t) => {
    const [first, second] = [
      packed(t, ending, { files: ['a', 'b/c', 'd'], seconds: 1e9, umask: 0o022 }),
      packed(t, ending, { files: ['d', 'b/c', 'a'], seconds: 1.5e9, umask: 0o077 })
    ]
    assert.ok(first.equals(second))
    const other = packed(t, ending, { files: ['a', 'b/c'], seconds: 1e9, umask: 0o022 })
    assert.ok(!first.equals(other))
  })
}

/** The bytes of an archive of `files` and a link. */
function packed(t, ending, { files, seconds, umask }) {
  const directory = temporaryDirectory(t)
  const stage = join(directory, 'package')
  const before = process.umask(umask)
  try {
    const install = stageIn(stage)
    for (const file of files) {
      writeFileSync(join(directory, 'source'), `contents of ${file}`)
      utimesSync(install(join(directory, 'source'), file, file === 'a' ? 0o755 : 0o644), seconds, seconds)
    }
    writeFileSync(join(stage, 'written'), 'without permissions of its own')
    symlinkSync('a', join(stage, 'link'))
    packDirectory(stage, join(directory, `package${ending}`))
  } finally {
    process.umask(before)
  }
  return readFileSync(join(directory, `package${ending}`))
}
