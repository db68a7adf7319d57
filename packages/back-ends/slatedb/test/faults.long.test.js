// A store that fails, is throttled, is cut off in the middle, or hangs. Long, because the engine tries again by its own clock, in an object
// store, which is a server.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { holdClock } from '../../../../tests/support/clock.mjs'
import { HANG_MS, until } from '../../../../tests/support/waiting.mjs'
import { newLevel, openLevel } from './support/databases.js'
import { faults } from './support/faulty-proxy.js'
import { missing, Store } from './support/store.js'

const onStore = { skip: missing ?? false }
/** What hangs fails after this time, by a clock that the test holds. */
const DEADLINE_MS = 2500
/** As many as there are tests, so that what one leaves does not slow down the next. */
const BUCKETS = Array.from({ length: 12 }, (_, i) => `bucket${i}`)
let store

before(async () => {
  if (missing === undefined) store = await Store.start({ buckets: BUCKETS })
})
after(() => store?.stop())

const levelOf = (t, options, location = store.location()) =>
  openLevel(t, { ...store.options, deadlineMs: HANG_MS, ...options }, location)

/** Lets the deadline of a call pass once a request has met its fault. */
async function late(clock, call) {
  const { done } = store.proxy
  const called = call()
  called.catch(() => {})
  await until(() => store.proxy.done > done)
  return clock.pass(called)
}

/** Whether an error, with its causes, shows the secret. */
function shows(error, secret) {
  const seen = `${error?.stack} ${error?.message} ${JSON.stringify(error)}`
  return error !== undefined && (seen.includes(secret) || shows(error.cause, secret))
}

for (const kind of ['throttle', 'cutBefore', 'cutAfter', 'cutInside']) {
  test(
    `every third request meets the fault ${kind}: writes and reads go on, and none is lost or doubled`,
    onStore,
    async (t) => {
      const location = store.location()
      const db = await levelOf(t, {}, location)
      let requests = 0
      const faultyBefore = store.proxy.faulty
      store.proxy.fault = () => (requests++ % 3 === 0 ? faults[kind] : undefined)
      t.after(() => store.proxy.heal())

      for (let i = 0; i < 15; i++) {
        await db.batch([
          { type: 'put', key: `k${i}`, value: `${i}` },
          { type: 'put', key: 'count', value: `${i + 1}` }
        ])
      }
      await db.close()
      await db.open()
      assert.equal(await db.get('count'), '15')
      assert.equal((await db.keys({ gte: 'k' }).all()).length, 15)
      assert.ok(store.proxy.faulty > faultyBefore + 5)
    }
  )
}

test(
  'a write whose answer is lost is acknowledged once, and is no fencing by another writer',
  onStore,
  async (t) => {
    const db = await levelOf(t)
    let lost = 0
    store.proxy.fault = (operation, area) => {
      if (operation !== 'PUT' || area !== 'wal' || lost > 0) return undefined
      lost++
      return faults.cutAfter
    }
    t.after(() => store.proxy.heal())
    await db.put('a', '1')
    await db.put('b', '2')
    assert.equal(lost, 1)
    assert.deepEqual(await db.iterator().all(), [
      ['a', '1'],
      ['b', '2']
    ])
  }
)

test(
  'while the store hangs, operations fail by their deadline; afterwards the database can be opened again',
  onStore,
  async (t) => {
    const clock = holdClock(t)
    const location = store.location()
    const db = await levelOf(t, { deadlineMs: DEADLINE_MS }, location)
    await db.put('before', '1')
    store.proxy.fault = () => faults.hang
    t.after(() => store.proxy.heal())

    await assert.rejects(
      late(clock, () => db.put('during', '1')),
      { code: 'LEVEL_DEADLINE', location }
    )
    // Whether it is stored is not known, so nothing may come after it.
    await assert.rejects(db.put('refused', '1'), (error) => {
      return error.code === 'LEVEL_WRITES_REFUSED' && error.cause.code === 'LEVEL_DEADLINE'
    })
    assert.equal(await db.get('before'), '1')
    await clock.pass(db.close())
    await assert.rejects(
      late(clock, () => db.open()),
      (error) => error.cause.code === 'LEVEL_DEADLINE'
    )

    store.proxy.heal()
    await db.open({ deadlineMs: HANG_MS })
    assert.equal(await db.get('before'), '1')
    assert.equal(await db.get('refused'), undefined)
    await db.put('after', '1')
    await db.close()
  }
)

