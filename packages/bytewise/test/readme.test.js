// What README.md says of errors and limits. `make test-docs` runs its examples.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import * as bytewise from 'terrace-bytewise'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

test('every code and every limit is in the table of errors', () => {
  const declarations = readFileSync(new URL('../dist/errors.d.ts', import.meta.url), 'utf8')
  const codes = [...new Set(declarations.match(/BYTEWISE_[A-Z_]+/g))]
  assert.deepEqual(
    [...new Set(readme.match(/`BYTEWISE_[A-Z_]+`/g))].map((code) => code.slice(1, -1)).sort(),
    codes.sort()
  )
  assert.ok(readme.includes(`\`MAX_DEPTH\`, ${bytewise.MAX_DEPTH.toLocaleString('en')}`))
  assert.ok(readme.includes(`\`MAX_KEY_SIZE_BYTES\`, ${bytewise.MAX_KEY_SIZE_BYTES / 2 ** 20} MiB`))
})
