// Every program in `examples/` runs to its end, and leaves nothing in the directory for temporary files.

import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { test } from 'node:test'
import { isShort } from '../../../tests/support/form.mjs'
import { checkExample } from './support/guides.js'

const names = readdirSync(new URL('../../../examples', import.meta.url)).filter((name) =>
  name.endsWith('.mjs')
)

test('there is an example for each part, and one that uses them together', () => {
  assert.deepEqual(names.sort(), [
    'app.mjs',
    'copy.mjs',
    'feed.mjs',
    'index.mjs',
    'lock.mjs',
    'streams.mjs',
    'transaction.mjs',
    'ttl.mjs'
  ])
})

for (const name of names) {
  const part = name.replace('.mjs', '')
  // The test of a part's guide runs its example.
  if (isShort && existsSync(new URL(`${part}/guide.test.js`, import.meta.url))) continue
  test(`examples/${name}`, () => {
    checkExample(part)
  })
}
