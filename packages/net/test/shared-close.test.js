// Databases that several processes share, and whose close fails in each role: the owner, a guest, and a guest that has become the
// owner. Any failure is reported once, everything is released, and the database can be opened again.

import assert from 'node:assert/strict'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { BackendLevel } from 'terrace-core'
import { SharedBackend } from 'terrace-net/shared'
import { until } from '../../../tests/support/waiting.mjs'
import { waysToClose } from '../../../tests/support/ways-to-close.mjs'
import { ArrayBackend } from '../../core/test/support/array-backend.js'
import { Link } from '../dist/client/link.js'
import { Server } from '../dist/server/server.js'
import { temporaryDirectory } from './support/temporary.js'

const failure = (code = 'STORE_FAILED') => Object.assign(new Error('the disk is gone'), { code })
const rejects = () => Promise.reject(failure())
const throws = () => {
  throw failure()
}
const rejectsWithNull = () => Promise.reject(null)
const rejectsAgain = () => Promise.reject(failure('LEVEL_WRITES_REFUSED'))

/** A store in a directory. Only one back-end at a time can have it open. */
class Store {
  array = new ArrayBackend({ seed: 1 })
  owner = undefined

  constructor(location) {
    this.location = location
  }
}

/** A process's handle on the store. It fails once, where a test makes it fail. */
class OwnBackend {
  fails = {}
  #store

  constructor(store) {
    this.#store = store
    this.manifest = { ...store.array.manifest, createIfMissing: true }
    const names = ['get', 'getEntry', 'getMany', 'has', 'hasMany', 'write', 'writeIf', 'cursor', 'snapshot']
    for (const name of names) {
      this[name] = (...args) => {
        assert.equal(store.owner, this, `${name} of a store that is not open`)
        return store.array[name](...args)
      }
    }
  }

