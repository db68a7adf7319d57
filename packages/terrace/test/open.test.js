import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ClassicLevel, Level } from 'terrace'
import { defaultOn, numberOf, plainOn } from '../../../scripts/options.mjs'
import { newLevel, openLevel, temporaryDirectory } from './support/databases.js'

test('the class goes by both names', async () => {
  assert.equal(ClassicLevel, Level)
  assert.equal((await import('terrace')).default.ClassicLevel, Level)
})

test('a location must be a string that is not empty', () => {
  for (const location of [undefined, null, '', {}, 1]) {
    assert.throws(() => new Level(location), {
      name: 'TypeError',
      message: "The first argument 'location' must be a non-empty string"
    })
  }
})

test('the directory is created with its parents', async (t) => {
  const location = join(temporaryDirectory(t), 'beep', 'boop')
  const db = newLevel(t, undefined, location)
  assert.equal(existsSync(location), false)
  await db.open()
  assert.equal(existsSync(location), true)
})

test('createIfMissing: false creates nothing', async (t) => {
  const parent = temporaryDirectory(t)
  const db = newLevel(t, { createIfMissing: false }, join(parent, 'beep', 'boop'))

  await assert.rejects(db.open(), (error) => {
    assert.equal(error.code, 'LEVEL_DATABASE_NOT_OPEN')
    assert.equal(error.cause.code, 'LEVEL_DATABASE_MISSING')
    assert.match(error.cause.message, /does not exist.*boop/)
    return true
  })

  assert.deepEqual(readdirSync(parent), [])
})

test('errorIfExists: true refuses a database that is there', async (t) => {
  const first = await openLevel(t)
  await first.close()
  const second = newLevel(t, { errorIfExists: true }, first.location)

  await assert.rejects(second.open(), (error) => {
    assert.equal(error.cause.code, 'LEVEL_DATABASE_EXISTS')
    assert.equal(error.cause.path, first.location)
    return true
  })
})

/** The options that are flags and numbers, by their names, with their defaults. */
const plainOptions = plainOn('node').map((option) => {
  const value = defaultOn('node', option)
  return [option.node.name, typeof value === 'boolean' ? value : numberOf(value)]
})

test('options of a wrong type are refused by name', async (t) => {
  const noFlags = ['yes', 0, 1, {}]
  const noNumbers = [-1, 1.5, '4096', Number.NaN, Infinity, {}]
  const wrong = [
    ['compression', [5]],
    ['comparator', [true]],
    ['preset', [[]]],
    ['multithreading', noFlags],
    ['sharedResources', noFlags],
    ...plainOptions.map(([name, value]) => [name, typeof value === 'boolean' ? noFlags : noNumbers])
  ]

  for (const [name, values] of wrong) {
    for (const value of values) {
      await assert.rejects(newLevel(t, { [name]: value }).open(), (error) => {
        assert.ok(error.cause instanceof TypeError, name)
        assert.match(error.cause.message, new RegExp(`'${name}'`))
        return true
      })
    }
  }
})

test('unknown names are refused', async (t) => {
  for (const options of [{ compression: 'lz77' }, { comparator: 'no such order' }, { preset: 'toaster' }]) {
    const [name] = Object.values(options)

    await assert.rejects(newLevel(t, options).open(), (error) => {
      assert.equal(error.cause.code, 'LEVEL_INVALID_ARGUMENT')
      assert.match(error.cause.message, new RegExp(name))
      return true
    })
  }
})

test('every option is accepted, and undefined means the default', async (t) => {
  const options = {
    ...Object.fromEntries(plainOptions),
    preset: 'server',
    compression: 'none',
    cacheSize: 0,
    writeBufferSize: 65536,
    blockSize: 1024,
    maxOpenFiles: 50,
    blockRestartInterval: 4,
    maxFileSize: 1 << 20,
    filterBitsPerKey: 0,
    hashIndexPercent: 0,
    mapTables: false,
    mapLog: false,
    multithreading: false,
    sharedResources: false,
    readOnly: false,
    paranoidChecks: true,
    comparator: 'leveldb.BytewiseComparator',
    unknownOption: 'ignored'
  }

  const db = await openLevel(t, options)
  await db.put('a', '1')
  assert.equal(await db.get('a'), '1')
  await db.close()

  const undefinedOptions = Object.fromEntries(Object.keys(options).map((name) => [name, undefined]))
  await db.open(undefinedOptions)
  assert.equal(await db.get('a'), '1')
})

test('the comparator is that of the database', async (t) => {
  const db = await openLevel(t, { comparator: 'idb_cmp1' })
  await db.close()

  await assert.rejects(db.open({ comparator: 'leveldb.BytewiseComparator' }), (error) => {
    assert.equal(error.cause.code, 'LEVEL_INVALID_ARGUMENT')
    assert.match(error.cause.message, /idb_cmp1/)
    assert.match(error.cause.message, /leveldb\.BytewiseComparator/)
    return true
  })

  await db.open({ comparator: 'idb_cmp1' })
})

test('a refusal of the operating system is the cause', async (t) => {
  const directory = temporaryDirectory(t)
  writeFileSync(join(directory, 'file'), '')
  const db = newLevel(t, undefined, join(directory, 'file', 'db'))

  await assert.rejects(db.open(), (error) => {
    assert.equal(error.cause.code, 'LEVEL_IO_ERROR')
    assert.match(error.cause.path, /file/)
    assert.equal(error.cause.cause.code, 'ENOTDIR')
    assert.ok(error.cause.cause.errno < 0)
    return true
  })
})

test('damage is reported with its file, and its offset if there is one', async (t) => {
  const db = await openLevel(t)
  await db.put('a', '1')
  await db.close()
  const current = join(db.location, 'CURRENT')

  writeFileSync(current, 'nonsense\n')
  await assert.rejects(db.open(), (error) => {
    assert.equal(error.cause.code, 'LEVEL_CORRUPTION')
    assert.equal(error.cause.path, current)
    return true
  })

  rmSync(current)
  await assert.rejects(db.open(), (error) => {
    assert.equal(error.cause.code, 'LEVEL_CORRUPTION')
    assert.match(error.cause.message, /CURRENT/)
    return true
  })
})

test('a directory with other files is not a database, and stays as it is', async (t) => {
  const directory = temporaryDirectory(t)
  mkdirSync(join(directory, 'sub'))
  writeFileSync(join(directory, 'notes.txt'), 'hello')
  const db = newLevel(t, { createIfMissing: false }, directory)

  await assert.rejects(db.open(), (error) => error.cause.code === 'LEVEL_DATABASE_MISSING')
  assert.deepEqual(readdirSync(directory).sort(), ['notes.txt', 'sub'])
})
