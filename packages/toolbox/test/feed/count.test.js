// Counts by group, in step with the writes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { count, feed } from 'terrace-toolbox/feed'
import { scaled } from '../../../../tests/support/form.mjs'
import { turns } from '../../../../tests/support/waiting.mjs'
import { all } from '../support/collect.js'
import { databases } from '../support/databases.js'
import { randomNumbers } from '../support/random.js'

/** The correct counts. */
async function counted(db, groupsOf) {
  const counts = new Map()
  for await (const [key, value] of db.iterator()) {
    for (const group of groupsOf(key, value)) counts.set(group, (counts.get(group) ?? 0) + 1)
  }
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1))
}

const byAge = (_key, { age }) => (age === undefined ? undefined : `${age}`)

for (const [name, open] of Object.entries(databases)) {
  test(`${name}: puts, overwrites, dels and batches`, async (t) => {
    const db = await open(t, { valueEncoding: 'json' })
    const ages = count(db, { name: 'ages', of: byAge })
    await db.put('a', { age: 1 })
    await db.put('b', { age: 1 })
    await db.put('c', {})
    assert.equal(await ages.get('1'), 2)
    await db.batch([
      { type: 'put', key: 'a', value: { age: 2 } },
      { type: 'put', key: 'a', value: { age: 3 } },
      { type: 'del', key: 'b' },
      { type: 'del', key: 'b' },
      { type: 'put', key: 'd', value: { age: 3 } }
    ])
    assert.deepEqual(await all(ages.entries()), [['3', 2]])
    assert.equal(await ages.get('1'), 0)
    await Promise.all([
      db.put('a', { age: 3 }),
      db.put('a', { age: 4 }),
      db.del('d'),
      db.put('d', { age: 4 })
    ])
    assert.deepEqual(await all(ages.entries()), [['4', 2]])
    await db.batch().put('e', { age: 4 }).del('a').write()
    await db.clear({ gt: 'd' })
    assert.deepEqual(await all(ages.entries()), [['4', 1]])
    assert.deepEqual(await ages.verify(), [])
  })

  test(`${name}: several groups of an entry, and ranges of keys`, async (t) => {
    const db = await open(t)
    const sub = db.sublevel('sub', { keyEncoding: 'buffer', valueEncoding: 'json' })
    const tags = count(sub, { name: 'tags', of: (_key, { tags }) => tags })
    const halves = count(sub, {
      name: 'halves',
      of: [
        { name: 'low', lt: Buffer.from([128]) },
        { name: 'high', gte: Buffer.from([128]) },
        { name: 'all' },
        { name: 'begins with 255', prefix: Buffer.from([255]) }
      ]
    })
    await sub.put(Buffer.from([1, 0]), { tags: ['x', 'y', 'x'] })
    await sub.put(Buffer.from([255, 255]), { tags: ['y', 'z/ä'] })
    await sub.put(Buffer.from([128]), { tags: [] })
    assert.deepEqual(await all(tags.entries()), [
      ['x', 1],
      ['y', 2],
      ['z/ä', 1]
    ])
    assert.deepEqual(await all(tags.entries({ prefix: 'z/' })), [['z/ä', 1]])
    assert.deepEqual(await all(halves.entries()), [
      ['all', 3],
      ['begins with 255', 1],
      ['high', 2],
      ['low', 1]
    ])
    assert.deepEqual([await tags.verify(), await halves.verify()], [[], []])
    assert.deepEqual(
      await sub
        .keys()
        .all()
        .then((keys) => keys.length),
      3
    )
  })

  test(`${name}: existing entries are counted while others are written`, async (t) => {
    const db = await open(t)
    const sub = db.sublevel('sub')
    const random = randomNumbers(11)
    const key = () => `key${random(4000)}`
    const value = () => 'abcdefg'[random(7)]
    await sub.batch(Array.from({ length: 6000 }, () => ({ type: 'put', key: key(), value: value() })))
    const progress = []
    const of = (_key, value) => value
    const counts = count(sub, { name: 'values', of, onProgress: (entries) => progress.push(entries) })
    let isReady = false
    const ready = counts.ready().then(() => {
      isReady = true
    })
    let writes = 0

    while (!isReady || writes < scaled(200, 40)) {
      writes++
      const write = () => (random(3) === 0 ? sub.del(key()) : sub.put(key(), value()))
      await Promise.all(Array.from({ length: 1 + random(8) }, write))
      await sub.batch(Array.from({ length: random(20) }, () => ({ type: 'put', key: key(), value: value() })))
      // In memory nothing else would get a turn.
      await turns()
    }
    await ready

    assert.deepEqual(await all(counts.entries()), await counted(sub, (_key, value) => [value]))
    assert.deepEqual(await counts.verify(), [])
    assert.ok(progress.length > 3 && progress.at(-1) > 2000)
  })

  test(`${name}: random writes, with a feed beside`, async (t) => {
    const db = await open(t)
    const changes = feed(db)
    const counts = count(db, { name: 'values', of: (key, value) => [value, key.slice(0, 2)] })
    const random = randomNumbers(5)
    const operation = () => {
      const key = `${random(80)}k`
      return random(3) === 0 ? { type: 'del', key } : { type: 'put', key, value: `v${random(9)}` }
    }
    const write = () => {
      const kind = random(12)
      if (kind === 0) return db.clear({ gte: '5', limit: random(9) })
      if (kind < 3) return db.batch(Array.from({ length: 1 + random(90) }, operation))
      const { type, key, value } = operation()
      return type === 'put' ? db.put(key, value) : db.del(key)
    }
    for (let round = 0; round < scaled(30, 12); round++)
      await Promise.all(Array.from({ length: 1 + random(20) }, write))

    const own = new Map()
    for await (const { type, key, value } of changes.read()) {
      if (type === 'put') own.set(key, value)
      else own.delete(key)
    }
    const expected = new Map()
    for (const [key, value] of own) {
      for (const group of new Set([value, key.slice(0, 2)]))
        expected.set(group, (expected.get(group) ?? 0) + 1)
    }
    assert.deepEqual(new Map(await all(counts.entries())), expected)
    assert.deepEqual(await counts.verify(), [])
  })

  test(`${name}: numbers stay after closing; another version counts again; an interrupted build resumes`, async (t) => {
    const db = await open(t)
    await db.batch(Array.from({ length: 3000 }, (_, i) => ({ type: 'put', key: `${i}`, value: `${i % 3}` })))
    const build = (version, onProgress) =>
      count(db, { name: 'values', of: (_key, value) => `${version}${value}`, version, onProgress })
    let closing
    const first = build('a', () => {
      closing ??= db.close()
    })
    await assert.rejects(first.ready(), { code: 'FEED_CLOSED' })
    await closing
    await db.open()
    assert.equal(await first.get('a0'), 1000)
    await first.close()
    await assert.rejects(first.get('a0'), { code: 'FEED_CLOSED' })

    let steps = 0
    const again = build('a', () => steps++)
    assert.equal(await again.get('a1'), 1000)
    assert.equal(steps, 0)
    await again.close()

    const other = build('b')
    await db.del('0')
    assert.deepEqual(await all(other.entries()), [
      ['b0', 999],
      ['b1', 1000],
      ['b2', 1000]
    ])
    assert.deepEqual(await other.verify(), [])
  })

  test(`${name}: verify finds what was written without the count, rebuild repairs it`, async (t) => {
    const db = await open(t)
    const sub = db.sublevel('sub')
    const of = (_key, value) => value
    const counts = count(sub, { name: 'values', of })
    await sub.put('1', 'a')
    await sub.put('2', 'b')
    await counts.ready()
    await counts.close()
    await sub.put('3', 'c')
    await sub.del('1')
    const again = count(sub, { name: 'values', of })
    assert.deepEqual(await again.verify(), [
      { group: 'a', stored: 1, counted: 0 },
      { group: 'c', stored: 0, counted: 1 }
    ])
    await Promise.all([again.rebuild(), sub.put('4', 'd'), sub.put('2', 'e')])
    assert.deepEqual(await again.verify(), [])
    assert.deepEqual(
      (await all(again.entries())).map(([group]) => group),
      ['c', 'd', 'e']
    )
  })

  test(`${name}: a write whose group is none is refused, and changes nothing`, async (t) => {
    const db = await open(t)
    const counts = count(db, {
      name: 'values',
      of: (_key, value) => {
        if (value === 'bad') throw new Error('cannot say')
        return value === 'number' ? 1 : value
      }
    })
    await counts.ready()
    for (const value of ['bad', 'number']) {
      const batch = ['good', value].map((value) => ({ type: 'put', key: value, value }))
      await assert.rejects(db.batch(batch), ({ code, cause }) => {
        assert.equal(code, 'LEVEL_HOOK_ERROR')
        assert.equal(cause.code, 'COUNT_GROUP_INVALID')
        return true
      })
    }
    assert.deepEqual(await all(counts.entries()), [])
    assert.equal(await db.get('good'), undefined)
    await db.put('x', 'fine')
    assert.deepEqual(await all(counts.entries()), [['fine', 1]])
  })
}

