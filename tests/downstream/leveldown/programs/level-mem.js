// What level-mem's README promises: nothing is kept, and it is `level` otherwise. The first argument is the package.

const { call, collect, print, run } = require('./support/print.js')

const level = require(process.argv[2])

async function main() {
  const db = level()
  await db.put('name', 'Level')
  print('value', await db.get('name'), await call(db, 'get', 'none'))
  const other = level({ valueEncoding: 'json', keyEncoding: 'binary' })
  print('apart', await call(other, 'get', 'name'))
  await other.put(Buffer.from([255]), { b: 1 })
  await other.put(Buffer.from([0, 1]), [null])
  await other.put(Buffer.from([0]), 'text')
  print('order', await collect(() => other.createReadStream()))
  print(
    'text',
    await collect(() => other.createReadStream({ valueEncoding: 'utf8', keyEncoding: 'hex', reverse: true }))
  )

  const stream = db.createReadStream()
  await db.put('later', '1')
  print('snapshot', await collect(stream))
  await db.batch([
    { type: 'put', key: 'b', value: '' },
    { type: 'del', key: 'later' },
    { type: 'put', key: 'ключ', value: '値' }
  ])
  await db.batch().put('a', '1').del('b').put('Z', '0').write()
  for (const options of [
    {},
    { gt: 'a' },
    { gte: 'a', limit: 1 },
    { lt: 'a' },
    { reverse: true },
    { gte: '', lte: '' },
    { gte: 'z' },
    { limit: 0 }
  ]) {
    print('read', options, await collect(() => db.createReadStream(options)))
  }
  if (db.getMany) print('getMany', await db.getMany(['a', 'none', 'Z']))
  if (db.clear) print('clear', await db.clear({ lt: 'b' }), await collect(() => db.createKeyStream()))
  if (db.iterator) {
    const iterator = db.iterator()
    if (iterator.seek) iterator.seek('o')
    print('seek', await call(iterator, 'next'), await call(iterator, 'end'))
  }
  print(
    'null',
    await call(db, 'put', null, 1),
    await call(db, 'put', 'k', null),
    await call(db, 'put', '', 'v')
  )
  print('status', db.isOpen(), db.status, db.supports?.permanence)
  await db.close()
  print('closed', await call(db, 'get', 'name'), db.isOpen())
  await db.open()
  print('opened again', await collect(() => db.createKeyStream()))
  await db.close()
  await other.close()
}

run(main)
