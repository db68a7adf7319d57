// Packages whose ES modules name what they export, for development servers, which find no names behind `export *` of CommonJS.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'

const require = createRequire(import.meta.url)

/** Tests that ES modules have all that their CommonJS modules have, and nothing else. */
export function testSameExports(...names) {
  for (const name of names) {
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
}
