// Items that an encoding decodes to null or undefined are items, not the end, in every way of reading.

import assert from 'node:assert/strict'
import { newLevel, openLevel, test, testOnAll } from './support/databases.js'

/** Decodes some bytes to null and some to undefined. */
const odd = {
  name: 'odd',
  format: 'utf8',
  encode: (data) => (data === null ? 'null' : String(data)),
  decode: (text) => (text === 'null' ? null : text.startsWith('undefined') ? undefined : text)
}

/** Ways to read all items of an iterator, given a function that makes it. */
const ways = {
  'for await': async (iterate) => {
    const items = []
    for await (const item of iterate()) items.push(item)
    return items
  },
  for: (iterate) => [...iterate()],
  'next() of a loop': async (iterate) => {
    const walk = iterate()[Symbol.asyncIterator]()
    const items = []
    for (let step = await walk.next(); !step.done; step = await walk.next()) items.push(step.value)
    return items
  },
  'all()': (iterate) => iterate().all(),
  'nextv()': async (iterate) => {
    const iterator = iterate()
    const items = []
    for (let some = await iterator.nextv(2); some.length > 0; some = await iterator.nextv(2))
      items.push(...some)
    await iterator.close()
    return items
  },
  'next(), then all()': async (iterate) => {
    const iterator = iterate()
    return [await iterator.next(), ...(await iterator.all())]
  }
}

test('values() by synchronous steps has the entries that decode to null', async (t) => {
  const db = await openLevel(t, { valueEncoding: 'json' })
  await putTexts(db, ['1', 'null', '2', 'null'])
  assert.deepEqual([...db.values()], [1, null, 2, null])
  assert.deepEqual(
    [...db.iterateSync()].map(([, value]) => value),
    [1, null, 2, null]
  )
})

for (const [way, read] of Object.entries(ways)) {
  test(`null and undefined among items are read by ${way}`, async (t) => {
    const db = await openLevel(t)
    const sublevel = db.sublevel('s')
    await sublevel.open()
    const texts = [
      'a',
      'null',
      'undefined',
      'undefined1',
      'z',
      ...Array.from({ length: 50 }, (_, i) => `zz${i + 10}`)
    ]

    for (const space of [db, sublevel]) {
      await space.batch(texts.map((text) => ({ type: 'put', key: text, value: text })))
      const expected = texts.map((text) => odd.decode(text))
      const range = space === db ? { gte: 'a' } : {}
      assert.deepEqual(await read(() => space.values({ ...range, valueEncoding: odd })), expected)
      assert.deepEqual(await read(() => space.keys({ ...range, keyEncoding: odd })), expected)
      const options = { ...range, keyEncoding: odd, valueEncoding: odd }
      assert.deepEqual(
        await read(() => space.iterator(options)),
        expected.map((item) => [item, item])
      )
      assert.deepEqual(
        await read(() => space.values({ ...range, valueEncoding: odd, reverse: true, limit: 52 })),
        expected.toReversed().slice(0, 52)
      )
    }
  })
}

testOnAll('null among items is read by an iterator that was made before the database was open', async (t) => {
  const db = newLevel(t, { valueEncoding: 'json' })
  await db.open()
  await putTexts(db, ['1', 'null', '2'])
  await db.close()
  const opening = db.open()
  assert.deepEqual(await db.values().all(), [1, null, 2])
  await opening
})

/** JSON as another program may have written it: `put()` refuses null. */
function putTexts(db, texts) {
  return db.batch(texts.map((value, i) => ({ type: 'put', key: `k${i}`, value, valueEncoding: 'utf8' })))
}
