// The entry for browsers: its class. It is loaded here over the database for Node, as a bundler replaces `terrace`.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { Level } from 'terrace'
import { call, errorOf, newLocation } from './support/databases.js'

const require = createRequire(import.meta.url)
const leveljs = require('../dist/browser.js')

test('it is what bundlers take in place of the class for disks', () => {
  const { exports, browser } = require('../package.json')
  assert.equal(exports['.'].browser.default, './dist/browser.js')
  assert.equal(browser, './dist/browser.js')
})

test('it is made as level-js is', () => {
  const db = leveljs('name')
  assert.ok(db instanceof leveljs && new leveljs('name') instanceof leveljs)
  const { location, prefix, version, type, status } = db
  assert.deepEqual(
    { location, prefix, version, type, status },
    { location: 'name', prefix: 'level-js-', version: 1, type: 'level-js', status: 'new' }
  )
  assert.deepEqual(
    [leveljs('name', { prefix: '', version: '7' })].map((each) => [each.prefix, each.version]),
    [['', 7]]
  )
  assert.throws(() => leveljs(), { message: 'constructor requires a location string argument' })
})

test('it opens, writes, reads and removes a database, or takes one over', async () => {
  const location = newLocation()
  const db = leveljs(location, { prefix: 'other-' })
  await call(db, 'open')
  await call(db, 'put', 'a', '1')
  assert.equal(await call(db, 'get', 'a', { asBuffer: false }), '1')
  assert.equal((await errorOf(db, 'get', 'b')).message, 'NotFound')
  assert.deepEqual(await db.iterator({ keys: false, valueAsBuffer: false }).next(), [undefined, '1'])
  assert.match((await errorOf(leveljs, 'destroy', location)).message, /^IO error: /)
  await call(db, 'close')
  await call(leveljs, 'destroy', location, 'other-')
  assert.match((await errorOf(db, 'open', { createIfMissing: false })).message, /does not exist/)

  const level = new Level(newLocation())
  await level.open()
  const other = leveljs.from(level)
  assert.equal(other.status, 'open')
  await call(other, 'close')
})
