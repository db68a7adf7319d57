// Keys and values as any back-end stores them: their order, their limits, and ranges of them, beside a model.
//
// `TERRACE_SEED` sets the seed.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { randomOf } from '../../../packages/core/test/support/random.js'

const seed = Number(process.env.TERRACE_SEED ?? Date.now() % 1_000_000_000)
const buffers = { keyEncoding: 'buffer', valueEncoding: 'buffer' }

/**
 * Registers the tests of keys.
 *
 * @param {object} tested
 * @param {(name: string, run: (t: any) => Promise<void>) => void} tested.test
 * @param {(t: any, options?: object) => Promise<any>} tested.openLevel
 * @param {number} tested.longestBytes - How long a key can be.
 * @param {boolean} [tested.isSync] - Whether the database reads within calls.
 * @param {{ rounds: number, writes: number, ranges: number }} tested.histories - In each round, entries are written and deleted, and
 * ranges compared.
 * @param {(db: any, round: number) => Promise<void>} [tested.between] - What happens between the writes and the reads of a round.
 */
export function testKeys({ test, openLevel, longestBytes, isSync = false, histories, between }) {
  test(`ranges, directions, limits and seeks are those of the bytes (TERRACE_SEED=${seed})`, async (t) => {
    const random = randomOf(seed)
    const db = await openLevel(t, buffers)
    const model = new Map()
    let found = 0
    for (let round = 0; round < histories.rounds; round++) {
      const operations = operationsOf(random, histories.writes, longestBytes, model)
      await db.batch(operations)
      await between?.(db, round)
      const entries = Array.from(model, ([key, value]) => [Buffer.from(key, 'latin1'), value])
      entries.sort(([a], [b]) => a.compare(b))
      for (let i = 0; i < histories.ranges; i++)
        found += await compareRange(db, entries, () => randomKey(random, longestBytes), random, isSync)

      const keys = Array.from({ length: 20 }, () => randomKey(random, longestBytes))
      const values = keys.map((key) => model.get(key.latin1Slice()))
      assert.deepEqual(await db.getMany(keys), values)
    }
    assert.ok(found > histories.ranges)
  })

  test('gte wins over gt, and lte over lt', async (t) => {
    const db = await openLevel(t)
    await db.batch(['a', 'b', 'c', 'd'].map((key) => ({ type: 'put', key, value: '' })))
    assert.deepEqual(await db.keys({ gte: 'b', gt: 'c' }).all(), ['b', 'c', 'd'])
    assert.deepEqual(await db.keys({ lte: 'c', lt: 'b' }).all(), ['a', 'b', 'c'])
    await db.clear({ gte: 'b', gt: 'c', lte: 'c', lt: 'b' })
    assert.deepEqual(await db.keys().all(), ['a', 'd'])
  })

  test('an empty key and an empty value are stored', async (t) => {
    const db = await openLevel(t, buffers)
    const empty = Buffer.alloc(0)
    await db.put(empty, empty)
    assert.deepEqual(await db.get(empty), empty)
    assert.equal(await db.has(empty), true)
    assert.deepEqual(await db.iterator().all(), [[empty, empty]])
    await db.put(Buffer.from([0]), Buffer.from('after'))
    await between?.(db, 0)
    assert.deepEqual(await db.get(empty), empty)
    assert.deepEqual(await db.keys({ reverse: true }).all(), [Buffer.from([0]), empty])
    assert.deepEqual(await db.keys({ gt: empty }).all(), [Buffer.from([0])])
    await db.del(empty)
    assert.equal(await db.get(empty), undefined)
  })

  test('the longest key is stored, and a longer one refused with everything beside it', async (t) => {
    const db = await openLevel(t, buffers)
    const longest = Buffer.alloc(longestBytes, 0xff)
    const tooLong = Buffer.alloc(longestBytes + 1, 0xff)
    const value = Buffer.from('value')
    await db.put(longest, value)
    assert.deepEqual(await db.get(longest), value)
    const state = await db.iterator().all()

    const beside = { type: 'put', key: Buffer.from('beside'), value }
    const calls = [
      () => db.put(tooLong, value),
      () => db.del(tooLong),
      () => db.batch([beside, { type: 'put', key: tooLong, value }]),
      () => db.batch([beside, { type: 'del', key: tooLong }]),
      () => db.batch().put(beside.key, value).put(tooLong, value).write(),
      () => db.sublevel('names-count').put('x'.repeat(longestBytes - 5), '')
    ]
    const refused = { code: 'LEVEL_KEY_TOO_LARGE', message: new RegExp(`${longestBytes}`) }
    for (const call of calls) await assert.rejects(call, refused)
    // Text is measured in bytes.
    const half = Math.floor(longestBytes / 2)
    await assert.rejects(db.put('é'.repeat(half + 1), value, { keyEncoding: 'utf8' }), refused)
    await db.put('é'.repeat(half), value, { keyEncoding: 'utf8' })
    await db.del('é'.repeat(half), { keyEncoding: 'utf8' })

    assert.deepEqual(await db.iterator().all(), state)
    assert.equal(await db.get(tooLong), undefined)
    assert.equal(await db.has(tooLong), false)
    assert.deepEqual(await db.getMany([tooLong, longest]), [undefined, value])
    assert.deepEqual(await db.hasMany([tooLong, longest]), [false, true])
    assert.deepEqual(await db.keys({ lte: tooLong }).all(), [longest])
    assert.deepEqual(await db.keys({ gte: tooLong }).all(), [])
    assert.deepEqual(await db.keys({ reverse: true, lt: tooLong }).all(), [longest])
  })

  test('the caller may change its buffers after the call', async (t) => {
    const db = await openLevel(t, buffers)
    const key = Buffer.from('key')
    const value = Buffer.alloc(5000, 1)
    const writes = [
      db.put(key, value),
      db.batch([
        { type: 'put', key, value },
        { type: 'put', key: value.subarray(0, 10), value: key }
      ])
    ]
    key.fill(0x78)
    value.fill(2)
    await Promise.all(writes)
    assert.deepEqual(await db.iterator().all(), [
      [Buffer.alloc(10, 1), Buffer.from('key')],
      [Buffer.from('key'), Buffer.alloc(5000, 1)]
    ])
  })

  test('keys that are not UTF-8 do not stop a walk that reads text', async (t) => {
    const db = await openLevel(t)
    const keys = Array.from({ length: 200 }, (_, i) => Buffer.from([0x80 + (i >> 4), 0xf0 + (i & 15)]))
    await db.batch(keys.map((key) => ({ type: 'put', key, value: '', keyEncoding: 'buffer' })))
    for (const reverse of [false, true]) {
      assert.equal((await db.keys({ reverse }).all()).length, 200)
      let count = 0
      for await (const _ of db.keys({ reverse, highWaterMarkBytes: 1 })) count++
      assert.equal(count, 200)
    }
  })

  test('the last operation on a key wins, in a batch of any order', async (t) => {
    const db = await openLevel(t)
    const operations = Array.from({ length: 2000 }, (_, i) => {
      const key = `k${(i * 7919) % 500}`
      return i % 3 === 0 ? { type: 'del', key } : { type: 'put', key, value: `${i}` }
    })
    await db.put('k0', 'before')
    await db.batch(operations)
    const model = new Map()
    for (const { type, key, value } of operations) type === 'put' ? model.set(key, value) : model.delete(key)
    const expected = [...model].sort(([a], [b]) => (a < b ? -1 : 1))
    assert.deepEqual(await db.iterator().all(), expected)
  })
}

