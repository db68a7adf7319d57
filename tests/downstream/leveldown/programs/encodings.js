// What encoding-down's README promises. The arguments are the package and the levelup to use.

const { call, collect, print, run } = require('./support/print.js')

const [, , name, levelupName] = process.argv
const encode = require(name)
const levelup = require(levelupName)
const leveldown = require('leveldown')
const memdown = require('memdown')

/** Numbers in order, as the README does it with lexicographic-integer. */
const number = {
  type: 'number',
  encode: (n) => n.toString(16).padStart(8, '0'),
  decode: (text) => Number.parseInt(text, 16),
  buffer: false
}

async function main() {
  await all(leveldown)
  await all(memdown)
}

async function all(store) {
  const make = (location, options) => levelup(encode(store(location), options))
  let count = 0
  const one = async (options, key, value, ...reads) => {
    const db = make(`db${++count}`, options)
    print('put', options, await call(db, 'put', key, value))
    print('get', await call(db, 'get', key))
    for (const [otherKey, otherOptions] of reads)
      print('get', otherOptions, await call(db, 'get', otherKey, otherOptions))
    print('stream', await collect(() => db.createReadStream()))
    print(
      'as bytes',
      await collect(() => db.createReadStream({ keyEncoding: 'binary', valueEncoding: 'binary' }))
    )
    await call(db, 'close')
  }
  await one(undefined, 'example', Buffer.from('encoding-down'))
  await one({ valueEncoding: 'json' }, 'example', { awesome: true }, ['example', { valueEncoding: 'utf8' }])
  await one({ valueEncoding: 'hex' }, 'example', Buffer.from([0, 255]))
  await one({ valueEncoding: 'binary' }, 'example', Buffer.from([0, 255]), [
    'example',
    { valueEncoding: 'base64' }
  ])
  await one({ keyEncoding: 'json' }, { awesome: true }, 'example')
  await one({ keyEncoding: 'binary' }, Buffer.from([0, 255]), 'example', ['00ff', { keyEncoding: 'hex' }])
  for (const encoding of ['utf8', 'hex', 'ascii', 'base64', 'ucs2', 'utf16le', 'binary', 'id', 'none']) {
    await one({ keyEncoding: encoding, valueEncoding: encoding }, 'abcd', 'abcd')
  }

  const db = make('numbers', { keyEncoding: number, valueEncoding: 'json' })
  for (const n of [2, 10, 255, 256, 1]) await call(db, 'put', n, { n })
  print('in order', await collect(() => db.createKeyStream()))
  print('range', await collect(() => db.createKeyStream({ gte: 2, lt: 256, reverse: true })))
  await call(db, 'batch', [
    { type: 'del', key: 2 },
    { type: 'put', key: 3, value: null },
    { type: 'put', key: '!', value: 'text', keyEncoding: 'utf8', valueEncoding: 'utf8' }
  ])
  await call(db.batch().put(5, [5]).del(10), 'write')
  print('after', await collect(() => db.createReadStream({ keyEncoding: 'utf8', valueEncoding: 'utf8' })))
  print('undefined', await call(db, 'put', 1, undefined), await call(db, 'put', null, 1))
  if (db.getMany) print('getMany', await call(db, 'getMany', [1, 2, 5]))
  if (db.clear)
    print(
      'clear',
      await call(db, 'clear', { gte: 5 }),
      await collect(() => db.createKeyStream({ keyEncoding: 'utf8' }))
    )
  if (db.iterator) {
    const iterator = db.iterator({ keyEncoding: number })
    if (iterator.seek) iterator.seek(1)
    print('seek', await call(iterator, 'next'), await call(iterator, 'end'))
  }
  await call(db, 'close')
}

run(main)
