// When callbacks are called: after the call has returned, outside of promises, and with turns of the event loop between them.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { call, leveldown, makers, memdown, newLocation, opened } from './support/databases.js'

for (const [name, make] of Object.entries(makers)) {
  test(`no callback is called before its method has returned: ${name}`, async () => {
    const db = make()
    let within = true
    const calling = []
    const asynchronous = (work) => {
      within = true
      calling.push(new Promise((resolve) => work(() => resolve(within))))
      within = false
    }
    // Each call is made in the same tick as the next, so `within` is false unless the callback comes at once.
    asynchronous((done) => db.open(done))
    await Promise.all(calling)
    const operations = [{ type: 'put', key: 'a', value: '1' }]
    for (const work of [
      (done) => db.put('a', '1', done),
      (done) => db.put(null, '1', done),
      (done) => db.get('a', done),
      (done) => db.get('absent', done),
      (done) => db.getMany(['a'], done),
      (done) => db.getMany([], done),
      (done) => db.getMany('no array', done),
      (done) => db.del('absent', done),
      (done) => db.batch(operations, done),
      (done) => db.batch([], done),
      (done) => db.batch('no array', done),
      (done) => db.batch().put('a', '2').write(done),
      (done) => db.batch().write(done),
      (done) => db.clear(done)
    ]) {
      asynchronous(work)
    }
    const iterator = db.iterator()
    asynchronous((done) => iterator.next(done))
    asynchronous((done) => iterator.next(done))
    asynchronous((done) => iterator.end(done))
    asynchronous((done) => iterator.end(done))
    asynchronous((done) => iterator.next(done))
    asynchronous((done) => db.close(done))
    asynchronous((done) => db.put('a', '1', done))
    for (const wasWithin of await Promise.all(calling)) assert.equal(wasWithin, false)
  })
}

test('callbacks get what those of leveldown get', async (t) => {
  const db = await opened(t, leveldown(newLocation()))
  const argumentsOf = (method, ...args) =>
    new Promise((resolve) => db[method](...args, (...results) => resolve(results)))
  assert.deepEqual(await argumentsOf('put', 'a', '1'), [null])
  assert.deepEqual(await argumentsOf('get', 'a'), [null, Buffer.from('1')])
  assert.deepEqual(await argumentsOf('getMany', ['a', 'b']), [null, [Buffer.from('1'), undefined]])
  assert.deepEqual(await argumentsOf('del', 'a'), [null])
  assert.deepEqual(await argumentsOf('batch', [{ type: 'del', key: 'a' }]), [null])
  assert.deepEqual(await argumentsOf('batch', []), [])
  assert.deepEqual(await argumentsOf('clear'), [null])
  assert.deepEqual(await argumentsOf('compactRange', 'a', 'b'), [null])
  assert.deepEqual(await argumentsOf('approximateSize', 'a', 'b'), [null, 0])
  const iterator = db.iterator()
  assert.deepEqual(await new Promise((resolve) => iterator.end((...results) => resolve(results))), [null])
})

test('callbacks get what those of memdown get: nothing, where leveldown passes null', async () => {
  const db = memdown()
  const argumentsOf = (method, ...args) =>
    new Promise((resolve) => db[method](...args, (...results) => resolve(results)))
  const argumentsOfEnd = (iterator) =>
    new Promise((resolve) => iterator.end((...results) => resolve(results)))
  const operations = [{ type: 'del', key: 'a' }]
  const argumentsOfAll = async () => {
    assert.deepEqual(await argumentsOf('put', 'a', '1'), [])
    assert.deepEqual(await argumentsOf('get', 'a'), [null, Buffer.from('1')])
    assert.deepEqual(await argumentsOf('del', 'a'), [])
    assert.deepEqual(await argumentsOf('batch', operations), [])
    assert.deepEqual(await argumentsOf('batch', []), [])
    for (const batch of [db.batch().put('a', '2'), db.batch()]) {
      assert.deepEqual(await new Promise((resolve) => batch.write((...results) => resolve(results))), [])
    }
    assert.deepEqual(await argumentsOf('clear'), [])
    assert.deepEqual(await argumentsOf('clear', { gt: 'a' }), [])
    assert.deepEqual(await argumentsOfEnd(db.iterator()), [])
  }
  // Also for calls before open().
  await argumentsOfAll()
  assert.deepEqual(await argumentsOf('open'), [])
  await argumentsOfAll()
  assert.deepEqual(await argumentsOf('getMany', ['b']), [null, [undefined]])
  const running = db.iterator()
  const next = new Promise((resolve) => running.next((...results) => resolve(results)))
  const end = argumentsOfEnd(running)
  assert.deepEqual([await next, await end], [[undefined, undefined, undefined], []])
  assert.deepEqual(await argumentsOf('close'), [])
  assert.deepEqual(
    (await argumentsOf('put', 'a', '1')).map(({ message }) => message),
    ['Database is not open']
  )
})

test('what a callback throws is an uncaught exception, and no rejected promise', () => {
  const program = fileURLToPath(new URL('./support/throwing-callbacks.cjs', import.meta.url))
  const { stdout, stderr } = spawnSync(process.execPath, [program, newLocation()], { encoding: 'utf8' })
  assert.equal(stderr, '')
  const methods = ['open', 'put', 'sync put', 'get', 'next', 'end', 'batch', 'clear', 'close']
  assert.equal(stdout, methods.map((method) => `uncaughtException ${method}\n`).join(''))
})

for (const [name, make] of Object.entries({ disk: makers.disk, memory: () => memdown() })) {
  test(`the event loop gets turns between calls that follow one another: ${name}`, async (t) => {
    const db = await opened(t, make())
    await call(db, 'put', 'key', 'value')
    for (const chained of [
      (then) => db.put('key', 'value', then),
      (then) => db.get('key', then),
      (then) => db.getMany(['key'], then),
      (then) => db.batch([{ type: 'put', key: 'key', value: 'value' }], then)
    ]) {
      let hasTurn = false
      setImmediate(() => {
        hasTurn = true
      })
      // It would never end if the chain kept the event loop busy.
      await new Promise((resolve) => {
        const next = () => (hasTurn ? resolve() : chained(next))
        next()
      })
    }
  })
}

for (const [name, make] of Object.entries(makers)) {
  test(`an iterator takes no more than 1,000 entries between turns of the event loop: ${name}`, async (t) => {
    const db = await opened(t, make())
    const operations = Array.from({ length: 5000 }, (_, i) => ({
      type: 'put',
      key: String(i).padStart(5, '0'),
      value: ''
    }))
    await call(db, 'batch', operations)
    let [most, taken, count] = [0, 0, 0]
    const took = () => {
      count++
      most = Math.max(most, ++taken)
    }
    let turn = setImmediate(function next() {
      taken = 0
      turn = setImmediate(next)
    })
    t.after(() => clearImmediate(turn))

    const whole = db.iterator()
    await new Promise((resolve) => {
      const step = (_error, key) => {
        if (key === undefined) resolve()
        else {
          took()
          whole.next(step)
        }
      }
      whole.next(step)
    })
    for await (const _ of db.iterator()) took()
    await new Promise((resolve) => {
      const step = (left) => {
        if (left === 0) return resolve()
        const one = db.iterator({ limit: 1 })
        one.next(() => {
          took()
          one.end(() => step(left - 1))
        })
      }
      step(3000)
    })
    clearImmediate(turn)
    assert.equal(count, 13_000)
    assert.ok(most <= 1000, `${most} between turns`)
  })
}
