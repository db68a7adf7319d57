// The examples of README.md: each runs, and prints what its comments say.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as bytewise from 'terrace-bytewise'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const examples = [...readme.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map((match) => match[1])

/** What an example says it prints: the comments after the calls, or on lines of their own. */
function expectedOutput(example) {
  return example
    .split('\n')
    .map((line) => line.match(/(?:console\.log.*|^)\/\/ (.*)$/)?.[1])
    .filter((text) => text !== undefined && !text.endsWith(':'))
}

test('the examples print what they say', () => {
  assert.equal(examples.length, 3)
  const directory = mkdtempSync(join(tmpdir(), 'terrace-bytewise-readme-'))
  try {
    symlinkSync(
      fileURLToPath(new URL('../../../node_modules', import.meta.url)),
      join(directory, 'node_modules')
    )
    for (const example of examples) {
      writeFileSync(join(directory, 'example.mjs'), example)
      const { stdout, stderr } = spawnSync(process.execPath, ['example.mjs'], {
        cwd: directory,
        encoding: 'utf8'
      })
      assert.equal(stderr, '')
      assert.deepEqual(stdout.trim().split('\n'), expectedOutput(example))
      assert.ok(expectedOutput(example).length > 0)
    }
  } finally {
    rmSync(directory, { recursive: true })
  }
})

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
