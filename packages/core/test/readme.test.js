// The example of the README does what its comments say.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

test('the example prints what it says', () => {
  const [, example] = /```js\n(.*?)```/s.exec(readme)
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', example], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    encoding: 'utf8'
  })
  const expected = [...example.matchAll(/\/\/ (.*)$/gm)].map(([, comment]) => comment)
  assert.ok(expected.length >= 2)
  assert.equal(printed, `${expected.join('\n')}\n`)
})
