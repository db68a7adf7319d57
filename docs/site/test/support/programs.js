// Runs a program of a document, and compares what it prints with its comments.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../../root.mjs'

// What marks a child of a test run would make `node:test` in the program report to us.
const { NODE_TEST_CONTEXT: _, ...environment } = process.env

/**
 * Runs a program in a directory of its own, with our packages in reach.
 *
 * @param {string} code
 * @param {string[]} files - Files of the repository that the program finds in its directory.
 * @returns {{ status: number, stdout: string, stderr: string }}
 */
export function run(code, files = []) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-docs-'))
  try {
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
    for (const file of files) cpSync(join(root, file), join(directory, file.split('/').at(-1)))
    const name = /^import /m.test(code) ? 'program.mjs' : 'program.cjs'
    writeFileSync(join(directory, name), code)
    return spawnSync(process.execPath, [name], {
      cwd: directory,
      encoding: 'utf8',
      env: environment,
      timeout: 60_000
    })
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/**
 * What a program says it prints: the comment after a `console.log`, and comments on lines of their own that begin the line. One
 * that ends with a full stop or a colon explains.
 */
export function announced(code) {
  return code
    .split('\n')
    .map((line) => line.match(/(?:console\.log.*|^)\/\/ (.*)$/)?.[1])
    .filter((text) => text !== undefined && !/[.:]$/.test(text))
}

/** Runs a program, which must succeed and print what it says, and nothing else. */
export function check(code) {
  const { status, stdout, stderr } = run(code)
  assert.equal(stderr, '')
  assert.equal(status, 0, stdout)
  const lines = announced(code)
  // A program of tests says by its exit code whether all is well.
  if (lines.length === 0) assert.match(code, /from 'node:assert/, 'a program prints something, or checks it')
  else assert.deepEqual(stdout.trimEnd().split('\n'), lines)
}
