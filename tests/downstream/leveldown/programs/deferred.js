// What deferred-leveldown's README promises. The argument is the package.

const { call, print, run, thrown } = require('./support/print.js')

const Deferred = require(process.argv[2])
const leveldown = require('leveldown')
const memdown = require('memdown')

async function main() {
  for (const inner of [leveldown('location'), memdown()]) {
    const db = new Deferred(inner)
    const order = []
    const opened = call(db, 'open').then((error) => order.push(['open', error]))
    const step = (name, ...args) => call(db, name, ...args).then((value) => order.push([name, value]))
    const text = { asBuffer: false }
    await Promise.all([
      opened,
      step('put', 'foo', 'bar').then(() => step('get', 'foo', text)),
      step('del', 'none'),
      step('get', 'none'),
      step('batch', [{ type: 'put', key: 'a', value: '1' }]).then(() => step('get', 'a', text)),
      call(db.batch().put('b', '2').del('c'), 'write').then((value) => order.push(['chained', value])),
      ...(db.getMany ? [step('getMany', ['none', 'nothing'], text)] : [])
    ])
    // Callbacks come when the database is ready, so their order is not compared.
    print(
      'done',
      order.map((each) => each).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
    )
    print('status', db.status, await call(db, 'get', 'b', text))

    const iterator = db.iterator({ keyAsBuffer: false, valueAsBuffer: false })
    print('iterator', await call(iterator, 'next'), await call(iterator, 'next'), await call(iterator, 'end'))
    if (db.clear) print('clear', await call(db, 'clear', { lt: 'b' }), await call(db, 'get', 'a'))
    if (db.approximateSize)
      print(
        'approximateSize',
        typeof (await call(db, 'approximateSize', 'a', 'z')),
        thrown(() => db.approximateSize('a'))
      )
    if (db.compactRange) print('compactRange', await call(db, 'compactRange', 'a', 'z'))
    print('supports', db.supports)
    print('close', await call(db, 'close'), db.status)
  }
}

run(main)
