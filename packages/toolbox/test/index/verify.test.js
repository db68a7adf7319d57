import assert from 'node:assert/strict'
import { test } from 'node:test'
import { index } from 'terrace-toolbox/index'
import { all } from '../support/collect.js'
import { databases } from '../support/databases.js'
import { inStep } from './support/indexes.js'

for (const [name, open] of Object.entries(databases)) {
  /** Users with an index, and the sublevel of its entries, in order to damage them. */
  const withUsers = async (t, unique) => {
    const db = await open(t)
    const users = db.sublevel('users', { valueEncoding: 'json' })
    const byName = index(users, { name: 'name', on: 'name', unique })
    await byName.ready
    for (const key of 'abcd') await users.put(key, { name: `name ${key}` })
    const entries = db.sublevel('users.index.name', { keyEncoding: 'buffer', valueEncoding: 'buffer' })
    // Writes of another program, without the index.
    const writeDirectly = (operations) =>
      db.batch(
        operations.map(({ key, ...rest }) => ({ ...rest, key: `!users!${key}`, valueEncoding: 'json' }))
      )
    return { users, byName, entries, writeDirectly }
  }

  for (const unique of [false, true]) {
    test(`${name}: counts and mends what is missing, stale and wrong, unique: ${unique}`, async (t) => {
      const { users, byName, entries, writeDirectly } = await withUsers(t, unique)
      assert.deepEqual(await byName.verify(), inStep(4))

      const [[first]] = await entries.iterator().all()
      await entries.del(first)
      assert.deepEqual(await byName.verify(), { ...inStep(4, 3), missing: 1 })

      await writeDirectly([
        { type: 'del', key: 'b' },
        { type: 'put', key: 'c', value: { name: 'other' } }
      ])
      assert.deepEqual(await byName.verify(), { ...inStep(3), missing: 2, stale: 2 })
      assert.deepEqual(await all(byName.values()), [{ name: 'name d' }])

      await entries.put(Buffer.from('no entry'), Buffer.from(''))
      assert.deepEqual(await byName.verify(), { ...inStep(3, 4), missing: 2, stale: 2, wrong: 1 })
      assert.deepEqual(await all(byName.values()), [{ name: 'name d' }])

      await byName.rebuild()
      assert.deepEqual(await byName.verify(), inStep(3))
      assert.deepEqual(await all(byName.keys()), ['a', 'd', 'c'])
      assert.equal((await all(users.keys())).length, 3)
    })
  }

  test(`${name}: a unique value of two records counts as wrong, and so does a refused record`, async (t) => {
    const { byName, writeDirectly } = await withUsers(t, true)
    await writeDirectly([
      { type: 'put', key: 'x', value: { name: 'name a' } },
      { type: 'put', key: 'y', value: { name: {} } }
    ])
    assert.deepEqual(await byName.verify(), { ...inStep(6, 4), wrong: 2 })
  })

  test(`${name}: a query while it is rebuilt waits; one that has begun goes on`, async (t) => {
    const { users, byName } = await withUsers(t, false)
    const begun = byName.keys({ pageSize: 1 })
    assert.deepEqual(await begun.next(), { done: false, value: 'a' })
    const rebuilds = [byName.rebuild(), byName.rebuild()]
    assert.deepEqual(await all(byName.keys()), ['a', 'b', 'c', 'd'])
    await Promise.all(rebuilds)
    assert.deepEqual(await all(begun), ['b', 'c', 'd'])
    await users.put('e', { name: '' })
    assert.deepEqual(await byName.verify(), inStep(5))
  })

  test(`${name}: drop leaves nothing behind, and the name free`, async (t) => {
    const { users, byName } = await withUsers(t, true)
    const waiting = byName.rebuild()
    await Promise.all([byName.drop(), assert.rejects(waiting, { code: 'TOOLBOX_INDEX_DROPPED' })])
    await users.put('e', { name: 'name a' })
    const keys = await users.db.keys().all()
    assert.deepEqual(
      keys.filter((key) => !key.startsWith('!users!')),
      []
    )
    await assert.rejects(byName.get('name a'), { code: 'TOOLBOX_INDEX_DROPPED' })
    await assert.rejects(all(byName.keys()), { code: 'TOOLBOX_INDEX_DROPPED' })
    await assert.rejects(byName.verify(), { code: 'TOOLBOX_INDEX_DROPPED' })
    await assert.rejects(byName.rebuild(), { code: 'TOOLBOX_INDEX_DROPPED' })
    await assert.rejects(byName.drop(), { code: 'TOOLBOX_INDEX_DROPPED' })
    await assert.rejects(byName.ready, { code: 'TOOLBOX_INDEX_DROPPED' })
    const again = index(users, { name: 'name', on: 'name' })
    assert.deepEqual(await all(again.keys({ equals: 'name a' })), ['a', 'e'])
  })
}
