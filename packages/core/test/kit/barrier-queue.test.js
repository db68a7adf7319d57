// The order of a back-end's writes around barriers, and writes in groups.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scaled } from '../../../../tests/support/form.mjs'
import { BarrierQueue, GroupedWrites } from '../../dist/index.js'
import { randomOf } from '../support/random.js'

/** Work that a test ends. */
function pending() {
  const work = {}
  work.promise = new Promise((resolve, reject) => Object.assign(work, { resolve, reject }))
  return work
}

/** Lets all that need not wait come to its end. */
const quiet = () => new Promise((resolve) => setImmediate(resolve))

test('work overlaps, and a barrier overlaps nothing', async () => {
  const queue = new BarrierQueue()
  const begun = []
  const works = Array.from({ length: 5 }, pending)
  const begin = (i) => () => {
    begun.push(i)
    return works[i].promise
  }
  queue.run(begin(0))
  queue.run(begin(1))
  assert.deepEqual(begun, [0, 1], 'within the call')
  const barrier = queue.barrier(begin(2))
  queue.run(begin(3))
  const last = queue.barrier(begin(4))
  works[0].resolve()
  await quiet()
  assert.deepEqual(begun, [0, 1])
  assert.equal(queue.isFree, false)
  works[1].resolve()
  await quiet()
  assert.deepEqual(begun, [0, 1, 2])
  works[2].resolve('cleared')
  assert.equal(await barrier, 'cleared')
  await quiet()
  assert.deepEqual(begun, [0, 1, 2, 3])
  works[3].resolve()
  works[4].resolve()
  await last
  await queue.whenIdle()
  assert.equal(queue.isFree, true)
})

test('what fails does not keep back what comes after it', async () => {
  const queue = new BarrierQueue()
  const thrown = queue.barrier(() => {
    throw new Error('thrown')
  })
  const rejected = queue.run(() => Promise.reject(new Error('rejected')))
  const after = queue.barrier(() => 'after')
  await assert.rejects(thrown, { message: 'thrown' })
  await assert.rejects(rejected, { message: 'rejected' })
  assert.equal(await after, 'after')
})

test('later work waits until a promise has settled, earlier work does not', async () => {
  for (const end of ['resolve', 'reject']) {
    const queue = new BarrierQueue()
    const [earlier, held, order] = [pending(), pending(), []]
    queue.run(() => earlier.promise)
    queue.holdUntil(held.promise)
    const later = queue.run(() => order.push('later'))
    held[end](new Error('is no failure of the queue'))
    await quiet()
    assert.deepEqual(order, [])
    earlier.resolve()
    await later
    assert.deepEqual(order, ['later'])
  }
})

test('a barrier that adds to the queue as it begins is alone still', async () => {
  const add = {
    holdUntil: (queue) => queue.holdUntil(Promise.resolve()),
    run: (queue) => void queue.run(() => {}),
    barrier: (queue) => void queue.barrier(() => {}),
    track: (queue) => queue.track(Promise.resolve())
  }
  for (const [how, addTo] of Object.entries(add)) {
    const queue = new BarrierQueue()
    const [earlier, order] = [pending(), []]
    queue.run(() => earlier.promise)
    queue.barrier(async () => {
      addTo(queue)
      await quiet()
      order.push('barrier')
    })
    const later = queue.run(() => order.push('later'))
    earlier.resolve()
    await later
    assert.deepEqual(order, ['barrier', 'later'], how)
  }
})

test('after a refusal nothing begins, and what runs may end', async () => {
  const queue = new BarrierQueue()
  const running = pending()
  const first = queue.run(() => running.promise)
  const waiting = queue.barrier(() => assert.fail('begun'))
  queue.refuse(new Error('first reason'))
  queue.refuse(new Error('second reason'))
  const later = queue.run(() => assert.fail('begun'))
  running.resolve('ended')
  assert.equal(await first, 'ended')
  await assert.rejects(waiting, { message: 'first reason' })
  await assert.rejects(later, { message: 'first reason' })
  assert.equal(queue.refusal.message, 'first reason')
  await queue.whenIdle()
})

/** A store that notes groups, each of which takes a while. */
function groups(maxBytes) {
  const committed = []
  let running = 0
  const queue = new GroupedWrites({
    maxBytes,
    begin: () => [],
    async commit(group) {
      assert.equal(++running, 1, 'one at a time')
      committed.push([...group])
      await quiet()
      assert.deepEqual(committed.at(-1), group, 'nothing is added to a group that is being written')
      running--
    }
  })
  return { committed, queue, add: (name, size = 1) => queue.add(size, (group) => group.push(name)) }
}

test('calls of one turn, and those that wait, share a group', async () => {
  const { committed, add } = groups(10)
  const first = add('a')
  add('b')
  await quiet()
  add('c')
  const last = add('d')
  await first
  await last
  assert.deepEqual(committed, [
    ['a', 'b'],
    ['c', 'd']
  ])
})

test('a group has its size at most, or one write', async () => {
  const { committed, add } = groups(10)
  await Promise.all([add('a', 4), add('b', 6), add('c', 1), add('d', 100), add('e', 9), add('f', 1)])
  assert.deepEqual(committed, [['a', 'b'], ['c'], ['d'], ['e', 'f']])
})

test('barriers and holds have their places between groups', async () => {
  const { committed, queue, add } = groups(10)
  const held = pending()
  add('a')
  queue.barrier(() => committed.push('barrier'))
  add('b')
  queue.holdUntil(held.promise)
  add('c')
  await quiet()
  await quiet()
  assert.deepEqual(committed, [['a'], 'barrier', ['b']])
  held.resolve()
  await queue.whenIdle()
  assert.deepEqual(committed, [['a'], 'barrier', ['b'], ['c']])
})

test('a write that cannot be added fails alone', async () => {
  const { committed, queue, add } = groups(10)
  const bad = () => {
    throw new RangeError('bad')
  }
  assert.throws(() => queue.add(1, bad), RangeError)
  const good = add('good')
  assert.throws(() => queue.add(1, bad), RangeError)
  await good
  assert.deepEqual(committed, [['good']])
})

test('in random histories, work takes effect in the order of the calls, and barriers are alone', async () => {
  for (let seed = 1; seed <= scaled(300, 30); seed++) {
    const random = randomOf(seed)
    const queue = new BarrierQueue()
    const [begun, running] = [[], new Set()]
    const count = 20
    const results = Array.from({ length: count }, (_, i) => {
      const isBarrier = random() < 0.3
      return queue[isBarrier ? 'barrier' : 'run'](async () => {
        begun.push(i)
        for (const other of running) assert.ok(!isBarrier && !other.isBarrier, `seed ${seed}`)
        const self = { isBarrier }
        running.add(self)
        if (random() < 0.3) queue.holdUntil(Promise.resolve())
        for (let turns = Math.floor(random() * 4); turns > 0; turns--) await undefined
        running.delete(self)
        if (random() < 0.2) throw new Error('of the test')
      })
    })
    await Promise.allSettled(results)
    assert.deepEqual(begun, [...Array(count).keys()], `seed ${seed}`)
    await queue.whenIdle()
  }
})
