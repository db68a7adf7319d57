import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { turns } from '../../../tests/support/waiting.mjs'
import { entries, openLevel } from './support/databases.js'

async function levelOf(t, ...keys) {
  const db = await openLevel(t)
  await db.batch(keys.map((key) => ({ type: 'put', key, value: key.toUpperCase() })))
  return db
}

test('reading ahead begins with the second entry, also after a seek', async (t) => {
  const db = await levelOf(t, 'a', 'b', 'c', 'd', 'e')
  const iterator = db.iterator()

  assert.deepEqual(await iterator.next(), ['a', 'A'])
  assert.equal(iterator.cached, 0)
  assert.deepEqual(await iterator.next(), ['b', 'B'])
  assert.equal(iterator.cached, 3)

  iterator.seek('c')
  assert.equal(iterator.cached, 0)
  assert.deepEqual(await iterator.next(), ['c', 'C'])
  assert.equal(iterator.cached, 0)
  assert.deepEqual(await iterator.next(), ['d', 'D'])
  assert.equal(iterator.cached, 1)
})

test('with a limit, the first entry is read together with the others, also after a seek', async (t) => {
  const db = await levelOf(t, 'a', 'b', 'c', 'd', 'e')
  const iterator = db.iterator({ limit: 4 })

  assert.deepEqual(await iterator.next(), ['a', 'A'])
  assert.equal(iterator.cached, 3)

  iterator.seek('d')
  assert.equal(iterator.cached, 0)
  assert.deepEqual(await iterator.next(), ['d', 'D'])
  assert.equal(iterator.cached, 1)
  assert.deepEqual(await iterator.all(), [['e', 'E']])
})

test('nextv() after next() takes what was read ahead first', async (t) => {
  const db = await levelOf(t, 'a', 'b', 'c', 'd')
  const iterator = db.iterator()
  await iterator.next()
  await iterator.next()
  assert.equal(iterator.cached, 2)

  assert.deepEqual(await iterator.nextv(1), [['c', 'C']])
  assert.deepEqual(await iterator.nextv(10), [['d', 'D']])
  assert.deepEqual(await iterator.nextv(10), [])
})

test('all() continues where next() stopped', async (t) => {
  const db = await levelOf(t, 'a', 'b', 'c', 'd')
  const iterator = db.keys({ limit: 3 })
  await iterator.next()
  await iterator.next()

  assert.deepEqual(await iterator.all(), ['c'])
})

test('highWaterMarkBytes ends a read when it is exceeded', async (t) => {
  const db = await levelOf(t, 'a', 'b', 'c', 'd')
  const readOnce = async (highWaterMarkBytes) =>
    (await db.iterator({ highWaterMarkBytes }).nextv(1000)).length

  assert.equal(await readOnce(0), 1)
  assert.equal(await readOnce(1), 1)
  assert.equal(await readOnce(2), 2)
  assert.equal(await readOnce(7), 4)
  assert.equal(await readOnce(Infinity), 4)

  const readAhead = async (highWaterMarkBytes) => {
    const iterator = db.iterator({ highWaterMarkBytes })
    await iterator.next()
    await iterator.next()
    return 1 + iterator.cached
  }

  assert.equal(await readAhead(0), 1)
  assert.equal(await readAhead(2), 2)
  assert.equal(await readAhead(9), 3)

  // Only keys count if only keys are read.
  assert.equal((await db.keys({ highWaterMarkBytes: 2 }).nextv(1000)).length, 3)
  assert.equal((await db.iterator({ highWaterMarkBytes: 0 }).all()).length, 4)
})

test('keys or values can be left out of entries', async (t) => {
  const db = await levelOf(t, 'a', 'b')

  assert.deepEqual(await db.iterator({ values: false }).all(), [
    ['a', undefined],
    ['b', undefined]
  ])
  assert.deepEqual(await db.iterator({ keys: false }).all(), [
    [undefined, 'A'],
    [undefined, 'B']
  ])
  assert.deepEqual(await db.iterator({ keys: false, values: false }).nextv(10), [
    [undefined, undefined],
    [undefined, undefined]
  ])
})

