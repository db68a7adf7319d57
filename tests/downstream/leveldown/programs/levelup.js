// What levelup's README promises, sentence by sentence. The first argument is the package, such as `levelup-1`.

const { existsSync, readdirSync, writeFileSync } = require('node:fs')
const { call, collect, print, run, thrown } = require('./support/print.js')

const name = process.argv[2]
const levelup = require(name)
const leveldown = require('leveldown')
const memdown = require('memdown')
const generation = Number(require(`${name}/package.json`).version.split('.')[0])

/** levelup encodes keys and values until 1. From 2 on encoding-down does. */
const encode =
  { 2: require('encoding-down-5'), 3: require('encoding-down-6') }[generation] ?? require('encoding-down')
const isOld = generation < 2

/** Opens a database as programs of that time do. `make(location, options, callback)`. */
function make(location, { keyEncoding, valueEncoding, ...options } = {}, callback) {
  if (isOld) return levelup(location, { db: leveldown, keyEncoding, valueEncoding, ...options }, callback)
  return levelup(encode(leveldown(location), { keyEncoding, valueEncoding }), options, callback)
}

const opened = (location, options) =>
  new Promise((resolve) => {
    make(location, options, (error, db) => resolve(error || db))
  })

async function main() {
  await opening()
  const db = make('./db', {
    cacheSize: 1024 * 1024,
    compression: true,
    writeBufferSize: 4 * 1024 * 1024,
    blockSize: 4096
  })
  const heard = listen(db)
  print('states', db.isOpen(), db.isClosed(), db.status)
  print(
    'deferred',
    await Promise.all([call(db, 'put', 'early', '1'), call(db, 'get', 'none')]),
    await call(db, 'get', 'early')
  )
  print('states', db.isOpen(), db.isClosed(), db.status)
  await values(db)
  await batches(db)
  await ranges(db)
  await destroyed(db)
  await encodings(db)
  if (!isOld) await later(db)
  await reopened(db, heard)
  await inMemory()
  await maintained()
}

async function opening() {
  print('createIfMissing', await opened('./none', { createIfMissing: false }))
  const db = await opened('./exists')
  print('callback has the database', typeof db.put, db.isOpen(), isOld && db.location)
  print('put', await call(db, 'put', 'key', 'kept'))
  print('locked', await opened('./exists').then(({ name, type }) => ({ name, type })))
  print('close', await call(db, 'close'))
  print('errorIfExists', await opened('./exists', { errorIfExists: true }))
  const again = await opened('./exists', { compression: false })
  print('kept', await call(again, 'get', 'key'))
  print('close', await call(again, 'close'))
  const errors = await new Promise((resolve) => {
    // levelup 2 and 3 throw it.
    process.once('uncaughtException', resolve)
    make('./none', { createIfMissing: false }).on('error', resolve)
  })
  process.removeAllListeners('uncaughtException')
  print('an error without a callback', errors)
}

function listen(db) {
  const heard = []
  for (const event of ['opening', 'open', 'ready', 'put', 'del', 'batch', 'clear', 'closing', 'closed']) {
    db.on(event, (...args) => heard.push([event, ...args.filter((each) => each !== db)]))
  }
  return heard
}

async function values(db) {
  print('put', await call(db, 'put', 'foo', 'bar'), await call(db, 'get', 'foo'))
  print(
    'sync',
    await call(db, 'put', 'foo', 'baz', { sync: true }),
    await call(db, 'get', 'foo', { fillCache: false })
  )
  print('not found', await call(db, 'get', 'missing'))
  print('del', await call(db, 'del', 'foo', { sync: true }), await call(db, 'get', 'foo'))
  print('del of nothing', await call(db, 'del', 'missing'))
  for (const key of [
    null,
    undefined,
    '',
    [],
    Buffer.alloc(0),
    0,
    false,
    NaN,
    { a: 1 },
    'ключ',
    Buffer.from([0, 255])
  ]) {
    print('key', key, await call(db, 'put', key, 'v'), await call(db, 'get', key))
    await call(db, 'del', key)
  }
  for (const value of [
    null,
    undefined,
    '',
    [],
    Buffer.alloc(0),
    0,
    false,
    NaN,
    { a: 1 },
    'Wert – 値',
    'x'.repeat(3)
  ]) {
    await call(db, 'del', 'v')
    print(
      'value',
      value,
      await call(db, 'put', 'v', value),
      await call(db, 'get', 'v'),
      await call(db, 'get', 'v', { asBuffer: false })
    )
  }
  await call(db, 'del', 'v')
  print('no callback', typeof thrown(() => db.put('quiet', '1')))
  // leveldown's threads may read before they have written.
  while ((await call(db, 'get', 'quiet')) instanceof Error) await new Promise(setImmediate)
  print('no callback', await call(db, 'get', 'quiet'))
  await call(db, 'del', 'quiet')
}

