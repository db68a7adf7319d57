// What subleveldown's README promises. The arguments are the package and, for its database, levelup and encoding-down.

const { call, collect, print, run, thrown } = require('./support/print.js')

const [, , name, levelupName, encodingName] = process.argv
const sub = require(name)
const levelup = require(levelupName)
const encode = require(encodingName)
const leveldown = require('leveldown')
const memdown = require('memdown')

async function main() {
  await inside(levelup(encode(leveldown('db'))))
  await inside(levelup(encode(memdown())))
}

async function inside(db) {
  const example = sub(db, 'example')
  const nested = sub(example, 'nested')
  await call(example, 'put', 'hello', 'world')
  await call(nested, 'put', 'hi', 'welt')
  print('nested', await collect(() => nested.createReadStream()))
  print('own and nested', await collect(() => example.createReadStream()))
  print('all', await collect(() => db.createReadStream()))
  print(
    'get',
    await call(example, 'get', 'hello'),
    await call(nested, 'get', 'hi'),
    await call(nested, 'get', 'hello'),
    await call(db, 'get', 'hello')
  )

  const events = []
  for (const event of ['put', 'del', 'batch', 'clear']) {
    example.on(event, (...args) => events.push([event, ...args]))
    db.on(event, () => events.push(['parent', event]))
  }
  await call(example, 'batch', [
    { type: 'put', key: 'a', value: '1' },
    { type: 'put', key: 'b', value: '2' },
    { type: 'del', key: 'c' }
  ])
  await call(example.batch().put('d', '4').del('a'), 'write')
  print('del', await call(example, 'del', 'b'), await call(example, 'get', 'b'))
  print('events', events)

  const one = sub(db, 'one', { valueEncoding: 'json' })
  const two = sub(db, 'two', { keyEncoding: 'binary' })
  await call(one, 'put', 'k', { a: [1] })
  await call(two, 'put', Buffer.from([255]), 'high')
  await call(two, 'put', Buffer.from([0]), 'low')
  print('encodings', await call(one, 'get', 'k'), await collect(() => two.createReadStream()))
  for (const options of [
    { gt: 'a' },
    { gte: 'd', lte: 'h' },
    { lt: 'hello' },
    { reverse: true, limit: 1 },
    { gte: '', lt: '' },
    { values: false }
  ]) {
    print('range', options, await collect(() => example.createReadStream(options)))
  }
  if (nested.iterator) {
    const iterator = example.iterator()
    if (iterator.seek) iterator.seek('h')
    print('seek', await call(iterator, 'next'), await call(iterator, 'end'))
    const entries = []
    if (iterator[Symbol.asyncIterator]) for await (const entry of nested.iterator()) entries.push(entry)
    print('for await', entries)
  }
  if (example.getMany) print('getMany', await call(example, 'getMany', ['hello', 'none']))
  if (example.clear) {
    await call(example, 'clear', { gt: 'd', lt: 'i' })
    print('cleared', await collect(() => example.createKeyStream()))
    await call(example, 'clear')
    print(
      'cleared',
      await collect(() => example.createKeyStream()),
      await collect(() => nested.createKeyStream())
    )
  }

  const hooked = []
  const open = (callback) => {
    hooked.push('open')
    process.nextTick(callback)
  }
  const hook = sub(db, 'hook', { open })
  await call(hook, 'put', 'k', 'v')
  print('hook', hooked)
  await call(sub(db, 'dashed', { separator: '-' }), 'put', 'k', 'v')
  await call(sub(db), 'put', 'k', 'no name')
  print('bad separator', thrown(() => sub(db, 'dashed', { separator: '~' })) instanceof Error)
  print('all', await collect(() => db.createReadStream()))
  await call(example, 'close')
  print('closed', example.isOpen(), db.isOpen())
  await call(db, 'close')
}

run(main)