/**
 * Registers the test that values of these sizes, in bytes, are read back unchanged. The first of them is written again with the last
 * size.
 *
 * @param {object} tested - See {@link testKeys}.
 * @param {number[]} tested.sizes
 */
export function testValues({ test, openLevel, isSync = false, sizes }) {
  test('values of any size come back, and belong to the caller', async (t) => {
    const db = await openLevel(t, buffers)
    const values = sizes.map((size) => randomBytes(size))
    const keys = values.map((_, i) => Buffer.from(`${i}`))
    for (const [i, value] of values.entries()) await db.put(keys[i], value)
    const many = await db.getMany(keys)
    const single = await Promise.all(keys.map((key) => (isSync ? db.getSync(key) : db.get(key))))
    const all = await db.values().all()
    for (const found of [many, single, all]) {
      for (const [i, value] of values.entries()) assert.ok(value.equals(found[i]), `value ${i}`)
    }

    for (const key of keys) await db.put(key, Buffer.from('other'))
    await db.put(keys[0], randomBytes(sizes.at(-1)))
    for (const [i, value] of values.entries()) assert.ok(value.equals(many[i]) && value.equals(all[i]))
  })
}

/** Random keys of which many share a beginning: empty ones, ones of zeros, long ones, ones that are not UTF-8. */
function randomKey(random, longestBytes) {
  const alphabet = [0, 1, 2, 0x61, 0x7f, 0x80, 0xfe, 0xff]
  const length = random() < 0.05 ? longestBytes + Math.floor(random() * 5) - 2 : Math.floor(random() * 6)
  const key = Buffer.alloc(length, 0x61)
  for (let i = Math.max(0, length - 5); i < length; i++) key[i] = alphabet[Math.floor(random() * 8)]
  return key
}

