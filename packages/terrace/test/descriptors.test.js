// Databases in a process that may open few files.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isShort } from '../../../tests/support/form.mjs'
import { temporaryDirectory } from './support/databases.js'

const fill = fileURLToPath(new URL('./support/fill.js', import.meta.url))

/** In tables of 1 MB, either is more than the process may open. */
const megabytes = isShort ? 75 : 150

const skip = process.platform === 'win32' && 'a shell sets the limit, and Windows has none'

/** Fills and reads databases in a process of `descriptors`. */
function run(t, descriptors, databases, options) {
  const directory = temporaryDirectory(t)
  const directories = Array.from({ length: databases }, (_, number) => join(directory, `db${number}`))
  const plan = JSON.stringify({ directories, megabytes, options })
  const command = `ulimit -n ${descriptors}; exec "$0" "$1" "$2"`
  const child = spawnSync('sh', ['-c', command, process.execPath, fill, plan], { encoding: 'utf8' })
  assert.match(child.stdout, /filled and read/, child.stderr)
  assert.equal(child.status, 0, child.stderr)
}

test(`${megabytes} MB with ulimit -n 64`, { skip }, (t) => run(t, 64, 1, {}))

test(`${megabytes} MB in many small tables with ulimit -n 64`, { skip }, (t) =>
  run(t, 64, 1, { maxFileSize: 1 << 20 })
)

test(`${megabytes} MB in many small tables that are not mapped with ulimit -n 64`, { skip }, (t) =>
  run(t, 64, 1, { maxFileSize: 1 << 20, mapTables: false })
)

test(`${megabytes} MB in four databases with ulimit -n 64`, { skip }, (t) =>
  run(t, 64, 4, { maxFileSize: 1 << 20, mapTables: false })
)
