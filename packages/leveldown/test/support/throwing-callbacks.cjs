// Throws in callbacks, and prints what becomes of it.

const leveldown = require('terrace-leveldown')

const db = leveldown(process.argv[2])
let iterator
const steps = [
  ['open', (done) => db.open(done)],
  ['put', (done) => db.put('a', '1', done)],
  ['sync put', (done) => db.put('a', '1', { sync: true }, done)],
  ['get', (done) => db.get('a', done)],
  [
    'next',
    (done) => {
      iterator = db.iterator()
      iterator.next(done)
    }
  ],
  ['end', (done) => iterator.end(done)],
  ['batch', (done) => db.batch().del('a').write(done)],
  ['clear', (done) => db.clear(done)],
  ['close', (done) => db.close(done)]
]

function step() {
  const [name, work] = steps.shift() ?? []
  work?.(() => {
    throw new Error(name)
  })
}

for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, ({ message }, origin) => {
    console.log(origin instanceof Promise ? event : origin, message)
    step()
  })
}
step()
