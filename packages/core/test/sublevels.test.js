// Sublevels: what they read and write, and when they are closed and forgotten.

import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { AbstractSublevel } from 'abstract-level'
import { Sublevel } from 'terrace-core'
import { scaled } from '../../../tests/support/form.mjs'
import { entries, newLevel, openLevel, test, testOnAll } from './support/databases.js'

/** Three levels deep, with a different encoding in the deepest. */
async function openDeep(t, options) {
  const db = await openLevel(t)
  const deep = db.sublevel('a').sublevel(['b', 'c'], options)
  await deep.open()
  return { db, deep }
}

test('a sublevel is an AbstractSublevel that knows its place', async (t) => {
  const { db, deep } = await openDeep(t)
  assert.ok(deep instanceof Sublevel && deep instanceof AbstractSublevel)
  assert.equal(deep.prefix, '!a!!b!!c!')
  assert.deepEqual(deep.path(), ['a', 'b', 'c'])
  assert.deepEqual(deep.path(true), ['b', 'c'])
  assert.equal(deep.db, db)
  assert.equal(deep.parent.parent, db)
  assert.deepEqual(deep.supports.additionalMethods, {
    putSync: true,
    delSync: true,
    batchSync: true,
    iterateSync: true,
    update: true,
    ...(db.supports.versions && { getEntry: true })
  })
  assert.equal(db.supports.additionalMethods.putSync, true)
})

test('a deep sublevel reads and writes its own keys, in every way and format', async (t) => {
  const { db, deep } = await openDeep(t, { valueEncoding: 'json' })
  const bytes = { keyEncoding: 'buffer', valueEncoding: 'buffer' }

  await deep.put('1', { n: 1 })
  deep.putSync('2', { n: 2 })
  await deep.batch([{ type: 'put', key: '3', value: 3 }])
  deep.batchSync([{ type: 'put', key: '4', value: 4 }])
  await deep.batch().put('5', 5).write()
  await deep.put(new Uint8Array([0x36]), new Uint8Array([0x36]), {
    keyEncoding: 'view',
    valueEncoding: 'view'
  })

  assert.deepEqual(
    await db.keys().all(),
    ['1', '2', '3', '4', '5', '6'].map((key) => `!a!!b!!c!${key}`)
  )
  assert.deepEqual(await deep.get('1'), { n: 1 })
  assert.deepEqual(deep.getSync('2'), { n: 2 })
  assert.deepEqual(await deep.get(Buffer.from('3'), bytes), Buffer.from('3'))
  assert.deepEqual(await deep.getMany(['4', '6', '7']), [4, 6, undefined])
  assert.deepEqual(await deep.getMany(new Array(5000).fill('5')), new Array(5000).fill(5))
  assert.deepEqual([await deep.has('5'), await deep.has('7')], [true, false])
  assert.deepEqual(await deep.hasMany(['5', '7']), [true, false])

  await deep.del('1')
  deep.delSync('2')
  await deep.batch().del('3').write()
  await deep.clear({ gte: '5' })
  assert.deepEqual(await deep.keys().all(), ['4'])
})

test('iterators of a sublevel give its keys in every format, range and manner of reading', async (t) => {
  const { db, deep } = await openDeep(t)
  await db.batch(['!a!!b!!c', '!a!!b!!c"', '!a!!b!!d!x'].map((key) => ({ type: 'put', key, value: 'v' })))
  await deep.batch(entries(3000))
  const expected = entries(3000).map(({ key, value }) => [key, value])

  const walked = []
  for await (const entry of deep.iterator()) walked.push(entry)
  assert.deepEqual(walked, expected)
  assert.deepEqual(Array.from(deep.iterateSync()), expected)
  assert.deepEqual(await deep.iterator().all(), expected)
  assert.deepEqual(await deep.iterator().nextv(5), expected.slice(0, 5))
  assert.deepEqual(Array.from(deep.keys({ reverse: true, limit: 2 })), ['key2999', 'key2998'])
  assert.deepEqual(await deep.values({ gt: 'key2997' }).all(), ['value2998', 'value2999'])
  assert.deepEqual(await deep.keys({ gte: 'key0001', lt: 'key0003' }).all(), ['key0001', 'key0002'])
  assert.deepEqual(await deep.keys({ keyEncoding: 'buffer', lte: Buffer.from('key0000') }).all(), [
    Buffer.from('key0000')
  ])
  assert.deepEqual(await deep.iterator({ keyEncoding: 'view', values: false, limit: 1 }).next(), [
    Buffer.from('key0000'),
    undefined
  ])
  assert.deepEqual(await deep.iterator({ keys: false, limit: 1 }).next(), [undefined, 'value0'])
})

testOnAll('iterators of a sublevel seek within it', async (t) => {
  const { deep } = await openDeep(t)
  await deep.batch(entries(100))
  const iterator = deep.keys()
  assert.equal(await iterator.next(), 'key0000')
  iterator.seek('key0050')
  assert.equal(await iterator.next(), 'key0050')
  iterator.seek(Buffer.from('key0010'), { keyEncoding: 'buffer' })
  assert.equal(await iterator.next(), 'key0010')
  iterator.seek('x')
  assert.equal(await iterator.next(), undefined)
  await iterator.close()
})