/** Puts of random keys and deletions of keys that are there, of which `model` takes note. */
function operationsOf(random, count, longestBytes, model) {
  const operations = []
  for (let i = 0; i < count; i++) {
    const there = [...model.keys()]
    if (there.length > 0 && random() < 0.2) {
      const key = there[Math.floor(random() * there.length)]
      model.delete(key)
      operations.push({ type: 'del', key: Buffer.from(key, 'latin1') })
      continue
    }
    const key = randomKey(random, longestBytes)
    if (key.length > longestBytes) continue
    const value = Buffer.from(`${i}`)
    model.set(key.latin1Slice(), value)
    operations.push({ type: 'put', key, value })
  }
  return operations
}

function isWithin(key, { gte, gt, lte, lt }) {
  if (gte ? key.compare(gte) < 0 : gt && key.compare(gt) <= 0) return false
  return !(lte ? key.compare(lte) > 0 : lt && key.compare(lt) >= 0)
}

/** Compares a random range, or what a seek finds in it. Returns how many entries it has. */
async function compareRange(db, entries, nextKey, random, isSync) {
  const range = { reverse: random() < 0.5 }
  for (const bound of ['gte', 'gt', 'lte', 'lt']) if (random() < 0.4) range[bound] = nextKey()
  const expected = entries.filter(([key]) => isWithin(key, range))
  if (range.reverse) expected.reverse()

  const iterator = db.iterator(range)
  if (random() < 0.3) {
    await iterator.nextv(1 + Math.floor(random() * 5))
    const target = nextKey()
    iterator.seek(target)
    const isReached = ([key]) => (range.reverse ? key.compare(target) <= 0 : key.compare(target) >= 0)
    const rest = isWithin(target, range) ? expected.filter(isReached) : []
    assert.deepEqual(await iterator.all(), rest)
    return rest.length
  }

  const limit = random() < 0.3 ? Math.floor(random() * 20) : -1
  const wanted = limit < 0 ? expected : expected.slice(0, limit)
  assert.deepEqual(await db.iterator({ ...range, limit }).all(), wanted)
  if (isSync) assert.deepEqual([...db.iterateSync({ ...range, limit })], wanted)
  const keys = wanted.map(([key]) => key)
  assert.deepEqual(await db.keys({ ...range, limit }).all(), keys)
  await iterator.close()
  return wanted.length
}