async function batches(db) {
  const ops = [
    { type: 'put', key: 'spouse', value: 'Kim Young-sook' },
    { type: 'put', key: 'name', value: 'Yuri' },
    { type: 'put', key: 'name', value: 'Yuri Irsenovich Kim' },
    { type: 'put', key: 'gone', value: 'soon' },
    { type: 'del', key: 'gone', value: 'ignored' }
  ]
  print('batch', await call(db, 'batch', ops), await call(db, 'get', 'name'), await call(db, 'get', 'gone'))
  print('empty batch', await call(db, 'batch', []))
  for (const op of [
    { type: 'put', key: null, value: 1 },
    { type: 'put', key: 'a', value: null },
    { type: 'del' },
    { type: 'foo', key: 'a', value: 'b' },
    null,
    {}
  ]) {
    const all = [{ type: 'put', key: 'atomic', value: '1' }, op]
    print('batch with', op, await call(db, 'batch', all), await call(db, 'get', 'atomic'))
    await call(db, 'del', 'atomic')
  }
  print('no array', await call(db, 'batch', 'foo'), await call(db, 'batch', null))

  const batch = db.batch()
  print('chained', batch.put('one', '1') === batch, batch.length)
  print('clear', batch.clear() === batch, batch.length)
  batch.put('two', '2').put('three', '3').del('one').del('two')
  print('length', batch.length, await call(batch, 'write'))
  print('written', await call(db, 'get', 'one'), await call(db, 'get', 'two'), await call(db, 'get', 'three'))
  for (const use of ['put', 'del', 'clear', 'write'])
    print(
      `${use} after write`,
      thrown(() => batch[use]('a', 'b'))
    )
  for (const args of [[], [null, 'v'], ['k'], ['k', null], ['k', undefined]])
    print(
      'chained put',
      args,
      thrown(() => db.batch().put(...args))
    )
  for (const args of [[], [null], [undefined]])
    print(
      'chained del',
      args,
      thrown(() => db.batch().del(...args))
    )
  print('nothing chained', await call(db.batch(), 'write'))
}

async function ranges(db) {
  const letters = 'abcdefgh'.split('')
  await call(
    db,
    'batch',
    letters.map((key) => ({ type: 'put', key, value: key.toUpperCase() }))
  )
  const options = [
    undefined,
    {},
    { gt: 'b', lt: 'e' },
    { gte: 'b', lte: 'e' },
    { gt: 'b', gte: 'd', lte: 'f' },
    { gte: 'bb', lt: 'dd' },
    { lt: 'c', reverse: true },
    { gte: 'c', limit: 3 },
    { gte: 'c', limit: 3, reverse: true },
    { limit: 0 },
    { limit: -1, lte: 'b' },
    { gt: 'z' },
    { gte: 'e', lte: 'b' },
    { gte: '', lte: '' },
    { lt: '' },
    { gte: null, lte: 'c' },
    { lte: undefined, gte: 'g' },
    { gte: Buffer.from('b'), lt: Buffer.from('d') },
    { fillCache: true, lte: 'a' },
    { highWaterMark: 1, lte: 'c' },
    { keys: false, lte: 'c' },
    { values: false, lte: 'c' },
    // Streams of levelup 0 never end if they emit nothing.
    ...(generation > 0 ? [{ keys: false, values: false, lte: 'c' }] : []),
    { start: 'b', end: 'd' },
    { start: 'd', end: 'b', reverse: true },
    { start: '', end: '' },
    { min: 'b', max: 'd' }
  ]
  for (const each of options) {
    print('read', each, await collect(() => db.createReadStream(each)))
    print('keys', each, await collect(() => db.createKeyStream(each)))
    print('values', each, await collect(() => db.createValueStream(each)))
  }
}

async function destroyed(db) {
  const stream = db.createReadStream()
  const seen = await new Promise((resolve) => {
    const data = []
    stream.on('data', (each) => {
      data.push(each)
      if (data.length === 2) stream.destroy()
    })
    stream.on('close', () => resolve(data))
  })
  print('destroyed', seen)

  // A stream is of what there was when it was made.
  const snapshot = db.createReadStream({ gte: 'a', lte: 'b', keyEncoding: 'utf8' })
  await call(db, 'put', 'aa', 'later')
  print('snapshot', await collect(snapshot))
  await call(db, 'del', 'aa')

  const paused = db.createKeyStream({ gte: 'a', lte: 'd' })
  paused.pause()
  const all = collect(paused)
  paused.resume()
  print('paused', await all)
}

