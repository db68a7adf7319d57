import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { entries, openLevel, temporaryDirectory } from './support/databases.js'

const operations = {
  get: (db) => db.get('key'),
  getMany: (db) => db.getMany(['key', 'other']),
  has: (db) => db.has('key'),
  hasMany: (db) => db.hasMany(['key', 'other']),
  put: (db) => db.put('key2', 'value'),
  'put with sync': (db) => db.put('key2', 'value', { sync: true }),
  del: (db) => db.del('key'),
  'del with sync': (db) => db.del('key', { sync: true }),
  batch: (db) => db.batch([{ type: 'del', key: 'key' }]),
  'batch with sync': (db) => db.batch([{ type: 'del', key: 'key' }], { sync: true }),
  'chained batch': (db) => db.batch().del('key').write(),
  'chained batch with sync': (db) => db.batch().del('key').write({ sync: true }),
  clear: (db) => db.clear(),
  approximateSize: (db) => db.approximateSize('a', 'z'),
  compactRange: (db) => db.compactRange('a', 'z'),
  'an iterator': (db) => db.iterator().all()
}

for (const [name, operation] of Object.entries(operations)) {
  test(`close() waits for ${name}`, async (t) => {
    const db = await openLevel(t)
    await db.put('key', 'value')
    let finished = false

    operation(db).then(() => {
      finished = true
    })

    await db.close()
    assert.equal(finished, true)
  })
}

test('close() waits for all of them at once', async (t) => {
  const db = await openLevel(t)
  await db.batch(entries(1000))
  const promises = Object.values(operations).map((operation) => operation(db))
  const closed = db.close()
  await Promise.all(promises)
  await closed
})

test('what was written before close() is there after it', async (t) => {
  const db = await openLevel(t)
  const written = []
  for (let i = 0; i < 200; i++) written.push(db.put(`key${i}`, `value${i}`, { sync: i % 10 === 0 }))
  await db.close()
  await Promise.all(written)
  await db.open()

  assert.equal((await db.keys().all()).length, 200)
})

test('a database opens and closes many times', async (t) => {
  const db = await openLevel(t)

  for (let i = 0; i < 20; i++) {
    await db.put(`key${i}`, 'x')
    await db.close()
    await db.open()
    assert.equal((await db.keys().all()).length, i + 1)
  }
})

test('iterators and snapshots that are open do not hinder closing', async (t) => {
  const db = await openLevel(t)
  await db.batch(entries(100))
  const snapshot = db.snapshot()
  const iterator = db.iterator({ highWaterMarkBytes: 0 })
  const untouched = db.keys({ snapshot })
  await iterator.next()
  db.batch().put('a', 'b')
  await db.close()

  await assert.rejects(iterator.next(), { code: 'LEVEL_ITERATOR_NOT_OPEN' })
  await assert.rejects(untouched.next(), { code: 'LEVEL_ITERATOR_NOT_OPEN' })
  await assert.rejects(db.get('key0000', { snapshot }), { code: 'LEVEL_DATABASE_NOT_OPEN' })
})

const roles = {
  alone: 'the database',
  owner: 'the owner of a shared database',
  guest: 'a guest that has become the owner'
}

for (const [role, who] of Object.entries(roles)) {
  for (const way of ['close()', 'await using']) {
    const skip = process.platform !== 'linux' && 'needs prlimit'
    test(`after a write that failed for a file that is too large, ${way} of ${who} closes it and open() opens it`, {
      skip
    }, (t) => {
      const program = fileURLToPath(new URL('support/file-too-large.mjs', import.meta.url))
      const location = join(temporaryDirectory(t), 'db')
      const command = `ulimit -S -f 3000; trap '' XFSZ; exec "$0" "$@"`
      const args = ['-c', command, process.execPath, program, location, way, role]
      const { stdout, stderr } = spawnSync('bash', args, { encoding: 'utf8' })
      assert.deepEqual(JSON.parse(stdout || JSON.stringify(stderr)), {
        failed: 'LEVEL_IO_ERROR',
        closed: 'resolved',
        status: 'closed',
        again: 'resolved',
        opened: 'resolved',
        first: 'value',
        stored: 'resolved',
        last: 'resolved'
      })
    })
  }
}
