// Random histories on MemoryLevel beside a sorted array, with snapshots and iterators that are read much later.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryLevel } from 'terrace'
import { isShort } from '../../../../tests/support/form.mjs'
import { randomOf } from '../../../core/test/support/random.js'

const STEPS = isShort ? 2000 : 4000
const seed = Number(process.env.TERRACE_SEED ?? Date.now() % 1_000_000_000)

const encoded = new Map()

/** The bytes of a key, which are made once: a model is sorted thousands of times. */
function bytesOf(key) {
  if (!encoded.has(key)) encoded.set(key, Buffer.from(key))
  return encoded.get(key)
}

const order = (a, b) => Buffer.compare(bytesOf(a), bytesOf(b))
const sorted = (model) => [...model].sort(([a], [b]) => order(a, b))

/** The entries of a model in a range, as an iterator would yield them. */
function within(model, { gte, lt, reverse, limit }) {
  const entries = sorted(model).filter(
    ([key]) => (gte === undefined || order(key, gte) >= 0) && (lt === undefined || order(key, lt) < 0)
  )
  if (reverse) entries.reverse()
  return limit === undefined ? entries : entries.slice(0, limit)
}

test(`histories at random beside a model (TERRACE_SEED=${seed})`, async () => {
  const random = randomOf(seed)
  const below = (n) => Math.floor(random() * n)
  const newKey = () => ['', 'a', 'é', '😀', '\uffff'][below(5)] + 'k'.repeat(below(3)) + below(400)
  const newValue = () =>
    String.fromCharCode(97 + below(26)).repeat([below(10), below(200), below(6000)][below(3)])
  const newRange = () => ({
    ...(random() < 0.7 && { gte: newKey() }),
    ...(random() < 0.7 && { lt: newKey() }),
    reverse: random() < 0.5,
    ...(random() < 0.5 && { limit: below(60) })
  })

  const db = new MemoryLevel()
  await db.open()
  const model = new Map()
  const held = []
  let checks = 0

  const change = ({ type, key, value }) => (type === 'put' ? model.set(key, value) : model.delete(key))
  const newOperation = () =>
    random() < 0.7 ? { type: 'put', key: newKey(), value: newValue() } : { type: 'del', key: newKey() }

  const steps = {
    async put() {
      const [key, value] = [newKey(), newValue()]
      random() < 0.5 ? await db.put(key, value) : db.putSync(key, value)
      model.set(key, value)
    },
    async del() {
      const key = newKey()
      random() < 0.5 ? await db.del(key) : db.delSync(key)
      model.delete(key)
    },
    async batch() {
      const operations = Array.from({ length: below(30) }, newOperation)
      random() < 0.5 ? await db.batch(operations) : db.batchSync(operations)
      operations.forEach(change)
    },
    async clear() {
      const range = newRange()
      await db.clear(range)
      for (const [key] of within(model, range)) model.delete(key)
    },
    async get() {
      const keys = Array.from({ length: 5 }, newKey)
      const expected = keys.map((key) => model.get(key))
      assert.deepEqual(await db.getMany(keys), expected)
      assert.deepEqual(await Promise.all(keys.map((key) => db.get(key))), expected)
      assert.deepEqual(
        keys.map((key) => db.getSync(key)),
        expected
      )
      assert.deepEqual(
        await db.hasMany(keys),
        expected.map((value) => value !== undefined)
      )
    },
    async range() {
      const range = newRange()
      assert.deepEqual(await db.iterator(range).all(), within(model, range))
      assert.deepEqual([...db.iterateSync(range)], within(model, range))
    },
    async seek() {
      const [range, target] = [{ ...newRange(), limit: undefined }, newKey()]
      const expected = within(model, range).filter(([key]) =>
        range.reverse ? order(key, target) <= 0 : order(key, target) >= 0
      )
      const isInside =
        (range.gte === undefined || order(target, range.gte) >= 0) &&
        (range.lt === undefined || order(target, range.lt) < 0)
      const iterator = db.iterator({ ...range, limit: Infinity })
      iterator.seek(target)
      assert.deepEqual(await iterator.all(), isInside ? expected : [])
    },
    async hold() {
      const range = newRange()
      held.push({ range, state: new Map(model), snapshot: db.snapshot(), iterator: db.iterator(range) })
    },
    async release() {
      if (held.length === 0) return
      const [{ range, state, snapshot, iterator }] = held.splice(below(held.length), 1)
      assert.deepEqual(await iterator.all(), within(state, range))
      assert.deepEqual(await db.iterator({ ...range, snapshot }).all(), within(state, range))
      const key = newKey()
      assert.equal(await db.get(key, { snapshot }), state.get(key))
      if (random() < 0.2) {
        await db.clear({ ...range, snapshot })
        for (const [key] of within(state, range)) model.delete(key)
      }
      await snapshot.close()
      checks++
    }
  }
  const often = ['put', 'put', 'put', 'batch', 'batch', ...Object.keys(steps)]

  for (let i = 0; i < STEPS; i++) await steps[often[below(often.length)]]()
  assert.deepEqual(await db.iterator().all(), sorted(model))
  assert.ok(checks > STEPS / 40)
})
