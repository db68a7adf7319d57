// What level-sublevel's README promises. The arguments are the package and the levelup to use.

const { call, collect, print, run } = require('./support/print.js')

const [, , name, levelupName] = process.argv
const sublevel = require(name)
const levelup = require(levelupName)
const leveldown = require('leveldown-hyper')
const isOld = require(`${name}/package.json`).version.startsWith('5.')

async function main() {
  const db = sublevel(levelup('db', { db: leveldown }))
  const stuff = db.sublevel('stuff')
  await call(db, 'put', 'key', 'outer')
  await call(stuff, 'put', 'key', 'inner')
  print(
    'apart',
    await call(db, 'get', 'key'),
    await call(stuff, 'get', 'key'),
    await call(stuff, 'get', 'none')
  )
  const deep = stuff.sublevel('deep', { valueEncoding: 'json' })
  await call(deep, 'put', 'key', { a: 1 })
  await call(deep, 'put', 'other', [2])
  print(
    'nested',
    await call(deep, 'get', 'key'),
    await collect(() => deep.createReadStream()),
    await collect(() => stuff.createReadStream())
  )

  const sequence = db.sublevel('SEQ')
  let count = 0
  const remove = db.pre((change, add) => {
    add({ key: String(count++), value: String(change.key), type: 'put', prefix: sequence })
  })
  await call(db, 'put', 'one', 'VALUE')
  await call(db, 'batch', [
    { type: 'put', key: 'two', value: '2' },
    { type: 'del', key: 'key' }
  ])
  print('hook', await collect(() => sequence.createReadStream()))
  remove()
  await call(db, 'put', 'three', '3')
  print('without the hook', (await collect(() => sequence.createKeyStream())).length)

  const seen = []
  db.post((change) => seen.push(change.type, change.key))
  await call(db, 'put', 'four', '4')
  await call(db, 'del', 'four')
  print('post', seen)

  const one = db.sublevel('SUB_1')
  const two = db.sublevel('SUB_2')
  await call(one, 'batch', [
    { key: 'key', value: 'Value', type: 'put' },
    { key: 'key', value: 'Value', type: 'put', prefix: two },
    { key: 'b', value: 'B', type: 'put' },
    { key: 'c', value: 'C', type: 'put' }
  ])
  print('batch', await collect(() => one.createReadStream()), await collect(() => two.createReadStream()))
  const ranges = isOld
    ? [{}, { reverse: true }]
    : [
        {},
        { gte: 'b', lt: 'key' },
        { gt: 'b' },
        { reverse: true, limit: 1 },
        { start: 'b', end: 'c' },
        { min: 'b', max: 'c' },
        { limit: 0 }
      ]
  for (const options of ranges) {
    print('range', options, await collect(() => one.createReadStream(options)))
    print(
      'range',
      options,
      await collect(() => one.createKeyStream(options)),
      await collect(() => one.createValueStream(options))
    )
  }
  print('all', await collect(() => db.createReadStream()))
  print('null', await call(one, 'put', null, 'x'), await call(one, 'get', null))
  print('close', await call(db, 'close'))
}

run(main)
