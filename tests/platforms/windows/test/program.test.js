// The program, by the launcher that npm installs.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const require = createRequire(new URL('../../../../packages/terrace/package.json', import.meta.url))
const { Level } = require('terrace')
const launcher = fileURLToPath(new URL('../../../../packages/cli/dist/main.js', import.meta.url))

function newDirectory(t) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-program-'))
  t.after(() => rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))
  return directory
}

/** Runs the program. It writes to files: in wine, Node's writes to a pipe fail. */
function terrace(directory, ...args) {
  const [out, err] = ['out', 'err'].map((name) => join(directory, name))
  const files = [out, err].map((file) => openSync(file, 'w'))
  const { status, error } = spawnSync(process.execPath, [launcher, ...args], { stdio: ['ignore', ...files] })
  for (const file of files) closeSync(file)
  return { status, error, out: readFileSync(out, 'utf8'), err: readFileSync(err, 'utf8') }
}

test('the program reads, copies and writes a database of Level, and ends with its own exit code', async (t) => {
  const directory = newDirectory(t)
  const [location, copy] = [join(directory, '數據庫'), join(directory, 'copy')]
  const db = new Level(location)
  await db.batch([
    { type: 'put', key: 'a', value: '1' },
    { type: 'put', key: 'é', value: 'ü' }
  ])
  const beside = terrace(directory, 'scan', location)
  assert.deepEqual(
    { ...beside, out: beside.out.replaceAll('\r', '') },
    { status: 0, error: undefined, out: 'a\t1\né\tü\n', err: '' }
  )
  const refused = terrace(directory, 'put', location, 'b', '2')
  assert.equal(refused.status, 4)
  assert.match(refused.err, new RegExp(`in use by process ${process.pid}`))
  await db.close()

  assert.equal(terrace(directory, 'copy', location, copy).status, 0)
  assert.equal(terrace(directory, 'put', copy, 'b', '2').status, 0)
  assert.equal(terrace(directory, 'diff', location, copy).status, 1)
  assert.equal(terrace(directory, 'verify', copy).status, 0)
  const copied = new Level(copy)
  assert.deepEqual(await copied.keys().all(), ['a', 'b', 'é'])
  await copied.close()
  assert.equal(terrace(directory, 'scan', join(directory, 'nothing')).status, 3)
})