async function encodings(db) {
  const bytes = Buffer.from([0, 1, 128, 255])
  for (const valueEncoding of [
    'utf8',
    'json',
    'hex',
    'base64',
    'binary',
    'ascii',
    'ucs2',
    'utf16le',
    'id',
    'none'
  ]) {
    const value =
      { json: { a: [1, null] }, hex: 'beef', base64: 'AAEC', binary: bytes }[valueEncoding] ?? 'text'
    const error = await call(db, 'put', 'encoded', value, { valueEncoding })
    print(
      valueEncoding,
      error,
      await call(db, 'get', 'encoded', { valueEncoding }),
      await call(db, 'get', 'encoded', { valueEncoding: 'binary' })
    )
  }
  print(
    'broken json',
    await call(db, 'put', 'encoded', '{', {}),
    await call(db, 'get', 'encoded', { valueEncoding: 'json' })
  )
  print(
    'in a stream',
    await collect(() => db.createReadStream({ gte: 'encoded', lte: 'encoded', valueEncoding: 'json' }))
  )
  print(
    'keys',
    await call(db, 'put', { b: 1 }, '1', { keyEncoding: 'json' }),
    await call(db, 'get', '{"b":1}')
  )
  print(
    'keys',
    await call(db, 'put', '00ff', '1', { keyEncoding: 'hex' }),
    await call(db, 'get', Buffer.from([0, 255]), { keyEncoding: 'binary' })
  )
  const per = [
    {
      type: 'put',
      key: Buffer.from([1, 2, 3]),
      value: { some: 'json' },
      keyEncoding: 'binary',
      valueEncoding: 'json'
    },
    { type: 'put', key: 'plain', value: 'text' }
  ]
  print(
    'per operation',
    await call(db, 'batch', per),
    await call(db, 'get', '010203', { keyEncoding: 'hex', valueEncoding: 'json' })
  )
  print(
    'range of json keys',
    await collect(() => db.createReadStream({ gte: { b: 0 }, lte: { b: 2 }, keyEncoding: 'json' }))
  )
  await call(
    db,
    'batch',
    ['encoded', '{"b":1}', 'plain'].map((key) => ({ type: 'del', key }))
  )

  const json = await opened('./json', { valueEncoding: 'json', keyEncoding: 'json' })
  print('json', await call(json, 'put', [1, 'a'], { x: 1 }), await call(json, 'get', [1, 'a']))
  print('json', await collect(() => json.createReadStream()))
  const chained = json.batch().put([2], [2]).put('utf', '8', { keyEncoding: 'utf8', valueEncoding: 'utf8' })
  print(
    'json',
    await call(chained, 'write'),
    await collect(() => json.createReadStream({ keyEncoding: 'utf8', valueEncoding: 'utf8' }))
  )
  await call(json, 'close')
}

/** What came with 2 and after. */
async function later(db) {
  /** What a call without a callback becomes. levelup 2 and 3 throw instead of rejecting. */
  const settled = async (method, ...args) => {
    let promise
    try {
      promise = db[method](...args)
    } catch (error) {
      return ['thrown', error]
    }
    return promise.then(
      (value) => ['resolved', value],
      (error) => ['rejected', error]
    )
  }
  print('promises', await settled('put', 'p', 'q'), await settled('get', 'p'), await settled('get', 'none'))
  print(
    'promises',
    await settled('batch', [{ type: 'del', key: 'p' }]),
    await db.batch().put('p', 'r').write(),
    await settled('del', 'p')
  )
  print('promises', await settled('put', null, 'q'), await settled('batch', [{}]))
  print(
    'has',
    typeof db.clear,
    typeof db.getMany,
    typeof db.iterator,
    typeof db.isOperational,
    typeof db.supports
  )
  if (db.supports) print('supports', db.supports)
  if (db.isOperational) print('operational', db.isOperational(), db.status)
  if (db.getMany) {
    print(
      'getMany',
      await settled('getMany', ['a', 'none', 'b']),
      await call(db, 'getMany', ['c']),
      await settled('getMany', [])
    )
    print(
      'getMany',
      await settled('getMany', ['a', null]),
      await settled('getMany', 'a'),
      await settled('getMany', ['a'], { valueEncoding: 'hex' })
    )
  }
  if (db.clear) {
    for (const options of [
      { gte: 'g' },
      { lte: 'b', limit: 1 },
      { gte: 'c', lte: 'f', reverse: true, limit: 2 },
      { gt: 'x', lt: 'a' }
    ]) {
      print(
        'clear',
        options,
        await call(db, 'clear', options),
        await collect(() => db.createKeyStream({ gte: 'a', lte: 'h' }))
      )
    }
    print(
      'clear of legacy options',
      thrown(() => db.clear({ start: 'a' }, () => {}))
    )
  }
  if (db.iterator) await iterators(db)
}

