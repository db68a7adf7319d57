// datastore-level: the store of js-ipfs and libp2p, filled with blocks of bytes.

import assert from 'node:assert/strict'
import { LevelDatastore } from 'datastore-level'
import { Key } from 'interface-datastore'
import { random } from './support/random.js'
import { takeTurns } from './support/turns.js'

const BLOCKS = 3000
const LARGE_BYTES = 200_000
const KINDS = ['blocks', 'pins', 'peers']

/** The bytes of a block: most are short, some are empty, one in a hundred is large. */
function bytesOf(number) {
  const next = random(`block ${number}`)
  const length = number % 100 === 7 ? LARGE_BYTES : next(300)
  return new Uint8Array(length).fill(next(256)).map((byte, at) => (byte + at * number) & 255)
}

const blocks = Array.from({ length: BLOCKS }, (_, number) => {
  const kind = KINDS[number % KINDS.length]
  return { key: new Key(`/${kind}/${random(`key ${number}`)(2 ** 32).toString(36)}`), value: bytesOf(number) }
})
const early = blocks.slice(0, BLOCKS / 2)
const late = blocks.slice(BLOCKS / 2)

// The second half of the work deletes some of the early blocks, and replaces others.
const deleted = early.filter((_, index) => index % 6 === 1)
const replaced = early.filter((_, index) => index % 6 === 4)
const REPLACEMENT = new TextEncoder().encode('replaced – größer')

/** The blocks that exist in the end. */
const remaining = blocks
  .filter((block) => !deleted.includes(block))
  .map((block) => (replaced.includes(block) ? { ...block, value: REPLACEMENT } : block))

const sorted = (pairs) => pairs.map(text).sort()
const text = ({ key, value }) => `${key} ${Buffer.from(value).toString('base64')}`
const ofKind = (kind) => remaining.filter(({ key }) => key.toString().startsWith(`/${kind}/`))

/** Everything that an async iterable yields. */
async function all(iterable) {
  const items = []
  for await (const item of iterable) items.push(item)
  return items
}

takeTurns('datastore-level', {
  async open(DatabaseClass, directory) {
    const store = new LevelDatastore(
      new DatabaseClass(directory, { keyEncoding: 'utf8', valueEncoding: 'view' })
    )
    await store.open()
    return store
  },

  close: (store) => store.close(),

  async begin(store) {
    await Promise.all(early.map(({ key, value }) => store.put(key, value)))
  },

  async goOn(store) {
    for (const { key } of deleted) await store.delete(key)
    const batch = store.batch()
    for (const { key } of replaced) batch.put(key, REPLACEMENT)
    await batch.commit()
    await all(store.putMany(late))
  },

  async answers(store) {
    const byKey = (a, b) => (a.key.toString() < b.key.toString() ? -1 : 1)
    return {
      pairs: (await all(store.query({}))).map(text),
      pins: (await all(store.query({ prefix: '/pins/' }))).map(text),
      keys: (await all(store.queryKeys({ prefix: '/peers/' }))).map(String),
      page: (await all(store.query({ orders: [byKey], offset: 100, limit: 20 }))).map(text),
      large: (await all(store.query({ filters: [({ value }) => value.length === LARGE_BYTES] }))).length,
      many: (await all(store.getMany(late.map(({ key }) => key)))).map(text),
      gone: await Promise.all(deleted.map(({ key }) => store.has(key)))
    }
  },

  check({ pairs, pins, keys, page, large, many, gone }) {
    assert.deepEqual([...pairs].sort(), sorted(remaining))
    assert.deepEqual([...pins].sort(), sorted(ofKind('pins')))
    assert.equal(keys.length, ofKind('peers').length)
    assert.equal(page.length, 20)
    assert.equal(large, remaining.filter(({ value }) => value.length === LARGE_BYTES).length)
    assert.deepEqual(many, late.map(text))
    assert.ok(gone.every((has) => has === false))
  }
})
