// A database says, and does, what its back-end declares.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BackendLevel } from 'terrace-core'
import { ArrayBackend } from './support/array-backend.js'
import { kindsOf, opened } from './support/databases.js'

for (const [kind, { make, supports }] of kindsOf()) {
  test(`the manifest tells of synchronous methods, hooks, conditions and versions (${kind})`, async (t) => {
    const db = await opened(t, make(t))
    for (const each of [db, db.sublevel('a'), db.sublevel('a').sublevel('b')]) {
      const { additionalMethods, conditionalWrites, everyWrite, getSync, getSyncInHooks, versions } =
        each.supports
      assert.deepEqual([everyWrite, getSync], [supports.everyWrite, supports.getSync])
      assert.equal(conditionalWrites, supports.conditionalWrites)
      assert.equal(additionalMethods.update === true, conditionalWrites)
      assert.equal(versions, supports.versions === true)
      assert.equal(additionalMethods.getEntry === true, versions)
      assert.equal(getSyncInHooks, everyWrite || getSync)
      assert.equal(additionalMethods.iterateSync === true, supports.getSync)
      for (const name of ['putSync', 'delSync', 'batchSync'])
        assert.equal(additionalMethods[name] === true, supports.putSync, name)
    }
  })
}

test('a database over a store that others write to as well does not claim that hooks see every write', async (t) => {
  const backend = new ArrayBackend()
  backend.manifest.shared = true
  const db = await opened(t, new BackendLevel(backend))
  assert.deepEqual([db.supports.everyWrite, db.sublevel('a').supports.everyWrite], [false, false])
})

test('hook functions can read if the back-end can, or if no write blocks and no others write', async (t) => {
  for (const [declared, canRead] of [
    [{}, true],
    [{ syncReads: true, shared: true }, true],
    [{ shared: true }, false],
    [{ syncWrites: true }, false]
  ]) {
    const backend = new ArrayBackend({ sync: true })
    Object.assign(backend.manifest, { syncReads: false, syncWrites: false }, declared)
    if (!backend.manifest.syncReads) backend.getSync = undefined
    const db = await opened(t, new BackendLevel(backend))
    assert.equal(db.supports.getSyncInHooks, canRead, JSON.stringify(declared))

    db.hooks.prewrite.add(() => db.getSync('k'))
    const written = db.put('k', 'v')
    if (canRead) await written
    else await assert.rejects(written, ({ cause }) => cause.code === 'LEVEL_NOT_SUPPORTED')
  }
})

test('methods that a back-end cannot do within the call say so', async (t) => {
  const db = await opened(t, new BackendLevel(new ArrayBackend()))
  const sublevel = db.sublevel('a')
  await sublevel.open()
  const batch = [{ type: 'put', key: 'k', value: 'v' }]

  for (const each of [db, sublevel]) {
    const calls = {
      getSync: () => each.getSync('k'),
      putSync: () => each.putSync('k', 'v'),
      delSync: () => each.delSync('k'),
      batchSync: () => each.batchSync(batch),
      iterateSync: () => each.iterateSync(),
      'a loop': () => [...each.keys()]
    }
    for (const [name, call] of Object.entries(calls)) {
      assert.throws(
        call,
        { code: 'LEVEL_NOT_SUPPORTED', message: /use the methods that return promises/ },
        name
      )
    }
  }
  assert.deepEqual(await db.keys().all(), [])
})

test('a back-end that lacks a method that it declares is refused', () => {
  for (const [declared, method] of [
    ['syncReads', 'getSync'],
    ['syncWrites', 'writeSync']
  ]) {
    const backend = new ArrayBackend({ sync: true })
    backend[method] = undefined
    const message = new RegExp(`'${declared}'.*${method}\\(\\)`)
    assert.throws(() => new BackendLevel(backend), { name: 'TypeError', message })
  }
})

test('a database takes no format that its back-end does not have', async (t) => {
  const views = new BackendLevel(new ArrayBackend({ formats: ['view'] }))
  await opened(t, views)
  assert.equal(views.keyEncoding('utf8').format, 'view')
  assert.equal(views.keyEncoding('buffer').format, 'view')
  await views.put('k', { n: 1 }, { valueEncoding: 'json' })
  assert.ok((await views.get('k', { valueEncoding: 'view' })) instanceof Uint8Array)
  assert.equal(await views.get('k'), '{"n":1}')
})

test('bytes that a chained batch was given stay as they were', async (t) => {
  for (const [, { make }] of kindsOf()) {
    const db = await opened(t, make(t))
    const [key, value] = [Buffer.from('k'), Buffer.from('v')]
    const batch = db.batch().put(key, value, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
    key.fill('x')
    value.fill('x')
    await batch.write()
    assert.deepEqual(await db.iterator().all(), [['k', 'v']])
  }
})
