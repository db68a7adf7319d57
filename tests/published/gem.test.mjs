// What is in the gem.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { files, root } from '../rules/tracked.mjs'

test('the gem has its sources, licence and README, and nothing else', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-gem-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const gem = join(directory, 'terrace-leveldb.gem')
  const options = { cwd: join(root, 'ruby'), encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }
  execFileSync('gem', ['build', '--output', gem, 'terrace-leveldb.gemspec'], options)
  const data = execFileSync('tar', ['xOf', gem, 'data.tar.gz'])
  const packed = execFileSync('tar', ['tz'], { input: data, encoding: 'utf8' }).trim().split('\n')

  const tracked = files.filter((file) => file.startsWith('ruby/')).map((file) => file.slice('ruby/'.length))
  const wanted = tracked.filter((file) => /^(lib\/.*\.rb|README\.md|LICENSE)$/.test(file))
  assert.deepEqual(packed.toSorted(), wanted.toSorted())
  assert.ok(wanted.length > 3)
})
