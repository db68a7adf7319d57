// Which databases have exact hooks: those that say so, whatever other methods they have.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AbstractLevel } from 'abstract-level'
import { BackendLevel } from 'terrace-core'
import { ttl } from 'terrace-toolbox/ttl'
import { ArrayBackend } from '../../core/test/support/array-backend.js'
import { isExact } from '../dist/hooks.js'
import { databases } from './support/databases.js'

/** A database from elsewhere, which has synchronous methods and says nothing about its hooks. */
class Synchronous extends AbstractLevel {
  constructor() {
    super({ encodings: { utf8: true }, getSync: true, additionalMethods: { putSync: true } })
  }

  putSync() {}
}

test('Terrace is exact, classic-level and memory-level are not', async (t) => {
  const found = {}
  for (const [name, open] of Object.entries(databases)) found[name] = isExact(await open(t))
  const expected = Object.entries({ terrace: true, 'classic-level': false, 'memory-level': false })
  assert.deepEqual(found, Object.fromEntries(expected.filter(([name]) => name in databases)))
})

test('a method putSync does not make a database exact', async () => {
  const db = new Synchronous()
  assert.equal(isExact(db), false)
  await db.close()
})

test('over another back-end, a database is exact if functions can read, within the call or by waiting', async () => {
  for (const [manifest, isSo] of [
    [{ syncReads: true, syncWrites: true }, true],
    [{ syncReads: false, syncWrites: false }, true],
    [{ syncReads: false, syncWrites: true }, false],
    [{ syncReads: true, syncWrites: true, shared: true }, false]
  ]) {
    const backend = new ArrayBackend({ sync: true })
    Object.assign(backend.manifest, manifest)
    if (!manifest.syncReads) backend.getSync = undefined
    const db = new BackendLevel(backend)
    assert.equal(isExact(db), isSo, JSON.stringify(manifest))
    await db.close()
  }
})

test('a view does not take over what its database says of hooks: its own are abstract-level’s', async (t) => {
  const db = await databases.terrace(t)
  const view = ttl(db.sublevel('sessions'))
  assert.equal(db.sublevel('sessions').supports.everyWrite, true)
  assert.equal(view.supports.everyWrite, false)
  await view.close()
})
