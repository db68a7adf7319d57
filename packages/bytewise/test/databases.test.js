// The encoding as `keyEncoding` of databases: of Terrace, and of another kind.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { MemoryLevel } from 'memory-level'
import { Level } from 'terrace'
import { between, bytewise, decode, encode, lower, prefix, upper } from 'terrace-bytewise'
import { bytewiseKey, generator } from './support/random.js'

const directory = mkdtempSync(join(tmpdir(), 'terrace-bytewise-'))
let databases = 0

const kinds = {
  Level: () => new Level(join(directory, String(databases++)), { keyEncoding: bytewise }),
  'MemoryLevel of buffers': () => new MemoryLevel({ keyEncoding: bytewise }),
  'MemoryLevel of views': () => new MemoryLevel({ keyEncoding: bytewise, storeEncoding: 'view' })
}

test.after(() => rmSync(directory, { recursive: true, force: true }))

for (const [kind, make] of Object.entries(kinds)) {
  test(`${kind}: keys come back in their order`, async () => {
    const db = make()
    const random = generator(7)
    const keys = Array.from({ length: 500 }, () => bytewiseKey(random)).filter((key) => key != null)
    await db.batch(keys.map((key, i) => ({ type: 'put', key, value: String(i) })))
    for (const key of keys) assert.ok(Number(await db.get(key)) >= 0)

    const expected = [...new Set(keys.map((key) => encode(key).toString('hex')))].sort()
    const found = await db.keys().all()
    assert.deepEqual(
      found.map((key) => encode(key).toString('hex')),
      expected
    )
    assert.deepEqual((await db.keys({ reverse: true }).all()).reverse(), found)
    const [first] = await db.keys({ keyEncoding: 'view', limit: 1 }).all()
    assert.deepEqual(Buffer.from(first), encode(found[0]))
    await db.close()
  })

  test(`${kind}: ranges contain everything below a prefix`, async () => {
    const db = make()
    const keys = [
      ['use', 1],
      ['user'],
      ['user', 1],
      ['user', 1, 'mail'],
      ['user', 1, 'name', new Date(0)],
      ['user', 2],
      ['user', 2, 'name'],
      ['user', 10, 'name'],
      ['user', 'x'],
      ['user\0', 1],
      ['users', 1]
    ]
    await db.batch(keys.map((key) => ({ type: 'put', key, value: 'v' })))
    assert.deepEqual(await db.keys().all(), keys)
    assert.deepEqual(await db.keys(prefix(['user', 1])).all(), keys.slice(2, 5))
    assert.deepEqual(await db.keys(prefix(['user'])).all(), keys.slice(1, 9))
    assert.deepEqual(await db.keys({ ...prefix(['user', 1]), reverse: true, limit: 1 }).all(), [keys[4]])
    assert.deepEqual(await db.keys(between(['user', 2], ['user', 10])).all(), keys.slice(5, 8))
    assert.deepEqual(await db.keys({ gt: ['user', lower()], lt: ['user', upper()] }).all(), keys.slice(2, 9))
    assert.deepEqual(await db.keys({ gte: [lower('user')], lt: [upper('user')] }).all(), keys.slice(1))
    assert.deepEqual(await db.keys({ gte: lower(), lt: upper() }).all(), keys)
    await db.clear(prefix(['user', 1]))
    assert.deepEqual(await db.keys().all(), [...keys.slice(0, 2), ...keys.slice(5)])
    await db.close()
  })

  test(`${kind}: sublevels, other extensions, single operations`, async () => {
    const db = make()
    const users = db.sublevel('users', { keyEncoding: bytewise })
    const key = ['a', 1n, new Map([['x', new Float64Array([1.5])]])]
    await users.put(key, 'value')
    assert.equal(await users.get(key), 'value')
    assert.deepEqual(await users.keys(prefix(['a'])).all(), [key])
    assert.deepEqual(await users.has(key), true)
    await users.del(key)
    assert.equal(await users.get(key), undefined)
    await assert.rejects(async () => db.put([() => undefined], ''), { code: 'BYTEWISE_UNSUPPORTED_TYPE' })

    await db.put(Uint8Array.from([0x70, 0xff]), 'not a key', { keyEncoding: 'view' })
    await assert.rejects(db.keys({ gte: 'a' }).all(), (error) => {
      assert.equal(error.cause?.code ?? error.code, 'BYTEWISE_DAMAGED')
      return true
    })
    await db.close()
  })
}

test('Level: synchronous methods take the encoding, too', async () => {
  const db = kinds.Level()
  await db.open()
  db.putSync(['a', 2], 'two')
  db.batchSync([{ type: 'put', key: ['a', 1], value: 'one' }])
  assert.equal(db.getSync(['a', 1]), 'one')
  assert.deepEqual(
    [...db.iterateSync(prefix(['a']))],
    [
      [['a', 1], 'one'],
      [['a', 2], 'two']
    ]
  )
  assert.ok((await db.approximateSize(lower(), upper())) >= 0)
  await db.compactRange(lower(['a']), upper(['a']))
  await db.close()
})

test('it decodes the views that databases give', () => {
  const bytes = encode(['a', Buffer.from([1])])
  assert.deepEqual(decode(Uint8Array.from(bytes)), decode(bytes))
})
