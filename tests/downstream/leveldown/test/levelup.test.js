// levelup of every generation: listings of 2013, and each promise of its README.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { both, TREES } from './support/both.js'

/** The listing as the articles of 2013 have it. */
const LISTING = `var levelup = require('levelup')
  , leveldown = require('leveldown-basho')
  , db = levelup('/path/to/db', { db: leveldown })
// go to work on \`db\`
`

for (const [version, ...names] of [
  ['levelup-0.18', 'leveldown-basho'],
  ['levelup-0.19', 'leveldown-hyper'],
  ['levelup-1', 'leveldown'],
  ['levelup-1', 'leveldown-basho']
]) {
  test(`a listing of 2013: ${version}, ${names}`, async (t) => {
    for (const tree of Object.values(TREES)) {
      const program = readFileSync(join(tree, 'programs', 'listing.js'), 'utf8')
      // No formatter has changed it.
      assert.equal(program.slice(0, LISTING.length), LISTING)
    }
    const printed = await both(t, 'run-listing.js', version, ...names)
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
