// Rebuilding an index during other writes: a unique index keeps refusing duplicates.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { index } from 'terrace-toolbox/index'
import { scaled } from '../../../../tests/support/form.mjs'
import { databases, isExact } from '../support/databases.js'
import { randomNumbers } from '../support/random.js'
import { inStep, refusalOf, usersOf } from './support/indexes.js'

for (const [name, open] of Object.entries(databases)) {
  const withUsers = async (t) => usersOf(await open(t), { name: 'email', on: 'email', unique: true })

  test(`${name}: a unique index refuses duplicates while it is rebuilt`, async (t) => {
    const { users, indexed } = await withUsers(t)
    const count = scaled(3000, 1500)
    await users.batch(
      Array.from({ length: count }, (_, i) => ({ type: 'put', key: `a${i}`, value: { email: `${i}` } }))
    )
    await indexed.ready

    let isDone = false
    let refused = 0
    const rebuilding = indexed.rebuild().finally(() => {
      isDone = true
    })
    for (let i = 0; !isDone; i = (i + 7) % count) {
      const error = await refusalOf(users.put(`b${i}`, { email: `${i}` }))
      assert.equal(error.code, 'TOOLBOX_UNIQUE')
      assert.equal(error.key, `a${i}`)
      refused++
      if (refused % 10 === 0) await new Promise(setImmediate)
    }
    await rebuilding
    assert.ok(refused > 10, `${refused} while it was rebuilt`)
    assert.deepEqual(await indexed.verify(), inStep(count))
  })

  test(`${name}: rebuilding removes what no record has, and adds what is missing`, async (t) => {
    const { users, indexed, db } = await withUsers(t)
    const byName = index(users, { name: 'name', on: 'name' })
    for (let i = 0; i < 1200; i++) await users.put(`${i}`, { email: `${i}`, name: 'N' })
    await Promise.all([indexed.ready, byName.ready])

    const raw = { keyEncoding: 'buffer', valueEncoding: 'buffer' }
    for (const entries of ['users.index.email', 'users.index.name']) {
      const side = db.sublevel(entries, raw)
      const stored = await side.iterator().all()
      const [[key]] = stored
      await side.batch(stored.filter((_, i) => i % 3 === 0).map(([key]) => ({ type: 'del', key })))
      await side.put(Buffer.concat([key, Buffer.from([0xff])]), Buffer.from('nobody'))
      await side.put(Buffer.from([0xff, 0xff]), Buffer.alloc(0))
    }

    for (const each of [indexed, byName]) {
      const before = await each.verify()
      assert.ok(before.missing > 300 && before.stale + before.wrong > 0)
      await each.rebuild()
      assert.deepEqual(await each.verify(), inStep(1200))
    }
  })

  test(`${name}: a writer that awaits agrees with a model, whatever is rebuilt meanwhile`, async (t) => {
    const { db, users, indexed } = await withUsers(t)
    const below = randomNumbers(11)
    const model = new Map()
    const holder = (email) => [...model].find(([, value]) => value.email === email)?.[0]
    let rebuilding = Promise.resolve()
    let rebuilds = 0
    let isRebuilding = false

    for (let step = 0; step < scaled(1500, 500); step++) {
      if (!isRebuilding && below(20) === 0) {
        isRebuilding = true
        rebuilds++
        rebuilding = indexed.rebuild().finally(() => {
          isRebuilding = false
        })
      }
      const key = `k${below(300)}`
      if (below(5) === 0) {
        await users.del(key)
        model.delete(key)
      } else {
        const value = { email: `e${below(200)}`, step }
        const owner = holder(value.email)
        if (owner === undefined || owner === key) {
          await users.put(key, value)
          model.set(key, value)
        } else {
          assert.equal((await refusalOf(users.put(key, value))).key, owner)
        }
      }
      if (below(10) === 0) await new Promise(setImmediate)
    }
    await rebuilding
    assert.ok(rebuilds > 3)
    const { missing, wrong, stale } = await indexed.verify()
    assert.deepEqual([missing, wrong], [0, 0])
    if (isExact(db)) assert.equal(stale, 0)
  })
}
