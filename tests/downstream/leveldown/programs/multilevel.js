// What multilevel's README promises. The arguments are the module and the levelup to use.

const net = require('node:net')
const { call, collect, print, run } = require('./support/print.js')

const [, , name, levelupName] = process.argv
const multilevel = require(name)
const levelup = require(levelupName)
const sublevel = require('level-sublevel')
const leveldown = require('leveldown-basho')

async function main() {
  const db = sublevel(levelup('db', { db: leveldown }))
  const books = db.sublevel('books', { valueEncoding: 'json' })
  await call(books, 'put', 'emma', { by: 'Austen' })
  db.methods = db.methods || {}
  db.methods.foo = { type: 'async' }
  db.foo = (callback) => callback(null, 'bar')
  multilevel.writeManifest(db, `${process.cwd()}/manifest.json`)

  const access = (user, _, method) => {
    if (user?.name !== 'root' && /^put|^del|^batch|write/i.test(method)) throw new Error('read-only access')
  }
  const auth = (user, callback) => {
    if (user.name === 'root' && user.pass === 'toor') callback(null, { name: 'root' })
    else callback(new Error('not authorized'))
  }
  const server = net.createServer((connection) => {
    connection.on('error', () => {})
    connection.pipe(multilevel.server(db, { auth, access })).pipe(connection)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))

  const client = multilevel.client(require(`${process.cwd()}/manifest.json`))
  const connection = net.connect(server.address().port, '127.0.0.1')
  connection.pipe(client.createRpcStream()).pipe(connection)
  const text = (error) => (error instanceof Error ? error.message : error)
  print('read-only', text(await call(client, 'put', 'foo', 'bar')))
  print('wrong', text(await call(client, 'auth', { name: 'root', pass: 'x' })))
  print('right', text(await call(client, 'auth', { name: 'root', pass: 'toor' })))
  print('put', text(await call(client, 'put', 'foo', 'bar')), await call(client, 'get', 'foo'))
  print('not found', await call(client, 'get', 'none').then(({ message, notFound }) => [message, notFound]))
  print(
    'batch',
    await call(client, 'batch', [
      { type: 'put', key: 'a', value: '1' },
      { type: 'del', key: 'foo' }
    ])
  )
  for (const options of [{}, { gte: 'a', limit: 1 }, { reverse: true }]) {
    const stream = client.createReadStream(options)
    const data = []
    await new Promise((resolve) => stream.on('data', (each) => data.push(each)).on('end', resolve))
    print('stream', options, data)
  }
  print(
    'binary',
    await call(client, 'put', 'b', Buffer.from([0, 255]), { valueEncoding: 'binary' }),
    await call(client, 'get', 'b', { valueEncoding: 'binary' })
  )
  print('method', await call(client, 'foo'))
  print('sublevel', await call(client.sublevel('books'), 'get', 'emma'))
  print('del', await call(client, 'del', 'a'), await collect(() => db.createReadStream()))
  print('signed out', text(await call(client, 'deauth')), text(await call(client, 'del', 'b')))
  connection.destroy()
  server.close()
  print('close', await call(db, 'close'))
}

run(main)
