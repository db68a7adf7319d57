import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ClassicLevel } from 'classic-level'
import { Level } from 'terrace'
import { entries, newLevel, openLevel, temporaryDirectory } from './support/databases.js'

function sizeOf(directory) {
  return readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)
}

function names(directory, pattern) {
  return readdirSync(directory).filter((name) => pattern.test(name))
}

test('tables are compressed unless that is turned off', async (t) => {
  const value = 'compressible '.repeat(8000)
  const operations = entries(20).map((entry) => ({ ...entry, value }))
  const sizes = {}

  for (const compression of [undefined, true, 'snappy', 'zstd', false, 'none']) {
    const db = await openLevel(t, { compression })
    await db.batch(operations)
    await db.compactRange('a', 'z')
    await db.close()
    sizes[compression] = sizeOf(db.location)

    await db.open()
    assert.equal(await db.get('key0007'), value)
  }

  const raw = value.length * operations.length
  for (const compressed of ['undefined', 'true', 'snappy', 'zstd']) assert.ok(sizes[compressed] < raw / 5)
  for (const plain of ['false', 'none']) assert.ok(sizes[plain] > raw)
})

test('approximateSize() tells the size of a range on disk', async (t) => {
  const db = await openLevel(t, { compression: false })
  await db.batch(entries(1000, 'x'.repeat(1000)))
  await db.compactRange('a', 'z')
  const all = await db.approximateSize('a', 'z')
  const half = await db.approximateSize('a', 'key0500')

  assert.ok(all > 900_000 && all < 1_200_000, String(all))
  assert.ok(half > all * 0.4 && half < all * 0.6, String(half))
  assert.equal(await db.approximateSize('x', 'z'), 0)
})

test('approximateSize() counts what is in memory', async (t) => {
  const db = await openLevel(t)
  await db.batch(entries(1000, 'x'.repeat(1000)))
  const all = await db.approximateSize('a', 'z')
  const half = await db.approximateSize('a', 'key0500')

  assert.ok(all > 900_000 && all < 1_200_000, String(all))
  assert.ok(half > all * 0.4 && half < all * 0.6, String(half))
})

test('repair() of anything but a database is an I/O error, as in classic-level', async (t) => {
  const directory = temporaryDirectory(t)
  await assert.rejects(Level.repair(directory), { code: 'LEVEL_IO_ERROR' })
  await assert.rejects(Level.repair(join(directory, 'missing')), { code: 'LEVEL_IO_ERROR' })
})

test('checkpoint() into a directory that is not empty says so', async (t) => {
  const db = await openLevel(t)
  await assert.rejects(db.checkpoint(db.location), (error) => {
    assert.equal(error.code, 'LEVEL_INVALID_ARGUMENT')
    assert.match(error.message, /the directory is not empty/)
    assert.doesNotMatch(error.message, /errorIfExists/)
    return true
  })
})

test('compactRange() gives back the space of deleted keys', async (t) => {
  const db = await openLevel(t, { compression: false })
  await db.batch(entries(1000, 'x'.repeat(1000)))
  await db.compactRange('a', 'z')
  await db.batch(entries(1000).map(({ key }) => ({ type: 'del', key })))
  await db.compactRange('a', 'z')

  assert.equal(await db.approximateSize('a', 'z'), 0)
  assert.deepEqual(names(db.location, /\.ldb$/), [])
})

