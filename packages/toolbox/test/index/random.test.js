// Random operations, compared with a model: four indexes of one sublevel.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { index } from 'terrace-toolbox/index'
import { scaled } from '../../../../tests/support/form.mjs'
import { all } from '../support/collect.js'
import { databases, isExact } from '../support/databases.js'
import { randomNumbers } from '../support/random.js'
import { inStep } from './support/indexes.js'

const ROUNDS = scaled(60)
const SEED = Number(process.env.INDEX_TEST_SEED ?? 20261122)

const declarations = [
  { name: 'email', on: 'email', unique: true },
  { name: 'city', on: 'address.city' },
  { name: 'tags', on: 'tags', multiple: true },
  { name: 'compound', on: ['address.city', 'age'] }
]

function randomValue(random) {
  const value = {}
  if (random(4) > 0) value.email = `e${random(12)}`
  if (random(3) > 0) value.address = { city: [null, 'Bern', 'Basel', 'Bern\0', 'Zug'][random(5)] }
  if (random(3) > 0) value.age = random(6) - 2.5
  if (random(2) > 0)
    value.tags = Array.from({ length: random(4) }, () => [`t${random(4)}`, random(3)][random(2)])
  return value
}

function randomOperation(random) {
  const key = `k${random(25)}`
  return random(4) === 0 ? { type: 'del', key } : { type: 'put', key, value: randomValue(random) }
}

/** Applies operations in turn. Returns undefined if a value would not be unique. */
function applied(model, operations) {
  const after = new Map(model)
  for (const { type, key, value } of operations) {
    after.delete(key)
    if (type === 'del') continue
    const emails = Array.from(after.values(), ({ email }) => email)
    if (value.email !== undefined && emails.includes(value.email)) return undefined
    after.set(key, value)
  }
  return after
}

/** The indexed values of a record, by name of the index. */
function expectedValues({ email, address, age, tags }) {
  const city = address?.city
  return {
    email: email === undefined ? [] : [email],
    city: city === undefined ? [] : [city],
    tags: tags === undefined ? [] : [...new Set(tags)],
    compound: city === undefined || age === undefined ? [] : [[city, age]]
  }
}

/** The order of terrace-bytewise, as far as it is needed here: null, numbers, strings, arrays. */
function compare(a, b) {
  if (Array.isArray(a)) return compare(a[0], b[0]) || compare(a[1], b[1])
  const rank = (value) => (value === null ? 0 : typeof value === 'number' ? 1 : 2)
  return rank(a) - rank(b) || (a < b ? -1 : a > b ? 1 : 0)
}

/** The expected entries of the index. */
function expectedEntries(model, name) {
  const entries = []
  for (const [key, value] of model) {
    for (const indexed of expectedValues(value)[name]) entries.push([key, value, indexed])
  }
  return entries.sort((a, b) => compare(a[2], b[2]) || compare(a[0], b[0]))
}

async function isRefused(write) {
  try {
    await write
    return false
  } catch (error) {
    assert.equal((error.cause ?? error).code, 'TOOLBOX_UNIQUE')
    return true
  }
}

function chained(db, operations) {
  const batch = db.batch()
  try {
    for (const { type, key, value } of operations) type === 'put' ? batch.put(key, value) : batch.del(key)
  } catch (error) {
    return batch.close().then(() => Promise.reject(error))
  }
  return batch.write()
}

function written(db, operations, how) {
  const [{ type, key, value }] = operations
  if (how === 0) return chained(db, operations)
  if (how === 1 || operations.length > 1) return db.batch(operations)
  return type === 'put' ? db.put(key, value) : db.del(key)
}

for (const [name, open] of Object.entries(databases)) {
  test(`${name}: random operations, seed ${SEED}`, async (t) => {
    const random = randomNumbers(SEED)
    const db = await open(t)
    const users = db.sublevel('users', { valueEncoding: 'json' })
    for (let i = 0; i < 5; i++) await users.put(`k${i}`, { address: { city: 'Bern' } })
    let model = new Map(await users.iterator().all())
    const indexes = declarations.map((options) => index(users, options))
    await Promise.all(indexes.map(({ ready }) => ready))

    /** A write. It is refused if the model refuses it. */
    const write = () => {
      const count = random(3) === 0 ? 1 + random(8) : 1
      const operations = Array.from({ length: count }, () => randomOperation(random))
      const after = applied(model, operations)
      model = after ?? model
      return isRefused(written(users, operations, random(3))).then((refused) => {
        assert.equal(refused, after === undefined)
      })
    }

    for (let round = 0; round < ROUNDS; round++) {
      const checks = []
      for (let i = 0; i < 20; i++) {
        const check = write()
        checks.push(check)
        // Databases other than Terrace keep an index in step if each write is awaited.
        if (!isExact(db) || random(4) === 0) await check
      }
      await Promise.all(checks)

      if (random(12) === 0) {
        await db.close()
        await db.open()
        await users.open()
      }
      if (random(12) === 0) await indexes[random(4)].rebuild()
      if (random(8) === 0 && isExact(db)) {
        const range = { gte: `k${random(25)}`, lt: `k${random(25)}`, limit: random(6) + 1 }
        if (range.gte < range.lt) {
          for (const key of await users.keys(range).all()) model.delete(key)
          await users.clear(range)
        }
      }

      for (const made of indexes) {
        const expected = expectedEntries(model, made.name)
        assert.deepEqual(await all(made.entries({ pageSize: 7 })), expected)
        const { length } = expected
        const [from, to] = [expected[random(length || 1)]?.[2], expected[random(length || 1)]?.[2]]
        if (length === 0 || compare(from, to) > 0) continue
        const within = expected.filter(([, , at]) => compare(at, from) >= 0 && compare(at, to) < 0)
        assert.deepEqual(await all(made.entries({ gte: from, lt: to, reverse: true })), within.toReversed())
        assert.deepEqual(
          await all(made.keys({ equals: from })),
          expected.filter(([, , at]) => compare(at, from) === 0).map(([key]) => key)
        )
        assert.deepEqual(await made.verify(), inStep(model.size, length))
      }
    }
  })
}
