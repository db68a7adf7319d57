// What level-packager's README promises, over leveldown and memdown. The argument is the package.

const { call, collect, print, run } = require('./support/print.js')

const packager = require(process.argv[2])
const leveldown = require('leveldown')
const memdown = require('memdown')

async function main() {
  const level = packager(leveldown)
  print('functions', Object.keys(level).sort(), Object.keys(level.errors).sort())
  const opened = (...args) => new Promise((resolve) => level(...args, (error, db) => resolve(error || db)))
  const db = await opened('db', { valueEncoding: 'json' })
  await db.put('a', { b: 1 })
  await db.batch([{ type: 'put', key: 'c', value: [1] }])
  print('values', await db.get('a'), await collect(() => db.createReadStream()))
  print('not found', await call(db, 'get', 'none'))
  await db.close()
  const failed = await opened('none', { createIfMissing: false })
  print('failed', failed instanceof level.errors.OpenError, failed)
  print('repair', await call(level, 'repair', 'db'))
  const again = level('db')
  print('text', await again.get('a'))
  await again.close()
  await call(await opened('gone'), 'close')
  print('destroy', await call(level, 'destroy', 'gone'))

  const memory = packager(memdown)
  print('functions', Object.keys(memory).sort())
  const other = memory({ keyEncoding: 'json' })
  await other.put([1], 'one')
  print('memory', await collect(() => other.createReadStream()))
  await other.close()
}

run(main)