  async open() {
    if (this.#store.owner !== undefined) throw failure('LEVEL_LOCKED')
    const fail = this.fails.open
    delete this.fails.open
    if (fail !== undefined) await fail()
    const lock = join(this.#store.location, 'LOCK')
    if (!existsSync(lock)) writeFileSync(lock, '')
    this.#store.owner = this
  }

  close() {
    assert.equal(this.#store.owner, this, 'closed twice')
    this.#store.owner = undefined
    const fail = this.fails.close
    delete this.fails.close
    return fail?.()
  }
}

/** A process that shares the store. */
function processOf(t, store) {
  const own = new OwnBackend(store)
  const backend = new SharedBackend(own, store.location, { ownerTimeoutMs: 60_000 }, {})
  const db = new BackendLevel(backend)
  t.after(() => db.close().catch(() => {}))
  return { own, backend, db }
}

/** Makes the process that closes, and the other processes, which stay open. */
const roles = {
  async owner(t, store) {
    const owner = processOf(t, store)
    await owner.db.open()
    return { closed: owner }
  },
  async 'owner with a guest'(t, store) {
    const [owner, guest] = [processOf(t, store), processOf(t, store)]
    await owner.db.open()
    await guest.db.open()
    return { closed: owner, other: guest }
  },
  async guest(t, store) {
    const [owner, guest] = [processOf(t, store), processOf(t, store)]
    await owner.db.open()
    await guest.db.open()
    return { closed: guest, other: owner }
  },
  async 'guest that has become the owner'(t, store) {
    const [owner, guest] = [processOf(t, store), processOf(t, store)]
    await owner.db.open()
    await guest.db.open()
    await owner.db.close()
    await until(() => guest.backend.isOwner)
    return { closed: guest }
  }
}

const isOwner = (role) => role !== 'guest'
const wasGuest = (role) => role.startsWith('guest')

/** Makes the next call of a method, on any object of a class, do its work and then fail. */
function failOnce(t, { prototype }, name, fail) {
  const original = prototype[name]
  const mock = t.mock.method(prototype, name, async function (...args) {
    mock.mock.restore()
    await original.apply(this, args)
    return fail()
  })
}

/** What fails, in which roles, and what the closing call rejects with. */
const waysToFail = [
  ['nothing fails', () => {}, () => true, undefined],
  [
    'the store rejects',
    (_, { own }) => {
      own.fails.close = rejects
    },
    isOwner,
    'STORE_FAILED'
  ],
  [
    'the store throws',
    (_, { own }) => {
      own.fails.close = throws
    },
    isOwner,
    'STORE_FAILED'
  ],
  [
    'the store rejects with null',
    (_, { own }) => {
      own.fails.close = rejectsWithNull
    },
    isOwner,
    null
  ],
  [
    'the store rejects with what a write was rejected with',
    (_, { own }) => {
      own.fails.close = rejectsAgain
    },
    isOwner,
    undefined
  ],
  ['the server fails', (t) => failOnce(t, Server, 'close', rejects), isOwner, 'STORE_FAILED'],
  ['the connection fails', (t) => failOnce(t, Link, 'close', rejects), wasGuest, 'STORE_FAILED'],
  [
    'the connection, the server and the store fail',
    (t, { own }) => {
      failOnce(t, Link, 'close', rejects)
      failOnce(t, Server, 'close', rejects)
      own.fails.close = rejects
    },
    (role) => isOwner(role) && wasGuest(role),
    'STORE_FAILED'
  ]
]

for (const [role, make] of Object.entries(roles)) {
  for (const [how, fail, concerns, code] of waysToFail) {
    if (!concerns(role)) continue
    for (const [way, close] of Object.entries(waysToClose)) {
      test(`${role}: after ${way}, during which ${how}, the database is closed, and opens again`, async (t) => {
        const store = new Store(temporaryDirectory())
        const { closed, other } = await make(t, store)
        const { own, backend, db } = closed
        await db.put('key', 'value')
        db.iterator()
        db.snapshot()
        fail(t, closed)

        const error = await close(db).then(
          () => undefined,
          (error) => error
        )
        assert.equal(error?.code, code === undefined ? undefined : 'LEVEL_DATABASE_NOT_CLOSED')
        if (typeof code === 'string') assert.equal(error.cause.code, code)
        assert.deepEqual([db.status, backend.isOwner], ['closed', false])
        assert.notEqual(store.owner, own, 'it still has the store')
        // The other process is not disturbed.
        if (other !== undefined) assert.equal(await other.db.get('key'), 'value')

        await db.close()
        await assert.rejects(db.put('a', 'b'), { code: 'LEVEL_DATABASE_NOT_OPEN' })
        await db.open()
        assert.equal(await db.get('key'), 'value')
        await db.put('again', 'value')
        if (other !== undefined) assert.equal(await other.db.get('again'), 'value')
        assert.equal(backend.isOwner, other === undefined)
        await db.close()
        assert.notEqual(store.owner, own)
      })
    }
  }
}

/** What fails when a process that would become the owner opens the database, and what that rejects with. */
const waysToFailAtOpen = {
  'the store rejects': [
    ({ own }) => {
      own.fails.open = rejects
    },
    'STORE_FAILED'
  ],
  'the store throws': [
    ({ own }) => {
      own.fails.open = throws
    },
    'STORE_FAILED'
  ],
  'nothing can listen': [() => {}, 'EADDRINUSE'],
  'nothing can listen, and the store fails to close': [
    ({ own }) => {
      own.fails.close = rejects
    },
    'EADDRINUSE'
  ]
}

for (const [how, [fail, code]] of Object.entries(waysToFailAtOpen)) {
  test(`after open(), during which ${how}, the store is free, and the next open() succeeds`, async (t) => {
    const store = new Store(temporaryDirectory())
    const first = processOf(t, store)
    const socket = join(store.location, 'terrace.sock')
    if (code === 'EADDRINUSE') writeFileSync(socket, '')
    fail(first)
    await assert.rejects(first.db.open(), (error) => error.cause.code === code)
    assert.equal(store.owner, undefined)
    await first.db.close()
    rmSync(socket, { force: true })

    await first.db.open()
    await first.db.put('key', 'value')
    const second = processOf(t, store)
    await second.db.open()
    assert.equal(await second.db.get('key'), 'value')
    await first.db.close()
    assert.equal(await second.db.get('key'), 'value')
  })
}
