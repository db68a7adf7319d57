// The class: how it is made, extended and described, and what its methods refuse.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { inherits } from 'node:util'
import { call, errorOf, leveldown, makers, memdown, newLocation, opened } from './support/databases.js'

const require = createRequire(import.meta.url)

/** What leveldown 6.1.1 declares. */
const SUPPORTS = {
  bufferKeys: true,
  snapshots: true,
  permanence: true,
  seek: true,
  clear: true,
  getMany: true,
  createIfMissing: true,
  errorIfExists: true,
  additionalMethods: { approximateSize: true, compactRange: true },
  status: true,
  keyIterator: false,
  valueIterator: false,
  iteratorNextv: false,
  iteratorAll: false,
  idempotentOpen: false,
  passiveOpen: false,
  serialize: false,
  deferredOpen: false,
  openCallback: false,
  promises: false,
  streams: false,
  encodings: false,
  events: false
}

test('it is made with or without new', () => {
  const location = newLocation()
  for (const db of [leveldown(location), new leveldown(location)]) {
    assert.ok(db instanceof leveldown)
    assert.equal(db.constructor, leveldown)
    assert.equal(db.location, location)
    assert.equal(db.status, 'new')
    assert.equal(db.isOperational(), false)
    assert.deepEqual(db.supports, SUPPORTS)
  }
  assert.ok(!existsSync(location))
  assert.equal(leveldown.name, 'LevelDOWN')
  assert.equal(leveldown.length, 1)
  for (const wrong of [undefined, null, {}, 1]) {
    assert.throws(() => leveldown(wrong), {
      name: 'Error',
      message: 'constructor requires a location string argument'
    })
  }
})

test('one in memory is made with or without new, and declares what memdown does', () => {
  for (const db of [memdown(), new memdown()]) {
    assert.ok(db instanceof memdown && !(db instanceof leveldown))
    const { createIfMissing, errorIfExists, permanence, additionalMethods } = db.supports
    assert.deepEqual(
      { createIfMissing, errorIfExists, permanence, additionalMethods },
      { createIfMissing: false, errorIfExists: false, permanence: false, additionalMethods: {} }
    )
    assert.equal(db.approximateSize, undefined)
  }
})

test('require and import get the same class', async () => {
  assert.equal((await import('terrace-leveldown')).default, require('terrace-leveldown'))
  assert.equal((await import('terrace-leveldown/memory')).default, require('terrace-leveldown/memory'))
})

test('package.json is there under the name that levelup 0.18 requires', () => {
  assert.equal(require('terrace-leveldown/package').name, 'terrace-leveldown')
  assert.equal(require('terrace-leveldown/package.json').name, 'terrace-leveldown')
})

test('it is extended in the new way and in the old', async (t) => {
  class New extends leveldown {
    _get(key, options, callback) {
      super._get(`${key}!`, options, callback)
    }
  }
  function Old(location) {
    leveldown.call(this, location)
  }
  inherits(Old, leveldown)
  Old.prototype._put = function (key, value, options, callback) {
    leveldown.prototype._put.call(this, `${key}!`, value, options, callback)
  }

  const one = await opened(t, new New(newLocation()))
  await call(one, 'put', 'a!', '1')
  assert.equal(await call(one, 'get', 'a', { asBuffer: false }), '1')
  const other = await opened(t, new Old(newLocation()))
  assert.ok(other instanceof Old && other instanceof leveldown)
  await call(other, 'put', 'a', '2')
  assert.equal(await call(other, 'get', 'a!', { asBuffer: false }), '2')
})

test('an instance on which methods are replaced uses these', async (t) => {
  const db = await opened(t, leveldown(newLocation()))
  db._serializeKey = (key) => JSON.stringify(key)
  await call(db, 'put', { a: 1 }, 'value')
  assert.equal(await call(db, 'get', { a: 1 }, { asBuffer: false }), 'value')
  const [key] = await call(db.iterator({ keyAsBuffer: false }), 'next')
  assert.equal(key, '{"a":1}')
})

test('a call without a callback throws', () => {
  const db = memdown()
  for (const [method, args, name = method] of [
    ['open', [{}]],
    ['close', []],
    ['get', ['a']],
    ['put', ['a', 'b', {}]],
    ['del', ['a', {}]],
    ['batch', [[]], 'batch(array)'],
    ['clear', [{}]]
  ]) {
    const call = name.endsWith(')') ? name : `${name}()`
    assert.throws(() => db[method](...args), {
      name: 'Error',
      message: `${call} requires a callback argument`
    })
  }
})