for (const method of ['approximateSize', 'compactRange']) {
  test(`${method}() needs both ends, and encodes them`, async (t) => {
    const calls = []

    const keyEncoding = {
      name: 'recording',
      format: 'utf8',
      encode(key) {
        calls.push(key)
        return key
      },
      decode: (data) => data
    }

    const db = await openLevel(t, { keyEncoding })
    const missing = { name: 'TypeError', message: "The arguments 'start' and 'end' are required" }
    await assert.rejects(db[method](), missing)
    await assert.rejects(db[method]('a'), missing)

    await db[method]('a', 'b')
    assert.deepEqual(calls, ['a', 'b'])

    const plain = await openLevel(t)
    await plain[method]('c', 'd', { keyEncoding })
    assert.deepEqual(calls, ['a', 'b', 'c', 'd'])
  })

  test(`${method}() waits for opening, and fails once closed`, async (t) => {
    const db = newLevel(t)
    await db[method]('a', 'b')
    assert.equal(db.status, 'open')
    await db.close()
    await assert.rejects(db[method]('a', 'b'), { code: 'LEVEL_DATABASE_NOT_OPEN' })
  })
}

test('getProperty() knows what LevelDB knows', async (t) => {
  const db = await openLevel(t)

  for (const level of [0, 1, 2, 3, 4, 5, 6]) {
    assert.equal(db.getProperty(`leveldb.num-files-at-level${level}`), '0')
  }

  const levels = [0, 1, 2, 3, 4, 5, 6].map((level) => `--- level ${level} ---\n`)
  assert.equal(db.getProperty('leveldb.sstables'), levels.join(''))
  assert.ok(db.getProperty('leveldb.stats').split('\n').length > 3)
  assert.ok(Number(db.getProperty('leveldb.approximate-memory-usage')) >= 0)
  assert.equal(db.getProperty('leveldb.num-files-at-level7'), '')
  assert.equal(db.getProperty('leveldb.unknown'), '')
  assert.equal(db.getProperty('unknown'), '')

  for (const wrong of [undefined, {}, 1]) {
    const message = "The first argument 'property' must be a string"
    assert.throws(() => db.getProperty(wrong), { name: 'TypeError', message })
  }

  await db.close()
  assert.throws(() => db.getProperty('leveldb.stats'), { code: 'LEVEL_DATABASE_NOT_OPEN' })
})

test('stats() counts tables, bytes and writes', async (t) => {
  const db = await openLevel(t)
  const before = db.stats()
  assert.equal(before.levels.length, 7)
  await db.batch(entries(1000))
  const written = db.stats()
  assert.equal(written.lastSequence, before.lastSequence + 1000)
  assert.ok(written.memtableBytes > 0)

  await db.compactRange('a', 'z')
  const { levels } = db.stats()
  const total = (name) => levels.reduce((sum, level) => sum + level[name], 0)
  assert.ok(total('files') >= 1)
  assert.ok(total('sizeBytes') > 0)
  assert.ok(total('writtenBytes') >= total('sizeBytes'))

  await db.close()
  assert.throws(() => db.stats(), { code: 'LEVEL_DATABASE_NOT_OPEN' })
})

test('checkpoint() makes a database of its own, while writes go on', async (t) => {
  const db = await openLevel(t)
  await db.batch(entries(2000))
  await db.compactRange('a', 'z')
  await db.put('before', '1')
  const directory = join(temporaryDirectory(t), 'copy')
  const [, ...after] = await Promise.all([db.checkpoint(directory), db.put('after', '2', { sync: true })])
  assert.equal(after.length, 1)
  await db.clear()

  const copy = await openLevel(t, { createIfMissing: false }, directory)
  const keys = await copy.keys().all()
  assert.equal(keys.filter((key) => key.startsWith('key')).length, 2000)
  assert.ok(keys.includes('before'))
  await copy.put('copy', '3')
  assert.deepEqual(await db.keys().all(), [])
})

test('checkpoint() leaves a directory alone that is there already', async (t) => {
  const db = await openLevel(t)
  await db.put('a', '1')
  const directory = temporaryDirectory(t)
  writeFileSync(join(directory, 'notes.txt'), 'hello')

  await assert.rejects(db.checkpoint(directory))
  assert.deepEqual(readdirSync(directory), ['notes.txt'])
  await assert.rejects(db.checkpoint(''), TypeError)
  await assert.rejects(db.checkpoint(), TypeError)
})

