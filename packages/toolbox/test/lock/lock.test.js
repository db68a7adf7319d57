import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lock } from 'terrace-toolbox/lock'
import { ttl } from 'terrace-toolbox/ttl'
import { HANG_MS, turns } from '../../../../tests/support/waiting.mjs'
import { databases } from '../support/databases.js'

let namespaces = 0

/** Locks that no other test uses. */
const fresh = () => lock(`test ${namespaces++}`)

/** Lets everything happen that needs no time. */
const settle = () => new Promise(setImmediate)

/** Acquires, and notes that in `order`. */
function noted(locks, order, name, keys, options) {
  return locks.acquire(keys, options).then((release) => {
    order.push(name)
    return release
  })
}

test('a key is had by one at a time, in the order of the calls', async () => {
  const locks = fresh()
  const order = []
  const first = await noted(locks, order, 'first', 'a')
  const second = noted(locks, order, 'second', 'a')
  const third = noted(locks, order, 'third', 'a')
  const other = await noted(locks, order, 'other', 'b')
  await settle()
  assert.deepEqual(order, ['first', 'other'])

  first()
  const releaseSecond = await second
  await settle()
  assert.deepEqual(order, ['first', 'other', 'second'])
  releaseSecond()
  const releaseThird = await third
  releaseThird()
  other()
})

test('releasing twice does not take the key from its next holder', async () => {
  const locks = fresh()
  const first = await locks.acquire('a')
  const second = locks.acquire('a')
  first()
  first()
  const release = await second
  first()
  await assert.rejects(locks.acquire('a', { timeoutMs: 0 }), { code: 'LOCK_TIMEOUT' })
  release()
  const again = await locks.acquire('a', { timeoutMs: 0 })
  again()
})

test('callers that share a key hold it together, but do not overtake one that wants it alone', async () => {
  const locks = fresh()
  const order = []
  const shared = { shared: true }
  const a = await noted(locks, order, 'a', 'key', shared)
  const b = await noted(locks, order, 'b', 'key', shared)
  const alone = noted(locks, order, 'alone', 'key')
  const c = noted(locks, order, 'c', 'key', shared)
  const d = noted(locks, order, 'd', 'key', shared)
  await settle()
  assert.deepEqual(order, ['a', 'b'])

  a()
  await settle()
  assert.deepEqual(order, ['a', 'b'])
  b()
  const releaseAlone = await alone
  await settle()
  assert.deepEqual(order, ['a', 'b', 'alone'])
  releaseAlone()
  const releases = await Promise.all([c, d])
  assert.deepEqual(order, ['a', 'b', 'alone', 'c', 'd'])
  for (const release of releases) release()
})

test('when a caller that wants a key alone gives up, those after it may share it at once', async () => {
  const locks = fresh()
  const reader = await locks.acquire('a', { shared: true })
  const controller = new AbortController()
  const alone = locks.acquire('a', { signal: controller.signal })
  const behind = locks.acquire('a', { shared: true })
  controller.abort()
  await assert.rejects(alone, { code: 'LOCK_ABORTED' })
  const release = await behind
  release()
  reader()
})

test('several keys in any order never wait for each other for ever', async () => {
  const locks = fresh()
  let done = 0
  const work = async () => {
    await settle()
    done++
  }
  const runs = []
  for (let run = 0; run < 50; run++) {
    const keys = ['a', 'b', 'c', 'd']
    runs.push(locks.withLock(run % 2 === 0 ? keys : keys.reverse(), work, { timeoutMs: HANG_MS }))
  }
  await Promise.all(runs)
  assert.equal(done, 50)
})

test('the same key named twice is one', async () => {
  const locks = fresh()
  const release = await locks.acquire(['a', 'a', new Uint8Array([0x61])], { timeoutMs: 0 })
  release()
})

test('no keys are held at once', async () => {
  const release = await fresh().acquire([])
  release()
})

test('a timeout ends the waiting, and holds nothing', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const locks = fresh()
  const holder = await locks.acquire('b')
  let isOver = false
  const waiting = locks.acquire(['a', 'b'], { timeoutMs: 20 }).finally(() => {
    isOver = true
  })
  const ended = assert.rejects(waiting, { code: 'LOCK_TIMEOUT' })
  t.mock.timers.tick(19)
  await turns()
  assert.equal(isOver, false)
  t.mock.timers.tick(1)
  await ended
  const a = await locks.acquire('a', { timeoutMs: 0 })
  await assert.rejects(locks.acquire('b', { timeoutMs: 0 }), { code: 'LOCK_TIMEOUT' })
  holder()
  const b = await locks.acquire('b', { timeoutMs: 0 })
  a()
  b()
})

test('an aborted signal ends the waiting, before it or within', async () => {
  const locks = fresh()
  const reason = new Error('enough')
  const isAborted = ({ code, cause }) => code === 'LOCK_ABORTED' && cause === reason
  await assert.rejects(locks.acquire('a', { signal: AbortSignal.abort(reason) }), isAborted)

  const holder = await locks.acquire('b')
  const controller = new AbortController()
  const waiting = locks.acquire(['a', 'b'], { signal: controller.signal })
  controller.abort(reason)
  await assert.rejects(waiting, isAborted)
  holder()

  const later = new AbortController()
  const release = await locks.acquire(['a', 'b'], { signal: later.signal })
  later.abort()
  await assert.rejects(locks.acquire('a', { timeoutMs: 0 }), { code: 'LOCK_TIMEOUT' })
  release()
})

