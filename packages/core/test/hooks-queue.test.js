// Writes that wait for others because of hook functions: none waits forever, and each takes effect in the order of the calls.

import assert from 'node:assert/strict'
import { entries, openLevel, test, testOnAll } from './support/databases.js'

async function microtasks(count) {
  for (let i = 0; i < count; i++) await null
}

test('putSync() in the microtasks in which clear() ends neither throws nor leaves later writes waiting', async (t) => {
  const db = await openLevel(t)
  const items = db.sublevel('items')
  await items.open()
  items.hooks.prewrite.add(() => {}, { everyWrite: true })

  for (let delay = 0; delay < 40; delay++) {
    await items.batch(entries(10))
    const cleared = items.clear()
    const written = microtasks(delay).then(() => items.putSync('last', String(delay)))
    const after = cleared.then(() => items.putSync('after', String(delay)))
    await Promise.all([cleared, written, after])
    await items.put('last', 'v')
    assert.deepEqual((await items.keys().all()).slice(-1), ['last'])
  }
})

testOnAll('a function that calls put() without waiting does not stop a chained batch', async (t) => {
  const db = await openLevel(t)
  const called = []
  const callOnce = (options) => {
    const run = () => {
      db.hooks.prewrite.delete(run)
      called.push(db.put('called', 'v'))
    }
    db.hooks.prewrite.add(run, options)
  }

  for (const options of [{}, { everyWrite: true }]) {
    callOnce(options)
    await db.batch().put('a', 'v').write()
    await Promise.all(called)
    await db.put('b', 'v')
    assert.deepEqual(await db.keys().all(), ['a', 'b', 'called'])
    await db.clear()
  }

  // A write that is called in put() takes place even if the batch is never written.
  callOnce({})
  const batch = db.batch().put('c', 'v')
  await Promise.all(called)
  await batch.close()
  assert.deepEqual(await db.keys().all(), ['called'])
  assert.equal(called.length, 3)
})

test('a synchronous write comes before what functions call while it waits for earlier ones', async (t) => {
  const db = await openLevel(t)
  let called
  db.hooks.prewrite.add(({ key }) => {
    if (key === 'second') called = db.put('k', 'by a function')
  })
  const first = db.put('first', 'v', { sync: true })
  const second = db.put('second', 'v')
  db.putSync('k', 'synchronous')
  await Promise.all([first, second])
  await called
  assert.equal(await db.get('k'), 'by a function')
})

test('a synchronous write does not wait for functions that call for writes without end', async (t) => {
  const db = await openLevel(t)
  const again = () => {
    db.put('again', 'v').catch(() => {})
  }
  db.hooks.prewrite.add(again)
  const first = db.put('k', 'v', { sync: true })
  const second = db.put('k', 'v')
  db.putSync('k', 'last')
  db.hooks.prewrite.delete(again)
  await Promise.all([first, second])
  assert.equal(await db.get('k'), 'last')
})

testOnAll('after close() nothing more is written, though it still waits for earlier writes', async (t) => {
  const db = await openLevel(t)
  const items = db.sublevel('items')
  await items.open()
  items.hooks.prewrite.add(() => {}, { everyWrite: true })
  const batch = items.batch().put('c', 'v')
  const before = [items.put('a', 'v', { sync: true }), items.put('b', 'v')]
  const closing = db.close()

  const isRefused = { code: 'LEVEL_DATABASE_NOT_OPEN' }
  await assert.rejects(items.put('c', 'v'), isRefused)
  await assert.rejects(db.del('a'), isRefused)
  await assert.rejects(items.batch([{ type: 'del', key: 'a' }]), isRefused)
  await assert.rejects(items.clear(), isRefused)
  await assert.rejects(batch.write(), isRefused)
  assert.throws(() => items.putSync('c', 'v'), isRefused)
  await Promise.all([...before, closing])
  await db.open()
  assert.deepEqual(await db.keys().all(), ['!items!a', '!items!b'])
})

test('a clear() whose batch cannot be written is not taken for done by a synchronous write that finishes it', async (t) => {
  const db = await openLevel(t)
  await db.batch(entries(1000))
  const refuse = ({ key }) => {
    if (key === 'key0300') throw new Error('keep it')
  }
  db.hooks.prewrite.add(refuse, { everyWrite: true })

  for (let delay = 0; delay < 10; delay++) {
    const cleared = assert.rejects(db.clear(), { code: 'LEVEL_HOOK_ERROR' })
    await microtasks(delay)
    db.putSync('last', 'v')
    await cleared
    assert.equal(await db.get('key0300'), 'value300')
  }
})

testOnAll(
  'open() right after close() opens again, though close() still waits for earlier writes',
  async (t) => {
    const db = await openLevel(t)
    const items = db.sublevel('items')
    await items.open()
    items.hooks.prewrite.add(() => {}, { everyWrite: true })

    for (const space of [items, db]) {
      const written = [items.put('a', 'v', { sync: true }), items.put('b', 'v')]
      const closing = space.close()
      await space.open()
      await Promise.all([...written, closing])
      assert.equal(space.status, 'open')
    }
    assert.deepEqual(await db.keys().all(), ['!items!a', '!items!b'])
  }
)
