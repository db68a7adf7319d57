// Runs a program of a document, and compares what it prints with its comments.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HANG_MS } from '../../../../tests/support/waiting.mjs'
import { root } from '../../root.mjs'

// What marks a child of a test run would make `node:test` in the program report to us.
const { NODE_TEST_CONTEXT: _, ...environment } = process.env

/** The name that a program gives itself in its first line, such as `before.mjs`, or undefined. */
const nameOf = (code) => code.match(/^\/\/ ([\w-]+\.[mc]js)\n/)?.[1]

/** Whether a program goes on in the directory of the one above it: its name begins with `after`. */
export const goesOn = (code) => nameOf(code)?.startsWith('after') ?? false

/**
 * What a program says it prints: the comment after a `console.log`, and comments on lines of their own that begin the line. One
 * that ends with a full stop or a colon explains, and one in the first line may be the program's name.
 */
export function announced(code) {
  return code
    .split('\n')
    .map((line) => line.match(/(?:console\.log.*|^)\/\/ (.*)$/)?.[1])
    .filter((text) => text !== undefined && !/[.:]$/.test(text) && text !== nameOf(code))
}

/** Runs programs in a directory, one after the other. Each must succeed and print what it says, and nothing else. */
export function check(programs) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-docs-'))
  try {
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
    for (const code of programs) checkIn(directory, code)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function checkIn(directory, code) {
  const name = nameOf(code) ?? (/^import /m.test(code) ? 'program.mjs' : 'program.cjs')
  writeFileSync(join(directory, name), code)
  const { status, stdout, stderr } = spawnSync(process.execPath, [name], {
    cwd: directory,
    encoding: 'utf8',
    env: environment,
    timeout: HANG_MS
  })
  assert.equal(stderr, '')
  assert.equal(status, 0, stdout)
  const lines = announced(code)
  // A program of tests says by its exit code whether all is well.
  if (lines.length === 0) assert.match(code, /from 'node:assert/, 'a program prints something, or checks it')
  else assert.deepEqual(stdout.trimEnd().split('\n'), lines)
}