test('a sublevel reads from snapshots', async (t) => {
  const { db, deep } = await openDeep(t)
  await deep.put('k', 'old')
  const snapshots = [db.snapshot(), deep.snapshot()]
  await deep.put('k', 'new')

  for (const snapshot of snapshots) {
    assert.equal(await deep.get('k', { snapshot }), 'old')
    assert.equal(deep.getSync('k', { snapshot }), 'old')
    assert.deepEqual(await deep.values({ snapshot }).all(), ['old'])
    await snapshot.close()
  }
})

testOnAll('a sublevel can be used before the database is open', async (t) => {
  const db = newLevel(t)
  const deep = db.sublevel('a').sublevel('b')
  assert.equal(deep.status, 'opening')
  assert.throws(() => deep.putSync('k', 'v'), { code: 'LEVEL_DATABASE_NOT_OPEN' })
  assert.throws(() => deep.iterateSync(), { code: 'LEVEL_DATABASE_NOT_OPEN' })
  const iterator = deep.iterator()
  await Promise.all([deep.put('1', 'v'), deep.batch([{ type: 'put', key: '2', value: 'v' }]), deep.del('2')])
  assert.deepEqual(await db.keys().all(), ['!a!!b!1'])
  await iterator.close()
})

testOnAll('sublevels are closed with the database, and opened apart from it', async (t) => {
  const { db, deep } = await openDeep(t)
  const iterator = deep.iterator()
  await db.close()
  assert.equal(deep.status, 'closed')
  assert.equal(deep.parent.status, 'closed')
  await assert.rejects(iterator.next(), { code: 'LEVEL_ITERATOR_NOT_OPEN' })
  await assert.rejects(deep.get('k'), { code: 'LEVEL_DATABASE_NOT_OPEN' })
  await assert.rejects(deep.put('k', 'v'), { code: 'LEVEL_DATABASE_NOT_OPEN' })
  await assert.rejects(deep.open(), { code: 'LEVEL_DATABASE_NOT_OPEN' })

  await db.open()
  await deep.parent.open()
  await deep.open()
  await deep.put('k', 'v')
  await db.close()
  assert.equal(deep.status, 'closed')
})

testOnAll('a sublevel is closed with its parent, and the others are not', async (t) => {
  const { db, deep } = await openDeep(t)
  const other = db.sublevel('b')
  await other.open()
  await deep.parent.close()
  assert.equal(deep.status, 'closed')
  assert.equal(other.status, 'open')
})

testOnAll('sublevels that were made and lost are forgotten', async (t) => {
  const db = await openLevel(t)

  for (let round = 0; round < scaled(50, 20); round++) {
    await Promise.all(Array.from({ length: 20 }, () => db.sublevel('a').sublevel('b').put('k', 'v')))
    if (round % 10 === 0) await collected(() => true)
  }

  assert.ok(await collected(() => db.children.size < 50))
})

testOnAll(
  'a lost sublevel whose closing somebody wants to hear of is closed with the database',
  async (t) => {
    const db = await openLevel(t)
    const heard = []

    await (async () => {
      const lost = db.sublevel('a').sublevel('b')
      await lost.open()
      lost.once('closed', () => heard.push('closed'))
      lost.on('closing', () => heard.push('closing'))
    })()
    await collectGarbage()

    await db.close()
    assert.deepEqual(heard, ['closing', 'closed'])
  }
)

testOnAll('a resource of a lost sublevel is closed with the database', async (t) => {
  const db = await openLevel(t)
  let closed = 0

  await (async () => {
    const lost = db.sublevel('a').sublevel('b')
    await lost.open()
    lost.attachResource({
      close: async () => {
        closed++
      }
    })
    lost.iterator()
  })()
  await collectGarbage()

  await db.close()
  assert.equal(closed, 1)
})

testOnAll('the functions with everyWrite of a lost sublevel live on', async (t) => {
  const db = await openLevel(t)
  const seen = []

  await (async () => {
    const lost = db.sublevel('a')
    await lost.open()
    lost.hooks.prewrite.add(({ key }) => seen.push(key), { everyWrite: true })
  })()
  await collectGarbage()

  await db.sublevel('a').put('k', 'v')
  assert.deepEqual(seen, ['k'])
})

testOnAll('a sublevel with functions of its own is forgotten with them', async (t) => {
  const db = await openLevel(t)
  const reference = await (async () => {
    const lost = db.sublevel('a')
    await lost.open()
    lost.hooks.prewrite.add(() => {})
    return new WeakRef(lost)
  })()
  assert.equal(await collected(() => reference.deref() === undefined), true)
})

testOnAll('a sublevel that cannot be closed keeps the database open', async (t) => {
  const db = await openLevel(t)
  const [failing, other] = ['a', 'b'].map((name) => db.sublevel(name))
  await Promise.all([failing.open(), other.open()])
  const resource = { close: () => Promise.reject(new Error('not yet')) }
  failing.attachResource(resource)

  await assert.rejects(db.close(), { code: 'LEVEL_DATABASE_NOT_CLOSED' })
  assert.deepEqual([db.status, failing.status, other.status], ['open', 'open', 'closed'])
  failing.detachResource(resource)
  await db.close()
  assert.equal(failing.status, 'closed')
})

/** Collects garbage repeatedly: whatever was lost would be collected. */
async function collectGarbage() {
  await collected(() => false, scaled(20, 5))
}

/** Whether garbage collection makes a condition true. */
async function collected(isSo, rounds = 20) {
  for (let round = 0; round < rounds; round++) {
    await nextTurn()
    globalThis.gc()
    if (isSo()) return true
  }

  return false
}