for (const method of ['destroy', 'repair']) {
  test(`${method}() needs a location`, async () => {
    for (const location of [undefined, '', {}]) {
      await assert.rejects(Level[method](location), {
        name: 'TypeError',
        message: "The first argument 'location' must be a non-empty string"
      })
    }
  })

  test(`${method}() refuses a database that is open`, async (t) => {
    const db = await openLevel(t)
    await db.put('a', '1')
    await assert.rejects(Level[method](db.location), { code: 'LEVEL_LOCKED' })
    assert.equal(await db.get('a'), '1')
  })
}

test('destroy() removes a database and its directory', async (t) => {
  const db = await openLevel(t)
  await db.batch(entries(100))
  await db.compactRange('a', 'z')
  await db.close()
  await Level.destroy(db.location)
  assert.equal(existsSync(db.location), false)
})

test('destroy() leaves other files alone', async (t) => {
  const db = await openLevel(t)
  await db.close()
  writeFileSync(join(db.location, 'notes.txt'), 'hello')
  await Level.destroy(db.location)

  assert.deepEqual(readdirSync(db.location), ['notes.txt'])
  assert.equal(readFileSync(join(db.location, 'notes.txt'), 'utf8'), 'hello')
})

test('destroy() of a missing database creates nothing', async (t) => {
  const directory = temporaryDirectory(t)
  await Level.destroy(join(directory, 'a', 'b'))
  assert.deepEqual(readdirSync(directory), [])

  mkdirSync(join(directory, 'tree', 'sub'), { recursive: true })
  writeFileSync(join(directory, 'tree', 'file'), 'content')
  await Level.destroy(join(directory, 'tree'))
  assert.deepEqual(readdirSync(join(directory, 'tree')).sort(), ['file', 'sub'])
})

test("LevelDB's destroy() removes the whole directory of a database that this package has used", async (t) => {
  for (const opensAfterwards of [false, true]) {
    const db = await openLevel(t)
    await db.put('key', 'value', { sync: true })
    await db.close()
    await db.open()
    await db.put('other', 'value')
    await db.close()
    if (opensAfterwards) {
      const leveldb = new ClassicLevel(db.location)
      assert.equal(await leveldb.get('key'), 'value')
      await leveldb.close()
    }
    await ClassicLevel.destroy(db.location)
    assert.equal(existsSync(db.location), false)
  }
})

test("destroy() leaves files alone that are not the database's", async (t) => {
  const directory = temporaryDirectory(t)
  const never = join(directory, 'never')
  mkdirSync(join(never, 'lost'), { recursive: true })
  for (const name of ['2024.log', '20241231.log', 'lost/mine.txt']) writeFileSync(join(never, name), 'mine')
  await Level.destroy(never)
  assert.deepEqual(readdirSync(never, { recursive: true }).sort(), [
    '2024.log',
    '20241231.log',
    'lost',
    join('lost', 'mine.txt')
  ])

  const db = await openLevel(t)
  await db.put('key', 'value')
  await db.close()
  mkdirSync(join(db.location, 'lost'))
  writeFileSync(join(db.location, 'lost/mine.txt'), 'mine')
  await Level.destroy(db.location)
  assert.deepEqual(readdirSync(db.location, { recursive: true }).sort(), ['lost', join('lost', 'mine.txt')])
})

test('repair() of a missing directory says so', async (t) => {
  const missing = join(temporaryDirectory(t), 'missing')
  await assert.rejects(Level.repair(missing), (error) => {
    assert.equal(error.code, 'LEVEL_IO_ERROR')
    assert.match(error.message, /no such file or directory/)
    return true
  })
  assert.equal(existsSync(missing), false)
})

