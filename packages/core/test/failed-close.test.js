// Databases whose back-end, or something of it, cannot be closed or opened. However that fails, it is reported once, the database
// is closed, and it can be opened again.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BackendLevel } from 'terrace-core'
import { waysToClose } from '../../../tests/support/ways-to-close.mjs'
import { ArrayBackend } from './support/array-backend.js'
import { openLevel, testOnAll } from './support/databases.js'

const failure = (code = 'STORE_FAILED') => Object.assign(new Error('the disk is gone'), { code })
const WRITTEN_BEFORE = 'LEVEL_WRITES_REFUSED'

/** A back-end that fails where a test says, by a function that is called instead of returning. */
class FailingBackend extends ArrayBackend {
  fails = {}
  isOpen = false

  #fail(where) {
    const fail = this.fails[where]
    delete this.fails[where]
    return fail?.()
  }

  open() {
    assert.equal(this.isOpen, false, 'opened twice')
    const failed = this.#fail('open')
    if (failed !== undefined) return failed
    this.isOpen = true
  }

  close() {
    assert.equal(this.isOpen, true, 'closed twice')
    this.isOpen = false
    return this.#fail('close')
  }

  cursor(...args) {
    const cursor = super.cursor(...args)
    cursor.close = () => this.#fail('cursor')
    return cursor
  }

  snapshot() {
    return { ...super.snapshot(), close: () => this.#fail('snapshot') }
  }
}

const rejects = () => Promise.reject(failure())
const throws = () => {
  throw failure()
}
const rejectsAgain = () => Promise.reject(failure(WRITTEN_BEFORE))
const throwsNothing = () => Promise.reject(null)

/** What fails, how, and what a call that closes the database rejects with; undefined if it resolves. */
const waysToFail = [
  ['the store rejects', { close: rejects }, 'LEVEL_DATABASE_NOT_CLOSED'],
  ['the store throws', { close: throws }, 'LEVEL_DATABASE_NOT_CLOSED'],
  ['the store rejects with null', { close: throwsNothing }, 'LEVEL_DATABASE_NOT_CLOSED'],
  ['the store rejects with what a write was rejected with', { close: rejectsAgain }, undefined],
  ['an iterator rejects', { cursor: rejects }, 'LEVEL_DATABASE_NOT_CLOSED'],
  ['an iterator throws', { cursor: throws }, 'LEVEL_DATABASE_NOT_CLOSED'],
  ['a snapshot rejects', { snapshot: rejects }, 'LEVEL_DATABASE_NOT_CLOSED'],
  ['an iterator and the store reject', { cursor: rejects, close: rejects }, 'LEVEL_DATABASE_NOT_CLOSED'],
  ['nothing fails', {}, undefined]
]

for (const [how, fails, code] of waysToFail) {
  for (const [way, close] of Object.entries(waysToClose)) {
    test(`after ${way}, during which ${how}, a database is closed, and opens again`, async () => {
      const backend = new FailingBackend({ seed: 1 })
      const db = new BackendLevel(backend)
      await db.open()
      await db.put('key', 'value')
      db.iterator()
      db.snapshot()
      Object.assign(backend.fails, fails)

      const error = await close(db).then(
        () => undefined,
        (error) => error
      )
      assert.equal(error?.code, code)
      if (code !== undefined && !how.endsWith('null')) assert.equal(error.cause.code, 'STORE_FAILED')
      assert.deepEqual([db.status, backend.isOpen], ['closed', false])

      await db.close()
      await assert.rejects(db.put('a', 'b'), { code: 'LEVEL_DATABASE_NOT_OPEN' })
      await db.open()
      assert.equal(db.status, 'open')
      assert.equal(await db.get('key'), 'value')
      await db.put('again', 'value')
      await db.close()
    })
  }
}

for (const [how, fail] of Object.entries({ rejects, throws })) {
  test(`a database whose store ${how} at open() opens at the next call`, async () => {
    const backend = new FailingBackend({ seed: 1 })
    const db = new BackendLevel(backend)
    backend.fails.open = fail
    await assert.rejects(db.open(), (error) => error.cause.code === 'STORE_FAILED')
    await db.close()
    await db.open()
    await db.put('key', 'value')
    await db.close()
  })

  test(`a postopen hook function fails, and then the store ${how} at close: both are reported, and open() works again`, async () => {
    const backend = new FailingBackend({ seed: 1 })
    const db = new BackendLevel(backend)
    const refuse = async () => {
      throw new Error('not now')
    }
    db.hooks.postopen.add(refuse)
    backend.fails.close = fail
    const error = await db.open().catch((error) => error)
    assert.equal(error.code, 'LEVEL_HOOK_ERROR')
    assert.deepEqual(
      error.cause.errors.map(({ message }) => message),
      ['not now', 'the disk is gone']
    )
    assert.deepEqual([db.status, backend.isOpen], ['closed', false])

    db.hooks.postopen.delete(refuse)
    await db.close()
    await db.open()
    await db.put('key', 'value')
    await db.close()
  })
}

testOnAll('a database opens again after a close() whose iterator could not be released', async (t) => {
  const db = await openLevel(t)
  await db.put('key', 'value')
  const iterator = db.iterator()
  await iterator.next()
  const close = iterator._close
  iterator._close = async () => {
    await close.call(iterator)
    throw failure()
  }
  await assert.rejects(db.close(), (error) => error.cause.code === 'STORE_FAILED')
  assert.equal(db.status, 'closed')
  await db.close()
  await db.open()
  assert.equal(await db.get('key'), 'value')
})
