// The databases of secure-scuttlebutt. The first argument chooses: a log in flumelog-level, or an index in flumeview-level beside a
// log in a file.

const { call, print, run } = require('./support/print.js')

const { mkdirSync } = require('node:fs')
const { join } = require('node:path')
const codec = require('flumecodec')
const Flume = require('flumedb')
const LevelLog = require('flumelog-level')
const OffsetLog = require('flumelog-offset')
const Index = require('flumeview-level')
const Reduce = require('flumeview-reduce')

// flumelog-level prints every entry that it reads, with its time.
const { log: printLine } = console
console.log = (...args) => args[0] !== 'flumelog-level' && printLine(...args)

/** Everything that a source of pull-stream yields. */
function pulled(source) {
  return new Promise((resolve) => {
    const found = []
    const step = (end, data) => {
      if (end) return resolve(end === true ? found : [...found, end])
      found.push(data)
      source(null, step)
    }
    source(null, step)
  })
}

const messages = Array.from({ length: 200 }, (_, i) => ({
  author: ['ada', 'brian', 'grace'][i % 3],
  text: `message ${i}, größer, 値`,
  mentions: i > 0 ? [`message ${i >> 1}`] : []
}))

async function logInLevel() {
  mkdirSync('logs')
  const log = LevelLog(join('logs', 'log'))
  for (const message of messages.slice(0, 20)) await call(log, 'append', message)
  const values = (options) => pulled(log.stream(options))
  const all = await pulled(log.stream({ seqs: true, values: true }))
  print('log', all.length, all.map(({ value }) => value.text).slice(0, 3))
  print(
    'values',
    (await values({ seqs: false })).length,
    (await values({ seqs: false, reverse: true, limit: 1 }))[0]
  )
  const sequences = all.map(({ seq }) => seq)
  print(
    'in order',
    sequences.every((seq, i) => i === 0 || seq > sequences[i - 1]),
    log.since.value === sequences.at(-1)
  )
  print(
    'from the middle',
    await values({ seqs: false, gt: sequences[16] }),
    await values({ seqs: false, lt: sequences[1] })
  )
  print('get', await call(log, 'get', sequences[7]), (await call(log, 'get', 1)).message)
}

/** A log in a file, with an index by author and mention, and a count. */
const open = (version) =>
  Flume(OffsetLog(join('flume', 'log.offset'), { blockSize: 1024, codec: codec.json }))
    .use(
      'index',
      Index(version, ({ author, mentions }) => [
        ['author', author],
        ...mentions.map((one) => ['mention', one])
      ])
    )
    .use(
      'count',
      Reduce(1, (count, { author }) => ({ ...count, [author]: (count?.[author] ?? 0) + 1 }))
    )

async function indexBesideLog() {
  mkdirSync('flume')
  let db = open(1)
  for (const message of messages.slice(0, 100)) await call(db, 'append', message)
  print('batch', typeof (await call(db, 'append', messages.slice(100))))
  print('counts', await call(db.count, 'get', {}))
  print('by key', await call(db.index, 'get', ['mention', 'message 7']))
  print('none', (await call(db.index, 'get', ['mention', 'none'])).message)
  await ranges(db)
  print('closed', await call(db, 'close'))

  db = open(1)
  await ranges(db)
  await call(db, 'append', { author: 'ada', text: 'later', mentions: ['message 3'] })
  await ranges(db)
  print('closed', await call(db, 'close'))
  // Another version builds the index again.
  db = open(2)
  await ranges(db)
  print('closed', await call(db, 'close'))
}

async function ranges(db) {
  for (const options of [
    { gte: ['author', 'brian'], lte: ['author', 'brian', undefined], limit: 3 },
    { gt: ['author', null], lt: ['author', undefined], reverse: true, limit: 4 },
    { gt: ['mention', 'message 9'], lte: ['mention', undefined], keys: true, values: false, seqs: false },
    { keys: true, values: true, seqs: true, limit: 2 },
    { limit: -1, keys: false, values: false, seqs: true }
  ]) {
    print('range', options, await pulled(db.index.read({ ...options })))
  }
}

run({ log: logInLevel, index: indexBesideLog }[process.argv[2]])
