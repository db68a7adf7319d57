// levelup 5 over this package, as over leveldown.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { Level } from 'terrace'
import { leveldown, memdown, newLocation } from './support/databases.js'

const require = createRequire(import.meta.url)
const levelup = require('levelup')

for (const [name, make] of [
  ['disk', () => leveldown(newLocation())],
  ['memory', () => memdown()],
  ['from()', () => leveldown.from(new Level(newLocation()))]
]) {
  test(`promises, streams, batches and errors of levelup: ${name}`, async () => {
    // Calls before it is open are deferred.
    const db = levelup(make())
    await db.put('a', '1')
    await db.batch([
      { type: 'put', key: 'b', value: '2' },
      { type: 'del', key: 'a' }
    ])
    await db.batch().put('c', '3').write()
    assert.equal(String(await db.get('b')), '2')
    assert.deepEqual((await db.getMany(['a', 'c'])).map(String), ['undefined', '3'])
    await assert.rejects(db.get('a'), { name: 'NotFoundError', notFound: true, status: 404 })

    const streamed = []
    for await (const { key, value } of db.createReadStream({ gte: 'b' })) streamed.push(`${key} ${value}`)
    assert.deepEqual(streamed, ['b 2', 'c 3'])
    const keys = []
    for await (const key of db.createKeyStream()) keys.push(String(key))
    assert.deepEqual(keys, ['b', 'c'])
    const values = []
    for await (const value of db.createValueStream({ reverse: true })) values.push(String(value))
    assert.deepEqual(values, ['3', '2'])
    const entries = []
    for await (const [key] of db.iterator({ keyAsBuffer: false })) entries.push(key)
    assert.deepEqual(entries, ['b', 'c'])

    await db.clear({ lt: 'c' })
    await db.close()
    await db.open()
    assert.equal(String(await db.get('c')), '3')
    if (db.approximateSize !== undefined) {
      await new Promise((resolve, reject) => {
        db.approximateSize('a', 'z', (error) => (error ? reject(error) : resolve()))
      })
    }
    await db.close()
    await assert.rejects(db.put('a', '1'), { message: 'Database is not open' })
  })
}

test('an open that fails is an OpenError with the message of leveldown', async () => {
  const location = newLocation()
  const first = levelup(leveldown(location))
  await first.put('a', '1')
  const error = await new Promise((resolve) => {
    levelup(leveldown(location), resolve)
  })
  assert.equal(error.name, 'OpenError')
  assert.equal(error.message, `IO error: lock ${location}/LOCK: already held by process`)
  assert.equal(error.cause.code, 'LEVEL_LOCKED')
  await first.close()
})
