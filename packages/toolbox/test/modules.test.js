// The ES modules name what they export, for development servers. They must have all that CommonJS has.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'

const require = createRequire(import.meta.url)
const PARTS = ['copy', 'feed', 'index', 'lock', 'streams', 'transaction', 'ttl']

for (const name of ['terrace-core', ...PARTS.map((part) => `terrace-toolbox/${part}`)]) {
  test(`${name} exports the same objects to import and to require`, async () => {
    const module = await import(name)
    const names = Object.keys(require(name))
    assert.ok(names.length > 0)
    assert.deepEqual(
      Object.keys(module)
        .filter((each) => !['default', 'module.exports'].includes(each))
        .sort(),
      names.sort()
    )
    for (const each of names) assert.equal(module[each], require(name)[each])
  })
}
