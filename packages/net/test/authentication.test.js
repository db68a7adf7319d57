// Who may connect: tokens, callbacks, tickets, origins, addresses, TLS.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { MemoryLevel } from 'memory-level'
import { NetLevel } from 'terrace-net'
import { createServer } from 'terrace-net/server'
import { WebSocket } from 'ws'
import { hasSocketFile } from '../../../tests/support/sockets.mjs'
import { until } from '../../../tests/support/waiting.mjs'
import { Tell } from '../dist/protocol/messages.js'
import { greetedClient } from './support/raw-client.js'
import { serve } from './support/served.js'
import { temporaryPath } from './support/temporary.js'

const SECRET = 'secret of ada'

const newDatabase = () => new MemoryLevel({ keyEncoding: 'buffer', valueEncoding: 'buffer' })

/** Serves until the test ends, and keeps the warnings. */
async function served(t, options) {
  const warnings = []
  const host = await serve({ onWarning: (warning) => warnings.push(warning), ...options })
  t.after(() => host.stop())
  return { ...host, warnings }
}

/** Why a client is refused: the cause of what `open()` rejects with. */
async function refusal(client) {
  const error = await client.open().then(
    () => assert.fail('the client was let in'),
    (reason) => reason
  )
  return error.cause ?? error
}

test('a token lets its user in, and no other token does', async (t) => {
  const { connect, warnings } = await served(t, { tokens: { [SECRET]: { name: 'ada' } } })
  const client = connect({ token: SECRET })
  await client.put('a', '1')
  assert.equal(client.user, 'ada')

  for (const token of [undefined, '', 'secret of ad', `${SECRET} `, 'x'.repeat(5000)]) {
    const error = await refusal(connect({ token }))
    assert.equal(error.code, 'NET_UNAUTHENTICATED')
    assert.ok(!error.message.includes(SECRET))
  }
  assert.equal(warnings.length, 5)
  for (const warning of warnings)
    assert.ok(!JSON.stringify([warning, warning.message, warning.stack]).includes('secret of'))
})

test('a function can give a token for each connection, and its failure is not a connection that stays open', async (t) => {
  const { connect, server } = await served(t, { tokens: { [SECRET]: { name: 'ada' } } })
  let calls = 0
  const client = connect({
    token: async () => {
      if (++calls === 1) throw new Error('no token today')
      return SECRET
    }
  })
  assert.match((await refusal(client)).message, /no token today/)
  await client.open()
  assert.equal(client.user, 'ada')
  await client.close()
  await server.close()
})

test('a callback decides, and its error is not sent', async (t) => {
  const { connect, warnings } = await served(t, {
    authenticate: (token) => {
      if (token === 'broken') throw new Error(`the directory of users is at ldap.internal`)
      return token === SECRET ? { name: 'ada' } : null
    }
  })
  await connect({ token: SECRET }).open()
  const refused = await refusal(connect({ token: 'other' }))
  assert.equal(refused.code, 'NET_UNAUTHENTICATED')
  const failed = await refusal(connect({ token: 'broken' }))
  assert.equal(failed.code, 'NET_UNAUTHENTICATED')
  assert.ok(!failed.message.includes('ldap'))
  assert.match(warnings.at(-1).cause.message, /ldap/)
})

test('a callback that returns false, true or no user lets nobody in', async (t) => {
  const answers = [false, true, undefined, 0, '', 'ada', {}, { name: 1 }]
  const { connect } = await served(t, { authenticate: (token) => answers[Number(token)] })
  for (const index of answers.keys()) {
    assert.equal((await refusal(connect({ token: String(index) }))).code, 'NET_UNAUTHENTICATED')
  }
})

test('a callback that returns permissions that make no sense lets nobody in, and does not tell which', async (t) => {
  const { connect } = await served(t, {
    authenticate: () => ({ name: 'ada', permissions: { keys: [{ allow: 'reed' }] } })
  })
  const error = await refusal(connect({ token: 'x' }))
  assert.equal(error.code, 'NET_UNAUTHENTICATED')
  assert.ok(!error.message.includes('reed'))
})

