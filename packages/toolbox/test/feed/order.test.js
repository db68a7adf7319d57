// The order of changes is the order in which writes take effect.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { feed } from 'terrace-toolbox/feed'
import { scaled } from '../../../../tests/support/form.mjs'
import { all } from '../support/collect.js'
import { databases, isExact, writesAtOnce } from '../support/databases.js'
import { randomNumbers } from '../support/random.js'
import { replayed } from './support.js'

/** Whether hooks see every write to their keys, however it is made. The guide promises that for Terrace only. */

for (const [name, open] of Object.entries(databases)) {
  test(`${name}: what random writes make, replaying the feed makes`, async (t) => {
    const db = await open(t)
    const sub = db.sublevel('data')
    await sub.open()
    const changes = feed(sub, { oldValues: true })
    const random = randomNumbers(7)
    const operation = () => {
      const key = `key${random(60)}`
      return random(3) === 0 ? { type: 'del', key } : { type: 'put', key, value: `value${random(1e6)}` }
    }
    const write = () => {
      const kind = random(20)
      if (kind === 0) return sub.clear({ gte: `key${random(60)}`, limit: random(5) })
      if (kind < 4) return sub.batch(Array.from({ length: 1 + random(300) }, operation))
      if (kind < 6) {
        const chained = sub.batch()
        for (let i = random(9); i >= 0; i--) chained.put(operation().key, 'chained')
        return chained.write()
      }
      const { type, key, value } = operation()
      const options = { sync: random(10) === 0 }
      return type === 'put' ? sub.put(key, value, options) : sub.del(key, options)
    }

    for (let round = 0; round < scaled(40); round++) {
      // Not awaited one by one: they must come in the order in which they were called.
      await Promise.all(Array.from({ length: 1 + random(25) }, write))
    }

    assert.deepEqual(await replayed(changes), await sub.iterator().all())
    const state = new Map()
    for await (const { type, key, value, oldValue } of changes.read()) {
      assert.equal(oldValue, state.get(key))
      if (type === 'put') state.set(key, value)
      else state.delete(key)
    }
  })

  test(`${name}: the position of a chained batch is that of its write, not of its operations`, async (t) => {
    const db = await open(t)
    const changes = feed(db, { oldValues: true })
    const first = db.batch().put('a', 'first')
    const second = db.batch().put('a', 'second').put('b', '')
    await db.put('a', 'third')
    first.put('a', 'fourth')
    await second.write()
    await db.batch().put('never', 'written').close()
    await db.batch().put('never', 'written').clear().put('c', '').write()
    await first.write()

    const found = await all(changes.read())
    assert.deepEqual(
      found.map(({ value, oldValue, first, last }) => [value, oldValue, first, last]),
      [
        ['third', undefined, true, true],
        ['second', 'third', true, false],
        ['', undefined, false, true],
        ['', undefined, true, true],
        ['first', 'second', true, false],
        ['fourth', 'first', false, true]
      ]
    )
    assert.deepEqual(await replayed(changes), await db.iterator({ gte: 'a' }).all())
  })

  test(`${name}: writes that reach a sublevel in other ways are seen if the database shows them`, async (t) => {
    const db = await open(t)
    const sub = db.sublevel('sub')
    const other = db.sublevel('sub')
    await Promise.all([sub.open(), other.open()])
    const changes = feed(sub)
    await sub.put('by the object', '')
    await other.put('by another object', '')
    await db.batch([{ type: 'put', sublevel: sub, key: 'by the root', value: '' }])
    await db.clear({ gte: '!sub!by another', lt: '!sub!by b' })
    if (isExact(db)) await (writesAtOnce(db) ? sub.putSync('at once', '') : sub.put('at once', ''))

    const found = (await all(changes.read())).map(({ type, key }) => [type, key])
    assert.deepEqual(
      found,
      isExact(db)
        ? [
            ['put', 'by the object'],
            ['put', 'by another object'],
            ['put', 'by the root'],
            ['del', 'by another object'],
            ['put', 'at once']
          ]
        : [['put', 'by the object']]
    )
  })
}