test('a write that the store took without an answer is there after the next opening', onStore, async (t) => {
  const clock = holdClock(t)
  const location = store.location()
  const db = await levelOf(t, { deadlineMs: DEADLINE_MS }, location)
  store.proxy.fault = (operation) => (operation === 'PUT' ? faults.hangAfter : undefined)
  t.after(() => store.proxy.heal())
  await assert.rejects(
    late(clock, () => db.put('key', 'value')),
    { code: 'LEVEL_DEADLINE' }
  )
  store.proxy.heal()
  await db.close()
  await db.open({ deadlineMs: HANG_MS })
  assert.equal(await db.get('key'), 'value')
})

test(
  'reads of tables fail by their deadline while the store hangs, and succeed later',
  onStore,
  async (t) => {
    const clock = holdClock(t)
    const location = store.location()
    const writer = await levelOf(t, {}, location)
    const value = 'x'.repeat(1000)
    await writer.batch(Array.from({ length: 500 }, (_, i) => ({ type: 'put', key: `k${1000 + i}`, value })))
    await writer.close()

    const db = await levelOf(t, { deadlineMs: DEADLINE_MS }, location)
    store.proxy.fault = (operation) => (operation === 'GET' ? faults.hang : undefined)
    t.after(() => store.proxy.heal())
    const reads = [() => db.get('k1001'), () => db.getMany(['k1001', 'k1400']), () => db.keys().all()]
    await Promise.all(reads.map((read) => assert.rejects(late(clock, read), { code: 'LEVEL_DEADLINE' })))
    store.proxy.heal()
    await until(async () => (await db.get('k1001').catch(() => undefined)) === value)
    assert.equal((await db.keys().all()).length, 500)
  }
)

test('an iterator whose read failed by its deadline goes on where it was', onStore, async (t) => {
  const clock = holdClock(t)
  const location = store.location()
  const writer = await levelOf(t, {}, location)
  const keys = Array.from({ length: 3000 }, (_, i) => `k${1000 + i}`)
  const value = 'x'.repeat(100)
  await writer.batch(keys.map((key) => ({ type: 'put', key, value })))
  await writer.close()

  const db = await levelOf(t, { deadlineMs: DEADLINE_MS }, location)
  const iterator = db.keys({ fillCache: false })
  const seen = [await iterator.next()]
  store.proxy.fault = (operation) => (operation === 'GET' ? faults.hang : undefined)
  t.after(() => store.proxy.heal())
  const readAll = async () => {
    for (let key = await iterator.next(); key !== undefined; key = await iterator.next()) seen.push(key)
  }
  await assert.rejects(late(clock, readAll), { code: 'LEVEL_DEADLINE' })
  store.proxy.heal()
  await readAll()
  assert.deepEqual(seen, keys)
  await iterator.close()
})

test(
  'acknowledged in memory, close() says that the store hangs, has closed it nevertheless, and it opens once the store is back',
  onStore,
  async (t) => {
    const clock = holdClock(t)
    const location = store.location()
    const db = await levelOf(t, { acknowledge: 'memory', deadlineMs: DEADLINE_MS }, location)
    store.proxy.fault = () => faults.hang
    t.after(() => store.proxy.heal())
    await db.put('key', 'value')
    await assert.rejects(
      late(clock, () => db.close()),
      (error) => error.cause.code === 'LEVEL_DEADLINE'
    )
    store.proxy.heal()
    await db.close()
    const next = await levelOf(t, {}, location)
    // That close() failed says that it may be lost.
    assert.ok([undefined, 'value'].includes(await next.get('key')))
    await next.put('key', 'again')
    assert.equal(await next.get('key'), 'again')
  }
)

test('a refusal of the store at the opening is told at once', onStore, async (t) => {
  store.proxy.fault = () => (_request, response) => {
    response.writeHead(403, { 'content-type': 'application/xml' })
    response.end('<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>')
  }
  t.after(() => store.proxy.heal())
  const db = newLevel(t, store.options, store.location())
  await assert.rejects(db.open(), ({ cause }) => {
    assert.equal(cause.code, 'LEVEL_IO_ERROR')
    assert.match(cause.message, /AccessDenied|403/)
    assert.ok(!shows(cause, store.secret))
    return true
  })
})

test('errors do not show credentials, even if the store repeats them', onStore, async (t) => {
  store.proxy.fault = () => (_request, response) => {
    response.writeHead(403, { 'content-type': 'application/xml' })
    response.end(`<Error><Code>SignatureDoesNotMatch</Code><Message>${store.secret}</Message></Error>`)
  }
  t.after(() => store.proxy.heal())
  const db = newLevel(t, store.options, store.location())
  await assert.rejects(db.open(), (error) => !shows(error, store.secret))
})