test('tokens of users that make no sense are refused when the server is made', () => {
  for (const user of [
    null,
    true,
    {},
    { name: 'a', permissions: {} },
    { name: 'a', permissions: { keys: [{}] } }
  ]) {
    assert.throws(() => createServer(newDatabase(), { tokens: { x: user } }), { code: 'NET_INVALID' })
  }
})

test('a ticket resumes the session of the same user, and of nobody else', async (t) => {
  const tokens = { a: { name: 'ada' }, b: { name: 'ben' } }
  const { address } = await served(t, { tokens })
  const ada = await greetedClient(address, { token: 'a' })
  const [, ticket] = ada.welcome
  await ada.close()

  const ben = await greetedClient(address, { token: 'b', ticket })
  assert.equal(ben.welcome[0], Tell.welcome)
  assert.equal(ben.welcome[2], false)
  const guess = await greetedClient(address, { token: 'a', ticket: Buffer.alloc(16) })
  assert.equal(guess.welcome[2], false)
  const short = await greetedClient(address, { token: 'a', ticket: ticket.subarray(0, 15) })
  assert.equal(short.welcome[2], false)
  const again = await greetedClient(address, { token: 'a', ticket })
  assert.equal(again.welcome[2], true)
  await Promise.all([ben, guess, short, again].map((client) => client.close()))
})

test('a ticket is worth nothing once the session has expired', async (t) => {
  const { address, server } = await served(t, { limits: { sessionMs: 1 } })
  const first = await greetedClient(address)
  const [, ticket] = first.welcome
  await first.close()
  await until(() => server.statistics().open.sessions === 0)
  const again = await greetedClient(address, { ticket })
  assert.equal(again.welcome[2], false)
  await again.close()
})

test('a user whose permissions were taken away does not keep them by a ticket', async (t) => {
  let permissions = { keys: 'all' }
  const { address, db } = await served(t, { authenticate: () => ({ name: 'ada', permissions }) })
  await db.put(Buffer.from('a'), Buffer.from('1'))
  const before = await greetedClient(address, { token: 'x' })
  const [, ticket] = before.welcome
  await before.close()

  permissions = { keys: [] }
  const after = await greetedClient(address, { token: 'x', ticket })
  assert.equal(after.welcome[2], false)
  const [kind, , code] = await after.ask(1, Buffer.from('a'), null)
  assert.deepEqual([kind, code], [Tell.failure, 'NET_DENIED'])
  await after.close()
})

test('a token in an address is refused, and no error has it', async (t) => {
  const server = createServer(newDatabase())
  t.after(() => server.close())
  for (const address of [
    'tcp://SECRETKEY@127.0.0.1:0',
    'TLS://ada:SECRETKEY@127.0.0.1:0',
    'tcp:SECRETKEY@127.0.0.1:0',
    'http://ada:se/SECRETKEY@127.0.0.1:0',
    'SECRETKEYtcp:?sig=SECRETKEY'
  ]) {
    const isRefused = ({ code, message }) =>
      code === 'NET_INVALID' && !message.includes('=SECRETKEY') && !message.includes('SECRETKEY@')
    await assert.rejects(server.listen(address), isRefused, address)
    assert.throws(() => new NetLevel(address), isRefused, address)
  }
  await assert.rejects(
    server.listen('ws://ada:SECRETKEY@127.0.0.1:0'),
    ({ message }) => !message.includes('SECRET')
  )
})

test('addresses that other machines reach need authentication, unless that is said', async () => {
  for (const address of ['tcp://0.0.0.0:0', 'ws://0.0.0.0:0', 'tcp://[::]:0', 'tls://192.0.2.1:0']) {
    const server = createServer(newDatabase())
    await assert.rejects(server.listen(address), { code: 'NET_INVALID' })
    assert.deepEqual(server.addresses, [])
    await server.close()
  }
  for (const options of [{ insecure: true }, { tokens: { x: { name: 'x' } } }]) {
    const server = createServer(newDatabase(), options)
    await server.listen('tcp://0.0.0.0:0')
    await server.close()
  }
})