async function iterators(db) {
  const iterator = db.iterator({ gte: 'a', lte: 'h' })
  print('next', await call(iterator, 'next'), typeof iterator.seek)
  if (iterator.seek) {
    iterator.seek('d')
    print('seek', await call(iterator, 'next'))
    iterator.seek('zz')
    print('seek', await call(iterator, 'next'))
  }
  print('end', await call(iterator, 'end'), await call(iterator, 'next'), await call(iterator, 'end'))
  if (!iterator[Symbol.asyncIterator]) return
  const entries = []
  for await (const entry of db.iterator({ gte: 'a', lte: 'h' })) entries.push(entry)
  print('for await', entries)
  for await (const entry of db.iterator({ gte: 'a', values: false })) {
    print('break', entry)
    break
  }
}

async function reopened(db, heard) {
  print('close', await call(db, 'close'), db.isOpen(), db.isClosed(), db.status)
  print('close again', await call(db, 'close'))
  for (const [method, ...args] of [
    ['get', 'a'],
    ['put', 'a', 'b'],
    ['del', 'a'],
    ['batch', [{ type: 'put', key: 'a', value: '1' }]]
  ]) {
    print(`${method} after close`, await call(db, method, ...args))
  }
  print(
    'stream after close',
    isOld ? thrown(() => db.createReadStream()) : thrown(() => db.createReadStream().on('error', () => {}))
  )
  print(
    'open',
    await call(db, 'open').then((value) => (value === db || value === undefined ? 'open' : value)),
    db.isOpen()
  )
  print('still there', await call(db, 'get', 'name'))
  print('close', await call(db, 'close'))
  print('heard', heard)
}

async function inMemory() {
  const db = isOld ? levelup({ db: memdown }) : levelup(encode(memdown()))
  print('memory', await call(db, 'put', 'a', '1'), await call(db, 'get', 'a'), await call(db, 'get', 'b'))
  print(
    'memory',
    await call(db, 'batch', [{ type: 'put', key: 'b', value: '2' }]),
    await collect(() => db.createReadStream({ reverse: true }))
  )
  const other = isOld ? levelup(memdown) : levelup(encode(memdown()))
  print('another one', await call(other, 'get', 'a'))
  print('close', await call(db, 'close'), await call(other, 'close'))
}

async function maintained() {
  const db = await opened('./size')
  const filler = 'x'.repeat(1000)
  for (let i = 0; i < 10; i++) {
    await call(
      db,
      'batch',
      Array.from({ length: 100 }, (_, j) => ({
        type: 'put',
        key: `key ${i}${String(j).padStart(2, '0')}`,
        value: filler
      }))
    )
  }
  // encoding-down and deferred-leveldown stand in front of leveldown.
  let inner = db.db
  while (typeof inner.getProperty !== 'function') inner = inner.db ?? inner._db
  print('approximateSize', typeof (await call(inner, 'approximateSize', 'a', 'z')))
  print(
    'getProperty',
    typeof inner.getProperty('leveldb.stats'),
    inner.getProperty('leveldb.num-files-at-level0').match(/^\d+$/) !== null,
    inner.getProperty('foo')
  )
  if (inner.compactRange) print('compactRange', await call(inner, 'compactRange', 'a', 'z'))
  const size = await call(inner, 'approximateSize', 'key 0', 'key 9')
  print('some size', size > 0, await call(inner, 'approximateSize', 'a', 'b'))
  print('close', await call(db, 'close'))
  print('repair', await call(leveldown, 'repair', './size'))
  const again = await opened('./size')
  print('after repair', (await collect(() => again.createKeyStream())).length)
  print('close', await call(again, 'close'))

  // Not the repaired one: leveldown leaves its directory `lost`.
  await call(await opened('./gone'), 'close')
  print('destroy', await call(leveldown, 'destroy', './gone'), existsSync('./gone'))
  await call(await opened('./mixed'), 'close')
  writeFileSync('./mixed/notes.txt', 'not of the database')
  print('destroy beside other files', await call(leveldown, 'destroy', './mixed'), readdirSync('./mixed'))
  print('destroy of nothing', await call(leveldown, 'destroy', './gone'))
}

run(main)
