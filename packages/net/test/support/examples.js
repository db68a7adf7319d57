// Runs the examples of a document, and compares what they print with their comments.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { HANG_MS } from '../../../../tests/support/waiting.mjs'

/** The programs in a document: blocks of JavaScript that import something. */
export function programsIn(url) {
  const blocks = [...readFileSync(url, 'utf8').matchAll(/```js\n(.*?)```/gs)].map(([, text]) => text)
  return blocks.filter((text) => text.startsWith('import'))
}

/**
 * Runs a program and checks that it prints the comments of its lines with `console.log`. Each replacement is a text that the
 * program must have, and another in its place.
 */
export function check(program, replacements = {}) {
  let text = program
  for (const [from, to] of Object.entries(replacements)) {
    assert.ok(text.includes(from), from)
    text = text.replaceAll(from, to)
  }
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', text], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    encoding: 'utf8',
    timeout: HANG_MS
  })
  const expected = [...program.matchAll(/console\.log.*\/\/ (.*)$/gm)].map(([, comment]) => comment)
  assert.ok(expected.length > 0)
  assert.equal(printed, `${expected.join('\n')}\n`)
}