test('a web page of any origin cannot use a database on loopback that asks for no token', async (t) => {
  const { address } = await served(t, { transport: 'ws', origins: ['http://localhost:3000'] })
  const open = (headers) =>
    new Promise((resolve) => {
      const socket = new WebSocket(address, { headers })
      socket.on('open', () => {
        socket.close()
        resolve('open')
      })
      socket.on('error', () => resolve('refused'))
    })
  assert.equal(await open({ origin: 'https://evil.example' }), 'refused')
  assert.equal(await open({ origin: 'null' }), 'refused')
  assert.equal(await open({ origin: 'http://localhost:3000' }), 'open')
  assert.equal(await open({}), 'open')
})

test('a socket can be used by its owner only, from the beginning', {
  skip: process.platform === 'win32' && 'no modes'
}, async (t) => {
  const before = process.umask(0)
  t.after(() => process.umask(before))
  const { address } = await served(t)
  assert.equal(statSync(address.slice('unix:'.length)).mode & 0o777, 0o600)
  assert.equal(process.umask(), 0)
})

test('a file that is no socket is not deleted to listen in its place', async () => {
  const path = temporaryPath('notes.txt')
  writeFileSync(path, 'notes')
  const server = createServer(newDatabase())
  await assert.rejects(server.listen(`unix:${path}`), { code: hasSocketFile ? 'EADDRINUSE' : 'EACCES' })
  assert.equal(readFileSync(path, 'utf8'), 'notes')
  await server.close()
})

test('a server does not listen in the place of one that lives', async (t) => {
  const { address } = await served(t)
  const second = createServer(newDatabase())
  await assert.rejects(second.listen(address), { code: 'EADDRINUSE' })
  await second.close()
})

test('a server listens in the place of one that has died', {
  skip: !hasSocketFile && 'a pipe is gone with its server'
}, async () => {
  const path = temporaryPath('socket')
  const program = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`
  assert.throws(() => execFileSync(process.execPath, ['-e', program], { stdio: 'ignore' }))
  assert.ok(existsSync(path))
  const next = createServer(newDatabase())
  await next.listen(`unix:${path}`)
  await next.close()
})

test('listening on a port that is in use fails, for WebSocket too', async (t) => {
  const { address } = await served(t, { transport: 'ws' })
  const server = createServer(newDatabase())
  await assert.rejects(server.listen(address), { code: 'EADDRINUSE' })
  await server.close()
})

test('TLS and wss serve with a certificate, which the client checks', async (t) => {
  const [key, cert] = ['key.pem', 'cert.pem'].map(temporaryPath)
  const made = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '2'
  ]
  const named = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  execFileSync('openssl', [...made, ...named, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  const ca = readFileSync(cert)

  const db = newDatabase()
  const server = createServer(db, {
    tls: { key: readFileSync(key), cert: ca },
    tokens: { [SECRET]: { name: 'ada' } }
  })
  t.after(() => server.close())
  for (const scheme of ['tls', 'wss']) {
    const address = await server.listen(`${scheme}://127.0.0.1:0`)
    const client = new NetLevel(address, { token: SECRET, tls: { ca } })
    const value = 'v'.repeat(3_000_000)
    await client.put('a', value)
    assert.equal(await client.get('a'), value)
    await client.close()

    const stranger = new NetLevel(address, { token: SECRET })
    assert.match((await refusal(stranger)).message, /self-signed|self signed|unable to verify/)
    const plain = new NetLevel(address.replace(/^tls/, 'tcp').replace(/^wss/, 'ws'), { token: SECRET })
    assert.equal((await refusal(plain)).code, 'NET_OFFLINE')
  }
})
