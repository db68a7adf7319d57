// What level's README promises. The first argument is the package, such as `level-4`.

const { call, collect, print, run } = require('./support/print.js')

const level = require(process.argv[2])

const opened = (location, options) =>
  new Promise((resolve) => level(location, options, (error, db) => resolve(error || db)))

async function main() {
  const db = level('my-db')
  await db.put('name', 'Level')
  print('value', await db.get('name'))
  print('not found', await call(db, 'get', 'none'), await db.get('none').catch((error) => error))
  print('locked', (await opened('my-db')).type)
  await db.batch([
    { type: 'del', key: 'father' },
    { type: 'put', key: 'spouse', value: 'Kim Young-sook' },
    { type: 'put', key: 'occupation', value: 'Clown' }
  ])
  await db.batch().del('spouse').put('dob', '16 February 1941').write()
  print('all', await collect(() => db.createReadStream()))
  print('some', await collect(() => db.createReadStream({ gt: 'a', lt: 'o', reverse: true, limit: 1 })))
  print(
    'keys',
    await collect(() => db.createKeyStream()),
    await collect(() => db.createValueStream({ gte: 'n' }))
  )
  print('has', typeof db.getMany, typeof db.clear, typeof db.iterator, db.supports?.permanence, db.status)
  if (db.getMany) print('getMany', await db.getMany(['name', 'none']))
  if (db.clear) print('clear', await db.clear({ gte: 'o' }), await collect(() => db.createKeyStream()))
  await db.close()

  print('errors', Object.keys(level.errors).sort())
  const failed = await opened('none', { createIfMissing: false })
  print('failed', failed instanceof level.errors.OpenError, failed)
  const again = await opened('my-db', { errorIfExists: true })
  print('failed', again instanceof level.errors.OpenError, again)

  const json = level('json', { valueEncoding: 'json', keyEncoding: 'json' })
  await json.put({ b: 1 }, { awesome: true })
  print('json', await json.get({ b: 1 }), await collect(() => json.createReadStream()))
  print('override', await json.get('{"b":1}', { keyEncoding: 'utf8', valueEncoding: 'hex' }))
  await json.close()
  const bytes = level('bytes', { valueEncoding: 'binary' })
  await bytes.put('example', Buffer.from([0, 255]))
  print('binary', await bytes.get('example'), await bytes.get('example', { valueEncoding: 'base64' }))
  await bytes.close()

  // The functions of leveldown.
  print('repair', await call(level, 'repair', 'my-db'), await call(level, 'destroy', 'json'))
  print('gone', await opened('json', { createIfMissing: false }))
  const repaired = level('my-db')
  print('repaired', await collect(() => repaired.createReadStream()))
  await repaired.close()
}

run(main)
