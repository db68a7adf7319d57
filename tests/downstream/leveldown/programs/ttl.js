// What level-ttl's README promises, by a clock that the program moves. The argument is the levelup to use.

const { mock } = require('node:test')
const { call, collect, print, run } = require('./support/print.js')

mock.timers.enable({ apis: ['setInterval', 'Date'], now: 1_000_000 })
const levelup = require(process.argv[2])
const ttl = require('level-ttl')
const encode = require('encoding-down')
const leveldown = require('leveldown')
const memdown = require('memdown')

const HOUR = 60 * 60 * 1000
const make = (location) => levelup(encode(leveldown(location)))

/** Waits until a key is gone. */
async function gone(db, key) {
  while (!((await call(db, 'get', key)) instanceof Error)) await new Promise(setImmediate)
  return `${key} is gone`
}

async function main() {
  const db = ttl(make('db'))
  await call(db, 'put', 'foo', 'bar', { ttl: HOUR })
  await call(
    db,
    'batch',
    [
      { type: 'put', key: 'bam', value: 'boom' },
      { type: 'put', key: 'long', value: '1' },
      { type: 'del', key: 'w00t' }
    ],
    { ttl: HOUR }
  )
  await call(db, 'put', 'stays', '1')
  print('entries', (await collect(() => db.createKeyStream())).length)
  mock.timers.tick(HOUR / 2)
  // A put renews it, and ttl() sets it for a key, even one that does not exist yet.
  await call(db, 'put', 'foo', 'again', { ttl: HOUR })
  await call(db, 'ttl', 'long', 5 * HOUR)
  await call(db, 'ttl', 'future', HOUR)
  mock.timers.tick(HOUR / 2 + 10_000)
  print(
    'expired',
    await gone(db, 'bam'),
    await call(db, 'get', 'foo'),
    await call(db, 'get', 'long'),
    await call(db, 'get', 'stays')
  )
  mock.timers.tick(HOUR)
  print('expired', await gone(db, 'foo'), await call(db, 'get', 'long'))
  print('left', (await collect(() => db.createKeyStream())).length)
  print('close', await call(db, 'close'))

  const meta = levelup(encode(memdown()))
  const other = ttl(make('other'), { sub: meta, checkFrequency: 1000, defaultTTL: 15 * 60 * 1000 })
  await call(
    other,
    'batch',
    [
      { type: 'put', key: 'foo', value: 'foovalue' },
      { type: 'put', key: 'bar', value: 'barvalue' }
    ],
    { ttl: 100 }
  )
  await call(other, 'put', 'default', '1')
  print('data', await collect(() => other.createReadStream()))
  print('meta', (await collect(() => meta.createReadStream())).length)
  mock.timers.tick(1000)
  print('expired', await gone(other, 'foo'), await gone(other, 'bar'), await call(other, 'get', 'default'))
  mock.timers.tick(15 * 60 * 1000)
  print('expired', await gone(other, 'default'))
  await new Promise((resolve) => other.stop(resolve))
  print('close', await call(other, 'close'), await call(meta, 'close'))
}

run(main)
