import assert from 'node:assert/strict'
import { test } from 'node:test'
import { index } from 'terrace-toolbox/index'
import { databases } from '../support/databases.js'

let keys = 0

/** What the function of an index gets for a value that is put. */
async function given(db, value) {
  let got
  const made = index(db, {
    name: 'x',
    on(value) {
      got = value
    }
  })
  await made.ready
  // A new key each time: the function is not called for an old value.
  await db.put(`key ${++keys}`, value)
  await made.drop()
  return got
}

test('plain JSON comes as it was put, without a copy; anything else as it will be read', async (t) => {
  const db = await databases.terrace(t, { valueEncoding: 'json' })
  const shared = { a: 1 }
  const plain = [
    {},
    [],
    { a: { b: [1, 'x', true, null] }, c: '' },
    'text',
    1.5,
    false,
    { twice: [shared, shared] }
  ]
  for (const value of plain) assert.equal(await given(db, value), value)

  class Thing {
    a = 1
  }
  const others = [
    new Thing(),
    { a: new Date(0) },
    { a: undefined },
    { a: { b: Number.NaN } },
    [undefined],
    // biome-ignore lint/suspicious/noSparseArray: holes are what is tested
    [, 1],
    { toJSON: () => 'other' },
    Object.create(null),
    { a: -0 },
    Array.from({ length: 300 }, (_, i) => i)
  ]
  for (const value of others) {
    const got = await given(db, value)
    assert.notEqual(got, value)
    assert.deepEqual(got, JSON.parse(JSON.stringify(value)))
  }
})

test('an encoding of another kind that is called json is asked', async (t) => {
  const encoding = {
    name: 'json',
    format: 'utf8',
    encode: ({ a }) => String(a),
    decode: (text) => ({ a: text })
  }
  const db = await databases.terrace(t, { valueEncoding: encoding })
  assert.deepEqual(await given(db, { a: 1, b: 2 }), { a: '1' })
})
