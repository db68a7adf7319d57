// How changes are read: live, resumed, by many, slowly, and until the end.

import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { feed } from 'terrace-toolbox/feed'
import { scaled } from '../../../../tests/support/form.mjs'
import { turns } from '../../../../tests/support/waiting.mjs'
import { all } from '../support/collect.js'
import { databases } from '../support/databases.js'
import { randomNumbers } from '../support/random.js'
import { next } from './support.js'

/** Some of the changes are stored before they are read: more than a reader takes at a time. */
const STORED = scaled(600, 300)
const CHANGES = scaled(1500, 600)

/** How many batches are written, some of them larger than what a reader takes at a time. */
const BATCHES = scaled(150, 50)

const numbers = (from, to) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

for (const [name, open] of Object.entries(databases)) {
  test(`${name}: stored changes, then new ones, without gaps or duplicates`, async (t) => {
    const db = await open(t)
    const changes = feed(db)
    const write = async (from, to) => {
      for (let i = from; i <= to; i += 3) {
        await Promise.all(numbers(i, i + 2).map((number) => db.put(`key${number % 50}`, `${number}`)))
      }
    }
    await write(1, STORED)
    const writing = write(STORED + 1, CHANGES)
    const read = []

    for await (const { sequence, value } of changes.read({ after: 0, live: true })) {
      read.push([sequence, value])
      if (sequence === CHANGES) break
    }
    await writing
    assert.deepEqual(
      read,
      numbers(1, CHANGES).map((number) => [number, `${number}`])
    )
  })

  test(`${name}: a batch never comes in parts`, async (t) => {
    const db = await open(t)
    const changes = feed(db)
    const random = randomNumbers(3)
    let writes = 0
    const write = async () => {
      while (writes < BATCHES) {
        const number = ++writes
        const size = 1 + random(number % 10 === 0 ? 700 : 5)
        await db.batch(
          Array.from({ length: size }, (_, i) => ({ type: 'put', key: `${number}/${i}`, value: `${size}` }))
        )
      }
    }
    const writing = Promise.all([write(), write(), write()])
    let batch = []

    for await (const change of changes.read({ live: true })) {
      assert.equal(change.first, batch.length === 0)
      assert.equal(change.batch, (batch[0] ?? change).sequence)
      batch.push(change)
      if (!change.last) continue
      assert.equal(batch.length, Number(change.value))
      batch = []
      if (writes === BATCHES && change.sequence === (await changes.lastSequence())) break
    }
    await writing
  })

  test(`${name}: a live reader waits, and gets puts, dels, batches, chained batches and clear`, async (t) => {
    const db = await open(t)
    const sub = db.sublevel('sub')
    const changes = feed(sub)
    const reader = changes.read({ live: true })
    const writes = [
      () => sub.put('a', '1'),
      () => sub.batch([{ type: 'put', key: 'b', value: '2' }]),
      () => sub.batch().put('c', '3').write(),
      () => sub.del('a'),
      () => sub.clear({ gte: 'c' })
    ]
    const found = []
    for (const write of writes) {
      const waiting = reader.next()
      await turns(5)
      await write()
      const { value } = await waiting
      found.push([value.type, value.key])
    }
    await reader.return()
    assert.deepEqual(found, [
      ['put', 'a'],
      ['put', 'b'],
      ['put', 'c'],
      ['del', 'a'],
      ['del', 'c']
    ])
  })

  test(`${name}: a reader resumes where another stopped, also after the database was reopened`, async (t) => {
    const db = await open(t)
    const changes = feed(db)
    for (const number of numbers(1, 10)) await db.put(`${number}`, '')
    const first = await all(changes.read({ limit: 4 }))
    assert.equal(first.length, 4)
    assert.deepEqual(
      (await all(changes.read({ after: first[3].sequence, limit: 2 }))).map(({ key }) => key),
      ['5', '6']
    )
    await db.close()
    await db.open()
    assert.deepEqual(
      (await all(changes.read({ after: 6 }))).map(({ key }) => key),
      ['7', '8', '9', '10']
    )
    assert.deepEqual(await all(changes.read({ after: 10 })), [])
    assert.deepEqual(await all(changes.read({ limit: 0 })), [])
    await assert.rejects(all(changes.read({ after: 11 })), { code: 'FEED_AHEAD' })
  })

  test(`${name}: many readers, each at its own pace, and a limit for a live one`, async (t) => {
    const db = await open(t)
    const changes = feed(db)
    const readers = numbers(1, 25).map(async (reader) => {
      const read = []
      for await (const { sequence } of changes.read({ live: true, limit: 200 })) {
        read.push(sequence)
        if (sequence % (reader + 5) === 0) await turns(2)
      }
      return read
    })
    for (const number of numbers(1, 200)) await db.put(`${number}`, '')
    for (const read of await Promise.all(readers)) assert.deepEqual(read, numbers(1, 200))
    assert.equal(db.listenerCount('write'), 0)
  })

  test(`${name}: closing the database ends live readers, and refuses others`, async (t) => {
    const db = await open(t)
    const changes = feed(db)
    await db.batch(numbers(1, 600).map((number) => ({ type: 'put', key: `${number}`, value: '' })))
    const waiting = all(changes.read({ after: 600, live: true }))
    const stored = changes.read()
    await next(stored)
    await turns(5)
    await db.close()
    assert.deepEqual(await waiting, [])
    await assert.rejects(all(stored), { code: 'FEED_CLOSED' })
    await assert.rejects(all(changes.read()), { code: 'LEVEL_DATABASE_NOT_OPEN' })

    await db.open()
    const again = changes.read({ after: 600, live: true })
    const change = next(again)
    await db.put('new', '')
    assert.equal((await change).key, 'new')
    const last = next(again)
    await changes.close()
    assert.equal(await last, undefined)
  })

  test(`${name}: a signal ends a reader with an error, return without one`, async (t) => {
    const db = await open(t)
    const changes = feed(db)
    const controller = new AbortController()
    const { signal } = controller
    const reader = changes.read({ live: true, signal })
    const waiting = reader.next()
    await turns(5)
    controller.abort(new Error('enough'))
    await assert.rejects(waiting, (error) => {
      assert.equal(error.code, 'FEED_ABORTED')
      assert.equal(error.name, 'AbortError')
      assert.equal(error.cause.message, 'enough')
      return true
    })
    assert.deepEqual(await reader.next(), { done: true, value: undefined })
    await assert.rejects(next(changes.read({ signal })), { code: 'FEED_ABORTED' })
    assert.equal(getEventListeners(signal, 'abort').length, 0)

    const other = changes.read({ live: true })
    const pending = other.next()
    await turns(5)
    await other.return()
    assert.equal((await pending).done, true)
  })

  test(`${name}: a write that was under way when the reader came is not missed`, async (t) => {
    const db = await open(t)
    const changes = feed(db)
    for (const number of numbers(1, 30)) {
      const writing = db.put(`${number}`, 'x'.repeat(1000))
      const reader = changes.read({ after: number - 1, live: true })
      assert.equal((await next(reader)).key, `${number}`)
      await reader.return()
      await writing
    }
  })
}
