// The classes of databases, sublevels and iterators, as abstract-level documents them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  AbstractChainedBatch,
  AbstractIterator,
  AbstractKeyIterator,
  AbstractLevel,
  AbstractSnapshot,
  AbstractSublevel,
  AbstractValueIterator
} from 'abstract-level'
import { BackendLevel } from 'terrace-core'
import { ArrayBackend } from './support/array-backend.js'

const methods = ['put', 'del', 'batch', 'putSync', 'delSync', 'batchSync', 'iterateSync', 'open', 'close']
const reads = [
  'get',
  'getSync',
  'getMany',
  'has',
  'hasMany',
  'iterator',
  'keys',
  'values',
  'sublevel',
  'snapshot'
]

class Extended extends BackendLevel {
  put(...args) {
    this.puts = (this.puts ?? 0) + 1
    return super.put(...args)
  }
}

async function opened(t, Class) {
  const db = new Class(new ArrayBackend({ formats: ['utf8', 'buffer'], sync: true, seed: 1 }))
  t.after(() => db.close())
  await db.open()
  const sublevel = db.sublevel('s')
  await sublevel.open()
  return { db, sublevel }
}

test('a database and a sublevel are instances of the classes of abstract-level', async (t) => {
  const { db, sublevel } = await opened(t, BackendLevel)
  assert.ok(db instanceof BackendLevel && db instanceof AbstractLevel)
  assert.ok(!(db instanceof AbstractSublevel))
  assert.ok(sublevel instanceof AbstractSublevel && sublevel instanceof AbstractLevel)
  assert.ok(!(sublevel instanceof BackendLevel))
  assert.deepEqual([db.constructor.name, sublevel.constructor.name], ['BackendLevel', 'Sublevel'])
  assert.equal(db.constructor, BackendLevel)
})

test('methods are of the prototype, not of each object', async (t) => {
  for (const object of Object.values(await opened(t, BackendLevel))) {
    for (const name of [...methods, ...reads]) {
      assert.equal(typeof object.constructor.prototype[name], 'function', name)
      assert.equal(object[name], object.constructor.prototype[name], name)
      assert.ok(!Object.hasOwn(object, name), name)
    }
    const shown = []
    for (const name in object) shown.push(name)
    assert.ok(![...methods, ...reads].some((name) => shown.includes(name)), 'no method is enumerable')
  }
})

test('iterators, batches and snapshots are instances of the classes of abstract-level', async (t) => {
  for (const object of Object.values(await opened(t, BackendLevel))) {
    const made = [
      [object.iterator(), AbstractIterator, 'EntryIterator'],
      [object.keys(), AbstractKeyIterator, 'KeyIterator'],
      [object.values(), AbstractValueIterator, 'ValueIterator'],
      [object.batch(), AbstractChainedBatch, 'ChainedBatch'],
      [object.snapshot(), AbstractSnapshot, 'Snapshot']
    ]
    for (const [each, Class, name] of made) {
      assert.ok(each instanceof Class, name)
      assert.equal(each.constructor.name, name)
      await each.close()
    }
  }
})

test('a class that extends the database overrides its methods, and reaches them', async (t) => {
  const { db, sublevel } = await opened(t, Extended)
  assert.equal(db.constructor.name, 'Extended')
  await db.put('a', '1')
  await db.batch([{ type: 'put', key: 'b', value: '2' }])
  await sublevel.put('c', '3')
  assert.deepEqual([db.puts, await db.get('a'), await sublevel.get('c')], [1, '1', '3'])
})
