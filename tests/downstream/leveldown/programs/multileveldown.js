// What multileveldown's README promises. The arguments are the package, levelup and encoding-down.

const net = require('node:net')
const { call, collect, print, run } = require('./support/print.js')

const [, , name, levelupName, encodingName] = process.argv
const multileveldown = require(name)
const levelup = require(levelupName)
const encode = require(encodingName)
const leveldown = require('leveldown')

async function listening(db, options) {
  const connections = new Set()
  const server = net.createServer((connection) => {
    connections.add(connection)
    connection.on('error', () => connection.destroy())
    connection.pipe(multileveldown.server(db, options)).pipe(connection)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, connections, port: server.address().port }
}

function connected(port, client) {
  const connection = net.connect(port, '127.0.0.1')
  connection.on('error', () => connection.destroy())
  const remote = client.connect()
  connection.on('close', () => remote.destroy())
  connection.pipe(remote).pipe(connection)
  return connection
}

async function main() {
  const db = levelup(encode(leveldown('db')))
  const seen = []
  const hooks = {
    preput: (key, _, callback) => {
      seen.push(['put', String(key)])
      callback(null)
    },
    predel: (key, callback) => {
      seen.push(['del', String(key)])
      callback(null)
    },
    prebatch: (batch, callback) => {
      seen.push(['batch', batch.length])
      callback(null)
    }
  }
  const { server, connections, port } = await listening(db, hooks)
  const client = multileveldown.client({ retry: true, valueEncoding: 'json' })
  let connection = connected(port, client)
  print('put', await call(client, 'put', 'hello', { to: 'world' }), await call(client, 'get', 'hello'))
  print('not found', await call(client, 'get', 'none'))
  const ops = 'abcdef'.split('').map((key) => ({ type: 'put', key, value: [key] }))
  print(
    'batch',
    await call(client, 'batch', ops),
    await call(client, 'del', 'a'),
    await call(client.batch().put('z', 1).del('b'), 'write')
  )
  for (const options of [
    {},
    { gte: 'd' },
    { gt: 'c', lt: 'f', reverse: true },
    { limit: 2, values: false }
  ]) {
    print('stream', options, await collect(() => client.createReadStream(options)))
  }
  if (client.iterator) {
    const iterator = client.iterator()
    print('iterator', await call(iterator, 'next'), await call(iterator, 'end'))
  }
  if (client.getMany) print('getMany', await call(client, 'getMany', ['c', 'none']))
  if (client.clear)
    print('clear', await call(client, 'clear', { gte: 'e' }), await collect(() => client.createKeyStream()))
  print('hooks', seen)

  // What was asked without a connection is answered once there is one.
  const lost = new Promise((resolve) => connection.once('close', resolve))
  for (const each of connections) each.destroy()
  await lost
  const waiting = Promise.all([
    call(client, 'put', 'later', 1),
    call(client, 'get', 'hello'),
    collect(() => client.createKeyStream({ lte: 'd' }))
  ])
  connection = connected(port, client)
  print('reconnected', await waiting)

  const readonly = await listening(db, { readonly: true })
  const reader = multileveldown.client()
  const other = connected(readonly.port, reader)
  print('readonly', await call(reader, 'get', 'hello'), await call(reader, 'put', 'a', 'b'))
  for (const each of [connection, other]) each.destroy()
  for (const each of [server, readonly.server]) each.close()
  print('close', await call(db, 'close'))
}

run(main)