test('repair() moves the contents of the log to tables', async (t) => {
  const db = await openLevel(t)
  await db.batch(entries(100))
  await db.close()
  assert.ok(names(db.location, /\.log$/).length > 0)
  assert.deepEqual(names(db.location, /\.ldb$/), [])

  const report = await Level.repair(db.location)
  assert.equal(report.nothingLost, true)
  assert.equal(report.lostBytes, 0)
  assert.equal(report.entriesKept, 100)
  assert.match(report.text, /\.log/)
  assert.ok(names(db.location, /\.ldb$/).length > 0)
  assert.deepEqual(names(db.location, /\.log$/), [])
  await db.open()
  assert.equal((await db.keys().all()).length, 100)
})

test('repair() restores a database without its MANIFEST', async (t) => {
  const db = await openLevel(t)
  await db.batch(entries(1000))
  await db.compactRange('a', 'z')
  await db.put('in the log', '1')
  await db.close()
  const [manifest] = names(db.location, /^MANIFEST/)
  writeFileSync(join(db.location, manifest), 'nonsense')
  await assert.rejects(db.open(), (error) => error.cause.code === 'LEVEL_CORRUPTION')

  await Level.repair(db.location)
  await db.open()
  assert.equal((await db.keys().all()).length, 1001)
})

test('a damaged table is reported by whoever reads it, with file and offset', async (t) => {
  const db = await openLevel(t, { compression: false })
  await db.batch(entries(1000))
  await db.compactRange('a', 'z')
  await db.close()
  const [table] = names(db.location, /\.ldb$/)
  const file = join(db.location, table)
  const bytes = readFileSync(file)
  bytes[1000] ^= 1
  writeFileSync(file, bytes)

  const isDamage = (error) => {
    assert.equal(error.code, 'LEVEL_CORRUPTION')
    assert.equal(error.path, file)
    assert.equal(typeof error.offset, 'number')
    return true
  }

  await db.open()
  await assert.rejects(db.get('key0000'), isDamage)
  assert.throws(() => db.getSync('key0000'), isDamage)
  await assert.rejects(db.getMany(['key0000']), isDamage)
  await assert.rejects(db.has('key0000'), isDamage)
  await assert.rejects(db.iterator().all(), isDamage)
  await assert.rejects(db.clear(), isDamage)
  assert.equal(await db.get('key0999'), 'value999')
})

test('what an open leaves out, since a loss of power seems to have taken a part, is told', async (t) => {
  const db = await openLevel(t, { valueEncoding: 'buffer' })
  const told = []
  db.on('leftOut', (leftOut) => told.push(leftOut))
  for (const { key } of entries(20)) await db.put(key, Buffer.alloc(1500, 'x'))

  // Copied while the database is open: nothing says yet how much of the log is on the disk.
  const copy = join(temporaryDirectory(t), 'copy')
  cpSync(db.location, copy, { recursive: true })
  const [log] = names(copy, /\.log$/).filter((name) => statSync(join(copy, name)).size > 0)
  const bytes = readFileSync(join(copy, log))
  bytes.fill(0, 8192, 8704)
  writeFileSync(join(copy, log), bytes)

  const after = new Level(copy, { valueEncoding: 'buffer' })
  after.on('leftOut', (leftOut) => told.push({ status: after.status, ...leftOut }))
  await after.open()
  assert.equal(told.length, 1)
  const [{ status, file, bytes: leftOutBytes, message }] = told
  assert.deepEqual([status, file], ['open', log])
  assert.ok(leftOutBytes > 20_000 && leftOutBytes === after.stats().leftOutLogBytes)
  assert.match(message, /checksum .* at byte \d+/)
  assert.deepEqual([db.leftOut, after.leftOut], [[], [{ file, bytes: leftOutBytes, message }]])
  assert.equal((await after.keys().all()).length, 5)
  assert.deepEqual(readFileSync(join(copy, 'lost', log)), bytes)
  await after.close()
  assert.deepEqual(after.leftOut, [])

  await after.open()
  assert.deepEqual([told.length, after.stats().leftOutLogBytes, after.leftOut], [1, 0, []])
  await after.close()
  const { text } = await Level.repair(copy)
  assert.ok(text.includes(`by an earlier open or repair: ${log}`), text)
})