test('withLock gives the keys up when the work has ended or failed', async () => {
  const locks = fresh()
  assert.equal(await locks.withLock('a', () => 5), 5)
  assert.equal(await locks.withLock('a', async () => 6, { timeoutMs: 0 }), 6)
  await assert.rejects(
    locks.withLock('a', () => {
      throw new Error('failed')
    }),
    /failed/
  )
  const release = await locks.acquire('a', { timeoutMs: 0 })
  let isCalled = false
  await assert.rejects(
    locks.withLock('a', () => (isCalled = true), { timeoutMs: 0 }),
    {
      code: 'LOCK_TIMEOUT'
    }
  )
  assert.equal(isCalled, false)
  release()
})

test('an acquired lock can be disposed of', async () => {
  const locks = fresh()
  const first = await locks.acquire('a')
  first[Symbol.dispose]()
  const second = await locks.acquire('a', { timeoutMs: 0 })
  await second[Symbol.asyncDispose]()
  const third = await locks.acquire('a', { timeoutMs: 0 })
  third()
})

test('namespaces do not meet', async () => {
  const a = await lock('x').acquire('key')
  const b = await lock('x"k').acquire('ey', { timeoutMs: 0 })
  const c = await lock('').acquire('"x"key', { timeoutMs: 0 })
  await assert.rejects(lock('x').acquire('key', { timeoutMs: 0 }), { code: 'LOCK_TIMEOUT' })
  for (const release of [a, b, c]) release()
})

test('ten thousand keys at once', async () => {
  const locks = fresh()
  const keys = Array.from({ length: 10_000 }, (_, index) => `${index}`)
  const release = await locks.acquire(keys, { timeoutMs: 0 })
  const waiting = locks.acquire(keys)
  release()
  const again = await waiting
  again()
})

test('bad keys and options are refused', async () => {
  const locks = fresh()
  const refused = { code: 'LOCK_INVALID' }
  for (const key of [null, undefined, 5, {}, ['a', null]]) await assert.rejects(locks.acquire(key), refused)
  for (const timeoutMs of [-1, NaN, '5', 2 ** 31]) {
    await assert.rejects(locks.acquire('a', { timeoutMs }), refused)
  }
  await assert.rejects(locks.acquire('a', { signal: {} }), refused)
  await assert.rejects(locks.acquire('a', { shared: 1 }), refused)
  await assert.rejects(locks.withLock('a'), refused)
  for (const owner of [null, undefined, 5, {}]) assert.throws(() => lock(owner), refused)
  const release = await locks.acquire('a', { timeoutMs: 0 })
  release()
})

for (const [name, open] of Object.entries(databases)) {
  test(`${name}: keys are those of the database, whichever object they are named through`, async (t) => {
    const db = await open(t)
    const users = db.sublevel('users', { keyEncoding: 'json' })
    const isTaken = { code: 'LOCK_TIMEOUT' }
    const release = await lock(users).acquire({ id: 5 })
    await assert.rejects(lock(users).acquire({ id: 5 }, { timeoutMs: 0 }), isTaken)
    await assert.rejects(lock(db).acquire('!users!{"id":5}', { timeoutMs: 0 }), isTaken)
    const same = db.sublevel('users', { keyEncoding: 'buffer' })
    await assert.rejects(lock(same).acquire(Buffer.from('{"id":5}'), { timeoutMs: 0 }), isTaken)
    const others = await Promise.all([
      lock(users).acquire({ id: 6 }, { timeoutMs: 0 }),
      lock(db.sublevel('posts', { keyEncoding: 'json' })).acquire({ id: 5 }, { timeoutMs: 0 }),
      lock(await open(t)).acquire('!users!{"id":5}', { timeoutMs: 0 })
    ])
    for (const each of [release, ...others]) each()
    await assert.rejects(lock(users).acquire(null), { code: 'LOCK_INVALID' })
  })

  test(`${name}: reading and writing under a lock loses no increment`, async (t) => {
    const db = await open(t)
    const counters = db.sublevel('counters', { valueEncoding: 'json' })
    const locks = lock(counters)
    const increment = async (key) => {
      const value = (await counters.get(key)) ?? 0
      await turns(value % 2)
      await counters.put(key, value + 1)
    }
    await Promise.all(
      Array.from({ length: 60 }, (_, index) => {
        const key = index % 2 === 0 ? 'a' : 'b'
        return locks.withLock(key, () => increment(key))
      })
    )
    assert.deepEqual(await counters.getMany(['a', 'b']), [30, 30])
  })

  test(`${name}: keys of a view by ttl can be locked`, async (t) => {
    const view = ttl((await open(t)).sublevel('sessions'))
    const release = await lock(view).acquire('a')
    await assert.rejects(lock(view).acquire('a', { timeoutMs: 0 }), { code: 'LOCK_TIMEOUT' })
    release()
    await view.close()
  })
}
