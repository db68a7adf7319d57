// The sizes that `Level` takes in a browser: their types, defaults and limits are those that the description of the options has.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultOn, numberOf, plainOn } from '../../../../scripts/options.mjs'
import { sizesOf } from '../../dist/browser/level-options.js'

/** What the engine gets, by the name of the option. */
function sizes(options) {
  const [writeBufferSize, cacheSize] = sizesOf(options)
  return { writeBufferSize, cacheSize }
}

for (const option of plainOn('browser')) {
  const { name, to } = option.browser
  const value = numberOf(defaultOn('browser', option))

  test(`${name} has its default, and no more than its limit`, () => {
    assert.equal(sizes({})[name], value)
    assert.equal(sizes({ [name]: undefined })[name], value)
    for (const given of [0, 1, value + 1, numberOf(to)]) assert.equal(sizes({ [name]: given })[name], given)
    assert.equal(sizes({ [name]: numberOf(to) + 1 })[name], numberOf(to))
    assert.equal(sizes({ [name]: Number.MAX_SAFE_INTEGER })[name], numberOf(to))
  })

  test(`${name} of a wrong type is refused by name`, () => {
    for (const wrong of [-1, 1.5, '4096', Number.NaN, Infinity, {}, true]) {
      assert.throws(() => sizesOf({ [name]: wrong }), { name: 'TypeError', message: new RegExp(`'${name}'`) })
    }
  })
}

test('every size that the engine gets is described', () => {
  const names = plainOn('browser').map(({ browser }) => browser.name)
  assert.deepEqual(Object.keys(sizes({})).sort(), names.sort())
})
