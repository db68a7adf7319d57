// The table and the picture of the README are those of the results.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryDirectory } from './support/run.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))

test('the README shows what results/ has', (t) => {
  const picture = join(temporaryDirectory(t), 'summary.svg')
  const table = execFileSync(process.execPath, ['bench/readme-table.mjs', picture], {
    cwd: root,
    encoding: 'utf8'
  })
  assert.ok(readFileSync(join(root, 'README.md'), 'utf8').includes(table))
  assert.equal(readFileSync(picture, 'utf8'), readFileSync(join(root, 'bench/results/summary.svg'), 'utf8'))
})
