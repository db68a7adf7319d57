// Parts keep state in memory about what is stored. They refuse a database that other instances may write to.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { ClassicLevel } from 'classic-level'
import { Level } from 'terrace'
import { count, feed, watch } from 'terrace-toolbox/feed'
import { index } from 'terrace-toolbox/index'
import { lock } from 'terrace-toolbox/lock'
import { transactions } from 'terrace-toolbox/transaction'
import { ttl } from 'terrace-toolbox/ttl'

/** Each part that needs to see every write, made on a database. */
const parts = {
  lock: (db) => lock(db),
  feed: (db) => feed(db),
  count: (db) => count(db, { name: 'all', of: () => 'all' }),
  watch: (db) => watch(db, {}),
  index: (db) => index(db, { name: 'value', on: (value) => value }),
  ttl: (db) => ttl(db)
}

const shared = { multithreading: true }

/** A test in a directory, which is removed once the instances made by the test are closed. */
function testInDirectory(name, body) {
  test(name, async () => {
    const directory = mkdtempSync(join(tmpdir(), 'terrace-toolbox-'))
    const location = join(directory, 'db')
    const made = []
    const instance = (Database, options) => {
      made.push(new Database(location, options))
      return made.at(-1)
    }
    try {
      await body(instance, location)
    } finally {
      for (const db of made) await db.close()
      rmSync(directory, { recursive: true, force: true })
    }
  })
}

function isRefusal(error) {
  assert.equal(error.code, 'TOOLBOX_MULTITHREADING')
  assert.match(error.message, /without the option 'multithreading'/)
  return true
}

for (const [name, use] of Object.entries(parts)) {
  testInDirectory(`${name}: a database that other processes may write to is refused`, async (instance) => {
    const db = instance(Level, { shared: true })
    assert.throws(() => use(db), { code: 'TOOLBOX_SHARED', message: /without 'shared'/ })
    await db.open()
    assert.throws(() => use(db), { code: 'TOOLBOX_SHARED' })
  })
}

testInDirectory('increments of two instances are not lost', async (instance) => {
  const instances = [1, 2].map(() => instance(Level, { ...shared, valueEncoding: 'json' }))
  for (const db of instances) await db.open()

  const increments = instances.map(async (db) => {
    const transaction = transactions(db, { retries: 1000 })
    const updates = Array.from({ length: 200 }, () =>
      transaction.update('counter', async (number = 0) => number + 1)
    )
    await Promise.all(updates)
  })
  await Promise.all(increments)
  assert.equal(await instances[0].get('counter'), 400)
})

for (const [name, make] of Object.entries(parts)) {
  testInDirectory(
    `${name}: an instance with multithreading is refused, before it is open and after`,
    async (instance) => {
      const db = instance(Level, shared)
      assert.throws(() => make(db), isRefusal)
      await db.open()
      assert.throws(() => make(db), isRefusal)
      const sublevel = db.sublevel('sub')
      assert.throws(() => make(sublevel), isRefusal)
      await db.put('a', '1')
      assert.equal(await db.get('a'), '1')
    }
  )
}

for (const [name, make] of Object.entries({ ...parts, transactions: (db) => transactions(db) })) {
  for (const Database of [Level, ClassicLevel]) {
    testInDirectory(
      `${name}: ${Database.name} is not opened with multithreading once it has this part`,
      async (instance) => {
        const db = instance(Database)
        await db.open()
        make(db.sublevel('sub'))
        await db.close()
        await assert.rejects(db.open(shared), ({ code, cause }) => {
          assert.equal(code, 'LEVEL_HOOK_ERROR')
          return isRefusal(cause)
        })
        await db.open()
        await db.put('a', '1')
      }
    )
  }
}

testInDirectory(
  'classic-level: the option of its constructor is found out when it opens',
  async (instance) => {
    const db = instance(ClassicLevel, shared)
    transactions(db)
    await assert.rejects(db.open(), ({ cause }) => isRefusal(cause))
  }
)

testInDirectory(
  'a worker is refused as the main thread is, and what it wrote by itself is there',
  async (instance, location) => {
    const db = instance(Level, shared)
    await db.open()
    const worker = new Worker(new URL('./support/instance-worker.js', import.meta.url), { argv: [location] })
    assert.deepEqual(await once(worker, 'message'), [
      Object.fromEntries(Object.keys(parts).map((name) => [name, 'TOOLBOX_MULTITHREADING']))
    ])
    assert.equal(await db.get('worker'), 'was here')
  }
)

testInDirectory(
  'an instance alone keeps its parts when the same object is opened again',
  async (instance) => {
    const db = instance(Level, { valueEncoding: 'json' })
    const transaction = transactions(db)
    for (let round = 1; round <= 3; round++) {
      await db.open()
      assert.equal(await transaction.update('counter', (number = 0) => number + 1), round)
      await db.close()
    }
  }
)
