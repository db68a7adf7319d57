import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AbstractLevel } from 'abstract-level'
import { MemoryLevel } from 'memory-level'
import { index } from 'terrace-toolbox/index'
import { all } from '../support/collect.js'
import { databases } from '../support/databases.js'
import { refusalOf } from './support/indexes.js'

/** The indexed values, by key, in an index of these values in JSON. */
async function indexedOf(t, on, values, options = {}) {
  const db = await databases['memory-level'](t, { valueEncoding: 'json' })
  const made = index(db, { name: 'test', on, ...options })
  for (const [key, value] of Object.entries(values)) await db.put(key, value)
  return (await all(made.entries())).map(([key, , indexed]) => [key, indexed])
}

test('a path leads to own properties, at any depth', async (t) => {
  const values = {
    a: { x: { y: 1 } },
    b: { x: 2 },
    c: { x: { y: null } },
    d: { x: null },
    e: 'text',
    f: { x: [7] }
  }
  assert.deepEqual(await indexedOf(t, 'x.y', values), [
    ['c', null],
    ['a', 1]
  ])
  assert.deepEqual(await indexedOf(t, 'x.0', values), [['f', 7]])
  assert.deepEqual(await indexedOf(t, 'constructor.name', values), [])
  assert.deepEqual(await indexedOf(t, 'length', values), [])
})

test('several paths make a compound value; if one leads nowhere there is none', async (t) => {
  const values = {
    a: { country: 'CH', city: 'Bern' },
    b: { country: 'CH' },
    c: { country: 'AT', city: null }
  }
  assert.deepEqual(await indexedOf(t, ['country', 'city'], values), [
    ['c', ['AT', null]],
    ['a', ['CH', 'Bern']]
  ])
})

test('an array is one value, or with multiple an entry for each element, once', async (t) => {
  const values = { a: { tags: ['x', 'y', 'x'] }, b: { tags: [] }, c: { tags: 'y' } }
  assert.deepEqual(await indexedOf(t, 'tags', values), [
    ['c', 'y'],
    ['b', []],
    ['a', ['x', 'y', 'x']]
  ])
  assert.deepEqual(await indexedOf(t, 'tags', values, { multiple: true }), [
    ['a', 'x'],
    ['a', 'y'],
    ['c', 'y']
  ])
})

test('a function gets the value and the key; undefined is not indexed', async (t) => {
  const on = ({ age }, key) => (age >= 18 ? [key, age] : undefined)
  assert.deepEqual(await indexedOf(t, on, { a: { age: 20 }, b: { age: 3 } }), [['a', ['a', 20]]])
  const several = ({ words }) => words.map((word) => (word === '' ? undefined : word.toLowerCase()))
  assert.deepEqual(await indexedOf(t, several, { a: { words: ['B', '', 'A'] } }, { multiple: true }), [
    ['a', 'a'],
    ['a', 'b']
  ])
})

test('wrong options are refused with a code', async (t) => {
  const db = await databases['memory-level'](t)
  const wrong = [
    {},
    { name: 'x' },
    { name: '', on: 'a' },
    { name: 'a.b', on: 'a' },
    { name: 'a!', on: 'a' },
    { name: 7, on: 'a' },
    { name: 'x', on: '' },
    { name: 'x', on: 'a..b' },
    { name: 'x', on: [] },
    { name: 'x', on: ['a', 7] },
    { name: 'x', on: {} },
    { name: 'x', on: ['a', 'b'], multiple: true },
    { name: 'x', on: 'a', unique: 1 },
    { name: 'x', on: 'a', multiple: 'yes' },
    { name: 'x', on: 'a', version: Number.NaN },
    { name: 'x', on: 'a', version: {} },
    { name: 'x', on: 'a', wait: 'no' },
    { name: 'x', on: 'a', onProgress: true }
  ]
  for (const options of wrong) {
    assert.throws(() => index(db, options), { code: 'TOOLBOX_INDEX_INVALID' }, JSON.stringify(options))
  }
  await db.put('a', 'b')
})

test('a name is taken until the index is dropped, also for other objects of the sublevel', async (t) => {
  const db = await databases['memory-level'](t)
  const first = index(db.sublevel('users'), { name: 'x', on: 'a' })
  assert.throws(() => index(db.sublevel('users'), { name: 'x', on: 'b' }), {
    code: 'TOOLBOX_INDEX_EXISTS',
    index: 'x'
  })
  index(db.sublevel('posts'), { name: 'x', on: 'a' })
  index(db, { name: 'x', on: 'a' })
  await first.drop()
  await index(db.sublevel('users'), { name: 'x', on: 'b' }).ready
})

test('indexes of one sublevel read its values in one way', async (t) => {
  const db = await databases['memory-level'](t)
  index(db.sublevel('users', { valueEncoding: 'json' }), { name: 'x', on: 'a' })
  assert.throws(() => index(db.sublevel('users'), { name: 'y', on: 'a' }), { code: 'TOOLBOX_INDEX_INVALID' })
})

test('a database without getSync, or without bytes, is refused', (t) => {
  const db = new AbstractLevel({ encodings: { utf8: true } })
  t.after(() => db.close())
  const texts = new MemoryLevel({ storeEncoding: 'utf8' })
  t.after(() => texts.close())
  for (const without of [db, texts, texts.sublevel('sub')]) {
    assert.throws(() => index(without, { name: 'x', on: 'a' }), { code: 'TOOLBOX_INDEX_UNSUPPORTED' })
  }
})

test('what cannot be indexed refuses the write', async (t) => {
  const db = await databases['memory-level'](t, { valueEncoding: 'json' })
  index(db, { name: 'plain', on: 'at' })
  index(db, {
    name: 'strict',
    on({ at }) {
      if (at === 'bad') throw new RangeError('bad')
      return at === 'late' ? Promise.resolve(1) : at === 'none' ? Number.NaN : at
    }
  })
  for (const [at, index, cause] of [
    [{ deep: 1 }, 'plain', 'BYTEWISE_UNSUPPORTED_TYPE'],
    ['\ud800', 'plain', 'BYTEWISE_INVALID_STRING'],
    ['late', 'strict', 'BYTEWISE_UNSUPPORTED_TYPE'],
    ['none', 'strict', 'BYTEWISE_INVALID_VALUE'],
    ['bad', 'strict', undefined]
  ]) {
    const error = await refusalOf(
      db.batch([
        { type: 'put', key: 'other', value: { at: 1 } },
        { type: 'put', key: 'k', value: { at } }
      ])
    )
    assert.equal(error.code, 'TOOLBOX_INDEX_VALUE')
    assert.equal(error.index, index)
    assert.equal(error.key, 'k')
    assert.equal(error.cause.code, cause)
  }
  assert.deepEqual(
    (await db.keys().all()).filter((key) => !key.startsWith('!index!')),
    []
  )
})