test('ranges, order and limit agree with a sorted array', async (t) => {
  const db = await openLevel(t)
  const all = entries(500)
  await db.batch(all)
  const keys = all.map((entry) => entry.key)
  const numbers = [0, 3, 250, 251, 499]
  const ends = [undefined, ...numbers.map((n) => keys[n]), 'a', 'z', 'key0003x']

  for (const low of ends) {
    for (const high of ends) {
      for (const [lower, upper] of [
        ['gte', 'lte'],
        ['gt', 'lt']
      ]) {
        for (const reverse of [false, true]) {
          const options = { reverse }
          if (low !== undefined) options[lower] = low
          if (high !== undefined) options[upper] = high

          let expected = keys.filter((key) => {
            const above = low === undefined || (lower === 'gte' ? key >= low : key > low)
            const below = high === undefined || (upper === 'lte' ? key <= high : key < high)
            return above && below
          })

          if (reverse) expected = expected.reverse()
          assert.deepEqual(await db.keys(options).all(), expected)
          assert.deepEqual(await db.keys({ ...options, limit: 3 }).all(), expected.slice(0, 3))
        }
      }
    }
  }
})

test('a seek may go either way, at any time', async (t) => {
  const db = await levelOf(t, 'b', 'd', 'f', 'h')
  const iterator = db.iterator()
  const backward = db.iterator({ reverse: true })

  for (const [target, forward, back] of [
    ['e', 'f', 'd'],
    ['a', 'b', undefined],
    ['h', 'h', 'h'],
    ['b', 'b', 'b'],
    ['i', undefined, 'h'],
    ['c', 'd', 'b']
  ]) {
    iterator.seek(target)
    backward.seek(target)
    assert.equal((await iterator.next())?.[0], forward, `forward to ${target}`)
    assert.equal((await backward.next())?.[0], back, `backward to ${target}`)
  }
})

test('an iterator shows the state at the time when it was made', async (t) => {
  const db = await levelOf(t, 'a', 'b', 'c')
  const iterator = db.iterator()
  const keys = db.keys({ reverse: true })
  await db.batch([
    { type: 'del', key: 'b' },
    { type: 'put', key: 'a', value: 'changed' },
    { type: 'put', key: 'd', value: 'D' }
  ])
  await db.compactRange('a', 'z')

  assert.deepEqual(await iterator.all(), [
    ['a', 'A'],
    ['b', 'B'],
    ['c', 'C']
  ])
  assert.deepEqual(await keys.all(), ['c', 'b', 'a'])
})

test('many entries, some large, come through whole', async (t) => {
  const db = await openLevel(t, { valueEncoding: 'buffer' })
  const expected = new Map()

  for (let i = 0; i < 300; i++) {
    const value = Buffer.alloc(i % 50 === 0 ? 300_000 : i, i)
    expected.set(`key${String(i).padStart(4, '0')}`, value)
  }

  await db.batch([...expected].map(([key, value]) => ({ type: 'put', key, value })))
  let count = 0

  for await (const [key, value] of db.iterator()) {
    assert.ok(expected.get(key).equals(value), key)
    count++
  }

  assert.equal(count, expected.size)
})

test('an aborted signal ends a read that is running, and those to come', async (t) => {
  const db = await openLevel(t)
  await db.batch(entries(200_000))
  const controller = new AbortController()
  const iterator = db.iterator({ signal: controller.signal })
  const running = iterator.all()
  setImmediate(() => controller.abort())

  await assert.rejects(running, { name: 'AbortError', code: 'LEVEL_ABORTED' })
  const second = db.iterator({ signal: controller.signal })
  await assert.rejects(second.next(), { name: 'AbortError', code: 'LEVEL_ABORTED' })
})

