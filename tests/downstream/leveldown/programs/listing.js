var levelup = require('levelup')
  , leveldown = require('leveldown-basho')
  , db = levelup('/path/to/db', { db: leveldown })
// go to work on `db`

var log = []
;['opening', 'ready', 'open', 'put', 'del', 'batch', 'closing', 'closed'].forEach((name) => {
  db.on(name, (a, b) => {
    log.push(a === db ? [name] : b === undefined ? (a === undefined ? [name] : [name, a]) : [name, a, b])
  })
})

console.log(db.location, db.isOpen(), db.isClosed())

db.put('name', 'LevelUP', (err) => {
  if (err) return console.log('Ooops!', err)

  db.get('name', { fillCache: false }, (err, value) => {
    if (err) return console.log('Ooops!', err)
    console.log('name=' + value)
    refuse()
  })
})

function refuse() {
  db.get('nobody', (err, value) => {
    console.log(err.name, err.type, err.notFound, err.status, err.message, value)
    db.put(null, 'x', (err) => {
      console.log(err.name, err.message)
      db.put('x', undefined, (err) => {
        console.log(err ? err.name + ' ' + err.message : 'stored')
        db.del('x', batch)
      })
    })
  })
}

function batch() {
  var ops = [
    { type: 'del', key: 'father' },
    { type: 'put', key: 'name', value: 'Yuri Irsenovich Kim' },
    { type: 'put', key: 'dob', value: '16 February 1941' },
    { type: 'put', key: 'spouse', value: 'Kim Young-sook' },
    { type: 'put', key: 'occupation', value: 'Clown' }
  ]

  db.batch(ops, { sync: true }, (err) => {
    if (err) return console.log('Ooops!', err)
    console.log('Great success dear leader!')
    db.batch()
      .del('dob')
      .put('alias', 'dear leader')
      .clear()
      .del('occupation')
      .put('age', '70')
      .write((err) => {
        console.log('Done!', err)
        ranges([
          {},
          { gt: 'age', lt: 'spouse' },
          { gte: 'age', lte: 'spouse' },
          { gte: 'age', limit: 2 },
          { reverse: true, limit: 1 },
          { lt: 'name', reverse: true, fillCache: true },
          { keys: true, values: false, limit: 2 },
          { keys: false, values: true, limit: 2 },
          { limit: 0 },
          { start: 'b', end: 'o', limit: 5, fillCache: false },
          { start: 'o', end: 'b', reverse: true }
        ])
      })
  })
}

function ranges(all) {
  if (!all.length) return keys()
  var options = all.shift(),
    name = JSON.stringify(options)
  try {
    db.createReadStream(options)
      .on('data', (data) => {
        console.log(name, data.key || data, '=', data.value)
      })
      .on('error', (err) => {
        console.log(name, 'Oh my!', err.message)
      })
      .on('end', () => {
        console.log(name, 'Stream ended')
      })
      .on('close', () => {
        console.log(name, 'Stream closed')
        ranges(all)
      })
  } catch (err) {
    console.log(name, 'throws', err.message)
    ranges(all)
  }
}

function keys() {
  db.createKeyStream()
    .on('data', (data) => {
      console.log('key=', data)
    })
    .on('close', () => {
      db.createValueStream()
        .on('data', (data) => {
          console.log('value=', data)
        })
        .on('close', write)
    })
}

function write() {
  var ws = db.createWriteStream ? db.createWriteStream() : require('level-write-stream')(db)()
  ws.on('error', (err) => {
    console.log('Oh my!', err.message)
  })
  ws.on(db.createWriteStream ? 'close' : 'finish', () => {
    console.log('Stream closed')
    sizes()
  })
  ws.write({ key: 'son', value: 'Un' })
  // level-write-stream only puts.
  if (db.createWriteStream) ws.write({ type: 'del', key: 'age' })
  ws.write({ key: 'capital', value: 'Pyongyang' })
  ws.end()
}

function sizes() {
  db.db.approximateSize('a', 'z', (err, size) => {
    console.log('size', err, typeof size, size >= 0)
    db.close((err) => {
      console.log('closed', err, db.isOpen(), db.isClosed())
      try {
        db.get('name', (err) => {
          console.log('after close', err.name, err.message)
          done()
        })
      } catch (err) {
        console.log('after close, thrown', err.name, err.message)
        done()
      }
    })
  })
}

function done() {
  console.log(JSON.stringify(log))
}
