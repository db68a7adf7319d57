// A second test file. Jest loads the packages again for it, in the same process or in another.

const { createReadStream, createWriteStream, mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { Level } = require('terrace')
const { bytewise, prefix } = require('terrace-bytewise')
const { count, feed } = require('terrace-toolbox/feed')
const { index } = require('terrace-toolbox/index')
const { lock } = require('terrace-toolbox/lock')
const { transactions } = require('terrace-toolbox/transaction')
const { ttl } = require('terrace-toolbox/ttl')
const { dump, restore } = require('terrace-toolbox/copy')
const { readable } = require('terrace-toolbox/streams')

const parent = mkdtempSync(join(tmpdir(), 'terrace-jest-'))
afterAll(() => rmSync(parent, { recursive: true }))
const open = (name, options) => new Level(join(parent, name), options)

test('keys of terrace-bytewise', async () => {
  const db = open('keys', { keyEncoding: bytewise })
  await db.batch([7, 10, 9].map((n) => ({ type: 'put', key: ['user', n], value: `${n}` })))
  expect(await db.keys(prefix(['user'])).all()).toEqual([7, 9, 10].map((n) => ['user', n]))
  await db.close()
})

test('every part of the toolbox', async () => {
  const db = open('toolbox', { valueEncoding: 'json' })
  const users = db.sublevel('users', { valueEncoding: 'json' })
  const byMail = index(users, { name: 'mail', on: 'mail', unique: true })
  const changes = feed(users)
  const total = count(users, { name: 'all', of: () => 'all' })
  const sessions = ttl(db.sublevel('sessions'), { defaultTtlMs: 60_000 })
  const transaction = transactions(db)

  await users.put('ada', { mail: 'ada@example.org', credit: 10 })
  await sessions.put('token', 'ada')
  await transaction(async (tx) => {
    const user = await tx.get('ada', { sublevel: users })
    tx.put('ada', { ...user, credit: user.credit - 3 }, { sublevel: users })
  })
  expect(await byMail.get('ada@example.org')).toEqual({ mail: 'ada@example.org', credit: 7 })
  expect(await sessions.get('token')).toBe('ada')
  expect(await total.get('all')).toBe(1)
  const seen = []
  for await (const change of changes.read()) seen.push(change.key)
  expect(seen.length).toBe(2)

  const release = await lock('names').acquire(Buffer.from('a'))
  release()

  let entries = 0
  for await (const entry of readable(users)) entries += entry === undefined ? 0 : 1
  expect(entries).toBe(1)
  await dump(users, createWriteStream(join(parent, 'users.dump')))
  const copied = open('copied', { valueEncoding: 'json' })
  await restore(copied, createReadStream(join(parent, 'users.dump')))
  expect(await copied.get('ada')).toEqual({ mail: 'ada@example.org', credit: 7 })
  await Promise.all([db.close(), copied.close()])
})