test('existing entries whose group is none end the building with an error', async (t) => {
  const db = await databases.terrace(t)
  await db.put('a', 'bad')
  let isBad = true
  const counts = count(db, { name: 'values', of: () => (isBad ? 7 : 'good') })
  await assert.rejects(counts.ready(), ({ code, cause }) => {
    assert.equal(code, 'COUNT_BUILD_FAILED')
    assert.equal(cause.code, 'COUNT_GROUP_INVALID')
    return true
  })
  isBad = false
  assert.equal(await counts.get('good'), 1)
})

test('options of a count that cannot be are refused', async (t) => {
  const db = await databases['memory-level'](t)
  const invalid = { code: 'FEED_INVALID_OPTION' }
  assert.throws(() => count(db, { of: () => '' }), invalid)
  assert.throws(() => count(db, { name: 'a' }), invalid)
  assert.throws(() => count(db, { name: 'a', of: [{ gt: 'a' }] }), invalid)
  assert.throws(() => count(db, { name: 'a', of: [{ name: 'x' }, { name: 'x', gt: 'a' }] }), invalid)
  assert.throws(() => count(db, { name: 'a', of: () => '', version: 1 }), invalid)
  count(db, { name: 'a', of: () => '' })
  assert.throws(() => count(db, { name: 'a', of: () => '' }), { code: 'FEED_IN_USE' })
})