test('keys and values that cannot be stored are refused in the callback', async (t) => {
  const db = await opened(t, memdown())
  const keys = [
    [null, 'key cannot be `null` or `undefined`'],
    [undefined, 'key cannot be `null` or `undefined`'],
    ['', 'key cannot be an empty String'],
    [Buffer.alloc(0), 'key cannot be an empty Buffer'],
    [[], 'key cannot be an empty Array']
  ]
  for (const [key, message] of keys) {
    for (const [method, ...args] of [
      ['get', key],
      ['getMany', ['a', key]],
      ['put', key, 'v'],
      ['del', key],
      ['batch', [{ type: 'del', key }]]
    ]) {
      const error = await errorOf(db, method, ...args)
      assert.deepEqual([method, error.name, error.message], [method, 'Error', message])
    }
    assert.throws(() => db.batch().put(key, 'v'), { message })
    assert.throws(() => db.batch().del(key), { message })
  }
  for (const value of [null, undefined]) {
    const message = 'value cannot be `null` or `undefined`'
    assert.equal((await errorOf(db, 'put', 'a', value)).message, message)
    assert.equal((await errorOf(db, 'batch', [{ type: 'put', key: 'a', value }])).message, message)
  }
  for (const [operations, message] of [
    ['no array', 'batch(array) requires an array argument'],
    [[null], 'batch(array) element must be an object and not `null`'],
    [['a'], 'batch(array) element must be an object and not `null`'],
    [[{ type: 'x', key: 'a' }], "`type` must be 'put' or 'del'"]
  ]) {
    assert.equal((await errorOf(db, 'batch', operations)).message, message)
  }
  assert.deepEqual(await call(db, 'getMany', ['a']), [undefined])
})

test('keys and values that are neither text nor buffers become text', async (t) => {
  for (const make of [makers.disk, makers.memory]) {
    const db = await opened(t, make())
    for (const [data, text] of [
      [1, '1'],
      [true, 'true'],
      [['a', 'b'], 'a,b'],
      [{ toString: () => 'o' }, 'o'],
      [new Uint8Array([1, 2]), '1,2'],
      ['\ud83d', '\ufffd'],
      ['a\ud83d\ude00', 'a\u{1f600}']
    ]) {
      await call(db, 'put', data, data)
      assert.equal(await call(db, 'get', text, { asBuffer: false }), text)
    }
    await call(db, 'put', 'empty', [])
    assert.deepEqual(await call(db, 'get', 'empty'), Buffer.alloc(0))
  }
})

test('arguments of the methods for ranges and properties are checked', async (t) => {
  const db = await opened(t, leveldown(newLocation()))
  for (const method of ['approximateSize', 'compactRange']) {
    const message = `${method}() requires valid \`start\` and \`end\` arguments`
    for (const args of [[], ['a'], [null, 'b', () => {}], ['a', () => {}]]) {
      assert.throws(() => db[method](...args), { name: 'Error', message })
    }
    assert.throws(() => db[method]('a', 'b'), { message: `${method}() requires a callback argument` })
  }
  assert.throws(() => db.getProperty(), { message: 'getProperty() requires a valid `property` argument' })

  for (const method of ['destroy', 'repair']) {
    for (const [args, what] of [
      [[], '`location` and `callback` arguments'],
      [['a'], '`location` and `callback` arguments'],
      [[1, () => {}], 'a location string argument'],
      [['a', 1], 'a callback function argument']
    ]) {
      assert.throws(() => leveldown[method](...args), {
        name: 'Error',
        message: `${method}() requires ${what}`
      })
    }
  }
})

test('ranges, properties, destroy and repair do what they say', async () => {
  const location = newLocation()
  const db = await opened(undefined, leveldown(location))
  const value = Buffer.alloc(10_000, 'x')
  for (let i = 0; i < 10; i++) await call(db, 'put', `key${i}`, value)
  await call(db, 'compactRange', 'a', 'z')
  assert.ok((await call(db, 'approximateSize', 'key0', 'key9')) > 0)
  assert.equal(await call(db, 'approximateSize', 'x', 'y'), 0)
  assert.match(db.getProperty('leveldb.stats'), /Compactions/)
  assert.equal(db.getProperty('leveldb.nothing'), '')
  await call(db, 'close')

  await call(leveldown, 'repair', location)
  await call(db, 'open')
  assert.deepEqual(await call(db, 'get', 'key5'), value)
  await call(db, 'close')
  await call(leveldown, 'destroy', location)
  assert.ok(!existsSync(location))
  await call(leveldown, 'destroy', location)
})
