// What the READMEs of level-iterator-stream and level-write-stream promise. The argument is the first of them.

const { call, collect, print, run } = require('./support/print.js')

const iteratorStream = require(process.argv[2])
const writeStream = require('level-write-stream')
const levelup = require('levelup')
const encode = require('encoding-down')
const leveldown = require('leveldown')
const memdown = require('memdown')

async function main() {
  for (const db of [leveldown('db'), memdown()]) {
    await call(db, 'open')
    await call(
      db,
      'batch',
      ['a', 'b', 'c'].map((key) => ({ type: 'put', key, value: key.toUpperCase() }))
    )
    const strings = { keyAsBuffer: false, valueAsBuffer: false }
    print('entries', await collect(() => iteratorStream(db.iterator(strings))))
    print('buffers', await collect(() => iteratorStream(db.iterator())))
    print('keys', await collect(() => iteratorStream(db.iterator(strings), { values: false })))
    print(
      'values',
      await collect(() => iteratorStream(db.iterator({ ...strings, reverse: true }), { keys: false }))
    )

    const iterator = db.iterator(strings)
    const stream = iteratorStream(iterator)
    const closed = new Promise((resolve) => stream.once('close', resolve))
    const data = []
    stream.on('data', (each) => {
      data.push(each)
      if (data.length === 2) stream.destroy()
    })
    await closed
    print('until it was destroyed', data)
    print('ended with the stream', await call(iterator, 'next'))
    print('close', await call(db, 'close'))
  }

  const db = levelup(encode(leveldown('written'), { valueEncoding: 'json' }))
  const stream = writeStream(db)()
  // It has a listener for each write of a tick.
  stream.setMaxListeners(0)
  for (let i = 0; i < 100; i++) stream.write({ key: `key ${i}`, value: { i } })
  stream.end({ key: 'last', value: [true] })
  await new Promise((resolve, reject) => stream.on('finish', resolve).on('error', reject))
  print(
    'written',
    (await collect(() => db.createKeyStream())).length - 2,
    await db.get('key 42'),
    await db.get('last')
  )
  const failing = writeStream(db)()
  const failed = new Promise((resolve) => failing.on('error', resolve))
  failing.write({ key: null, value: 1 })
  print('failed', await failed)
  await db.close()
}

run(main)