test('databases close with iterators in every state', async (t) => {
  const states = {
    closed: async (db) => db.iterator().close(),
    untouched: async (db) => db.iterator(),
    'read from': async (db) => db.iterator({ highWaterMarkBytes: 0 }).next(),
    reading: async (db) => {
      db.iterator({ highWaterMarkBytes: 0 }).next()
    },
    closing: async (db) => {
      const iterator = db.iterator()
      iterator.next().then(() => iterator.close())
    },
    'reading on and on': async (db) => {
      const iterator = db.iterator({ highWaterMarkBytes: 0 })
      const readOn = (entry) => (entry === undefined ? undefined : iterator.next().then(readOn))

      iterator
        .next()
        .then(readOn)
        .catch((error) => {
          assert.equal(error.code, 'LEVEL_ITERATOR_NOT_OPEN')
        })
    },
    'many at once': async (db) => {
      for (let i = 0; i < 100; i++) {
        db.iterator()
        db.iterator({ highWaterMarkBytes: 0 }).next()
      }
    }
  }

  for (const [state, make] of Object.entries(states)) {
    for (const count of [1, 10]) {
      await t.test(`${state}, after ${count} turns of the event loop`, async (t) => {
        const db = await openLevel(t)
        await db.batch(entries(100))
        await make(db)
        await turns(count)
        await db.close()
      })
    }
  }
})

test('running out of stack while making iterators is an exception', async () => {
  const child = fork(new URL('./support/blow-stack.js', import.meta.url), { execArgv: ['--stack-size=256'] })
  const [message] = await once(child, 'message')
  const [code, signal] = await once(child, 'exit')

  assert.match(message, /^RangeError at depth \d+/)
  assert.equal(signal, null)
  assert.equal(code, 0)
})

test('a closed iterator does not keep old values from being compacted away, though it is still referenced', async (t) => {
  const db = await openLevel(t, { compression: false })
  const valueOfMegabyte = (byte) => String.fromCharCode(byte).repeat(1 << 20)
  const iterators = []

  for (let round = 0; round < 4; round++) {
    await db.put('key', valueOfMegabyte(97 + round))
    const iterator = db.iterator()
    await iterator.next()
    await iterator.close()
    iterators.push(iterator)
  }

  await db.compactRange('a', 'z')
  assert.ok((await db.approximateSize('a', 'z')) < 2 << 20)
  assert.equal(iterators.length, 4)
})

test('nextv() of very many lets the event loop have its turns', async (t) => {
  const db = await openLevel(t)
  const count = 60_000
  for (let first = 0; first < count; first += 1000) {
    const keys = Array.from({ length: 1000 }, (_, i) => String(first + i).padStart(8, '0'))
    await db.batch(keys.map((key) => ({ type: 'put', key, value: 'v'.repeat(100) })))
  }

  const iterator = db.iterator({ highWaterMarkBytes: 2 ** 30 })
  let turns = 0
  // Timers are late on Windows.
  let next = setImmediate(function count() {
    turns++
    next = setImmediate(count)
  })
  const entries = await iterator.nextv(count)
  clearImmediate(next)
  assert.equal(entries.length, count)
  assert.deepEqual(entries.at(-1), ['00059999', 'v'.repeat(100)])
  assert.ok(turns >= 2, `${turns} turns`)
  assert.deepEqual(await iterator.nextv(count), [])
  await iterator.close()

  // The mark applies to the whole call.
  const marked = db.keys({ highWaterMarkBytes: 20_000 })
  const some = await marked.nextv(count)
  assert.ok(some.length > 2000 && some.length < 4000, `${some.length}`)
  assert.deepEqual(await marked.nextv(2), [
    String(some.length).padStart(8, '0'),
    String(some.length + 1).padStart(8, '0')
  ])
  await marked.close()
})
