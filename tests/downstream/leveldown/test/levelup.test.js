// levelup of every generation: listings of 2013, and each promise of its README.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { both } from './support/both.js'

for (const version of ['levelup-0.18', 'levelup-0.19', 'levelup-1']) {
  test(`a listing of 2013: ${version}`, async (t) => {
    const printed = await both(t, 'listing.js', version)
    assert.match(printed, /^name=LevelUP$/m)
    assert.match(printed, /^closed undefined false true$/m)
  })
}

for (const version of [
  'levelup-0.18',
  'levelup-0.19',
  'levelup-1',
  'levelup-2',
  'levelup-3',
  'levelup-4',
  'levelup'
]) {
  test(`README: ${version}`, async (t) => {
    const printed = await both(t, 'levelup.js', version)
    assert.match(printed, /^destroy of nothing: undefined$/m)
  })
}
