// The program terrace-serve, as users run it.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Level } from 'terrace'
import { NetLevel } from 'terrace-net'
import { isShort, someOf } from '../../../tests/support/form.mjs'
import { hasSocketFile, socketIn } from '../../../tests/support/sockets.mjs'
import { HANG_MS } from '../../../tests/support/waiting.mjs'
import { sharedAddress } from '../dist/transport/socket-path.js'
import { directory, program, run, start } from './support/program.js'

const bounded = { timeout: HANG_MS }
const isWindows = process.platform === 'win32'
const withModes = { ...bounded, skip: isWindows && 'files have no modes' }
const withSignals = { ...bounded, skip: isWindows && 'a signal ends a program at once, whatever it does' }
const withSocketFiles = { ...bounded, skip: !hasSocketFile && 'the path of a pipe may be long' }

/**
 * Ends the program with a signal. On Windows, this leaves it no time to do anything, such as setting an exit
 * code.
 */
async function end(serving, signal) {
  serving.signal(signal)
  assert.equal(await serving.closed, isWindows ? null : 0)
}

/** Makes a database with these entries, and returns its directory. */
async function databaseWith(t, entries = {}) {
  const location = join(directory(t), 'db')
  const db = new Level(location)
  await db.batch(Object.entries(entries).map(([key, value]) => ({ type: 'put', key, value })))
  await db.close()
  return location
}

function client(t, address, options) {
  const db = new NetLevel(address, options)
  t.after(() => db.close())
  return db
}

/** Writes users to a file that only its owner can read. */
function tokenFile(t, users, mode = 0o600) {
  const file = join(directory(t), 'users.json')
  writeFileSync(file, typeof users === 'string' ? users : JSON.stringify(users))
  chmodSync(file, mode)
  return file
}

test(
  'without options it serves a database on a socket in its directory, for its user only',
  bounded,
  async (t) => {
    const location = await databaseWith(t, { a: '1' })
    const serving = start(t, [location])
    const [address] = await serving.ready()
    assert.equal(serving.output.out, `listening ${address}\n`)
    const socket = join(location, 'terrace.sock')
    assert.equal(address, hasSocketFile ? `unix:${socket}` : sharedAddress(location))
    if (hasSocketFile) assert.equal(statSync(socket).mode & 0o777, 0o600)

    const db = client(t, address)
    assert.equal(await db.get('a'), '1')
    await db.put('b', '2')
    await db.close()
    await end(serving, 'SIGTERM')
    assert.equal(existsSync(socket), false)

    const again = new Level(location)
    assert.deepEqual(await again.iterator().all(), [
      ['a', '1'],
      ['b', '2']
    ])
    await again.close()
  }
)

test('a wrong path creates no database, unless that is asked for', bounded, async (t) => {
  const location = join(directory(t), 'missing')
  const { code, err, out } = await run(t, [location])
  assert.equal(code, 1)
  assert.match(err, /no database.*--create/)
  assert.equal(out, '')
  assert.equal(existsSync(location), false)

  const serving = start(t, [location, '--create'])
  const [address] = await serving.ready()
  const db = client(t, address)
  await db.put('a', '1')
  assert.equal(await db.get('a'), '1')
})

test('it listens on each address that it is given, and prints each', bounded, async (t) => {
  const location = await databaseWith(t, { a: '1' })
  const socket = socketIn(directory(t), 'here')
  const listen = [`unix:${socket}`, 'tcp://127.0.0.1:0', 'ws://127.0.0.1:0/db'].flatMap((each) => [
    '--listen',
    each
  ])
  const serving = start(t, [location, ...listen])
  const addresses = await serving.ready(3)
  assert.match(addresses.join(' '), /^unix:\S+ tcp:\/\/127\.0\.0\.1:\d+ ws:\/\/127\.0\.0\.1:\d+\/db$/)
  assert.equal(existsSync(join(location, 'terrace.sock')), false)
  for (const address of addresses) assert.equal(await client(t, address).get('a'), '1')
})

test('users of a token file may do what it says, and a refused token is not logged', bounded, async (t) => {
  const location = await databaseWith(t, { a: '1' })
  const file = tokenFile(t, {
    'token of ada': { name: 'ada' },
    'token of bob': { name: 'bob', permissions: { keys: [{ allow: 'read', gte: 'a', lt: 'b' }] } }
  })
  const serving = start(t, [location, '--token-file', file])
  const [address] = await serving.ready()

  const ada = client(t, address, { token: 'token of ada' })
  await ada.put('b', '2')
  const bob = client(t, address, { token: 'token of bob' })
  assert.equal(await bob.get('a'), '1')
  await assert.rejects(bob.get('b'), { code: 'NET_DENIED' })
  await assert.rejects(bob.put('a', '3'), { code: 'NET_DENIED' })

  await assert.rejects(client(t, address).open(), ({ cause }) => cause.code === 'NET_UNAUTHENTICATED')
  const guess = 'a guess that must stay secret'
  await assert.rejects(
    client(t, address, { token: guess }).open(),
    ({ cause }) => cause.code === 'NET_UNAUTHENTICATED'
  )
  await serving.says('does not accept')
  assert.match(
    serving.output.err,
    /^terrace-serve: refused a local socket on unix:\S+: .*\(NET_UNAUTHENTICATED\)$/m
  )
  assert.doesNotMatch(serving.output.err, /guess|token of/)
})

test('a token file that others can read is refused', withModes, async (t) => {
  const location = await databaseWith(t)
  for (const mode of someOf([0o644, 0o640, 0o602])) {
    const file = tokenFile(t, { secret: { name: 'ada' } }, mode)
    const { code, err } = await run(t, [location, '--token-file', file])
    assert.equal(code, 2)
    assert.ok(err.includes(`chmod 600 ${file}`), err)
  }
})

test('a token file that makes no sense is refused without a word of its text', bounded, async (t) => {
  const location = await databaseWith(t)
  const wrong = [
    ['{ "hidden', /not valid JSON/],
    ['["hidden"]', /must hold an object/],
    ['{}', /no users/],
    [{ '': { name: 'hidden' } }, /user 1: the token is empty/],
    [{ hidden: 'ada' }, /user 1 must be an object/],
    [{ hidden: {} }, /user 1 needs 'name'/],
    [{ hidden: { name: 'ada', permission: {} } }, /'permission', which is none of name, permissions/],
    [
      { hidden: { name: 'ada', permissions: { keys: [{ allow: 'fly' }] } } },
      /allow must be 'all', or some of read/
    ],
    [{ hidden: { name: 'ada', permissions: { keys: 'some' } } }, /keys must be/]
  ]
  for (const [users, expected] of someOf(wrong)) {
    const { code, err, out } = await run(t, [location, '--token-file', tokenFile(t, users)])
    assert.equal(code, 2, err)
    assert.match(err, expected)
    assert.doesNotMatch(err, /hidden|at .*\.js/)
    assert.equal(out, '')
  }
  const { code, err } = await run(t, [location, '--token-file', join(location, 'none')])
  assert.equal(code, 2)
  assert.match(err, /ENOENT/)
})

test(
  'it does not listen for other machines without tokens, unless told that this is insecure',
  bounded,
  async (t) => {
    const location = await databaseWith(t, { a: '1' })
    for (const options of [[], ['--read-only']]) {
      const { code, err } = await run(t, [location, '--listen', 'tcp://0.0.0.0:0', ...options])
      assert.equal(code, 2)
      assert.match(err, /--token-file.*--insecure/)
    }
    const serving = start(t, [location, '--listen', 'tcp://0.0.0.0:0', '--insecure'])
    const [address] = await serving.ready()
    assert.equal(await client(t, address.replace('0.0.0.0', '127.0.0.1')).get('a'), '1')
  }
)

test('it serves a sublevel, named by its path', bounded, async (t) => {
  const location = await databaseWith(t, { '!a!!b!key': 'inside', key: 'outside' })
  const serving = start(t, [location, '--sublevel', 'a', '--sublevel', 'b'])
  const [address] = await serving.ready()
  assert.deepEqual(await client(t, address).iterator().all(), [['key', 'inside']])
})

test('with --read-only nobody writes, whatever the token file says', bounded, async (t) => {
  const location = await databaseWith(t, { a: '1' })
  const file = tokenFile(t, {
    all: { name: 'ada' },
    some: { name: 'bob', permissions: { keys: [{ allow: ['read', 'write'], lt: 'b' }], methods: 'all' } }
  })
  for (const [args, token] of [[[]], [['--token-file', file], 'all'], [['--token-file', file], 'some']]) {
    const serving = start(t, [location, '--read-only', ...args])
    const [address] = await serving.ready()
    const db = client(t, address, { token })
    assert.equal(await db.get('a'), '1')
    await assert.rejects(db.put('a', '2'), { code: 'NET_DENIED' })
    await assert.rejects(db.del('a'), { code: 'NET_DENIED' })
    await assert.rejects(db.clear(), { code: 'NET_DENIED' })
    if (token === 'some') await assert.rejects(db.get('c'), { code: 'NET_DENIED' })
    await db.close()
    await end(serving, 'SIGINT')
  }
})

test('it shows statistics where it is told to', bounded, async (t) => {
  const location = await databaseWith(t, { a: '1' })
  const serving = start(t, [location, '--metrics', '127.0.0.1:0'])
  const [address, metrics] = await serving.ready(2)
  assert.match(serving.output.out, /^listening unix:.*\nmetrics http:\/\/127\.0\.0\.1:\d+\/metrics\n$/)
  await client(t, address).get('a')
  assert.match(
    await (await fetch(metrics)).text(),
    /^terrace_net_request_duration_seconds_count\{request="get"\} 1$/m
  )
  const { requests } = await (await fetch(`${metrics}.json`)).json()
  assert.equal(requests.get.count, 1)

  const { code, err } = await run(t, [await databaseWith(t), '--metrics', '0.0.0.0:0'])
  assert.equal(code, 1)
  assert.match(err, /0\.0\.0\.0 can be reached/)
})

test('it speaks TLS with a certificate', bounded, async (t) => {
  const where = directory(t)
  const [key, cert] = [join(where, 'key.pem'), join(where, 'cert.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  const make = [
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
  execFileSync('openssl', [...make, ...subject, '-keyout', key, '-out', cert], { stdio: 'pipe' })

  const location = await databaseWith(t, { a: '1' })
  const serving = start(t, [location, '--listen', 'tls://localhost:0', '--tls-cert', cert, '--tls-key', key])
  const [address] = await serving.ready()
  assert.equal(await client(t, address, { tls: { ca: readFileSync(cert) } }).get('a'), '1')
  await assert.rejects(client(t, address).open(), ({ cause }) => /certificate/.test(cause.message))

  const missing = await run(t, [location, '--listen', 'tls://localhost:0'])
  assert.equal(missing.code, 2)
  assert.match(missing.err, /--tls-cert and --tls-key/)
})

test(
  'a signal lets acknowledged writes reach the database, and requests that came be answered',
  withSignals,
  async (t) => {
    const location = await databaseWith(t)
    const serving = start(t, [location])
    const [address] = await serving.ready()
    const db = client(t, address, { offlineTimeoutMs: 50 })
    const acknowledged = []
    const writes = Array.from({ length: 500 }, (_, i) =>
      db.put(`key ${i}`, 'x'.repeat(1000)).then(
        () => acknowledged.push(`key ${i}`),
        () => {}
      )
    )
    await Promise.race(writes)
    serving.signal('SIGTERM')
    await Promise.all(writes)
    assert.equal(await serving.closed, 0)

    assert.ok(acknowledged.length > 0)
    const again = new Level(location)
    const stored = await again.getMany(acknowledged)
    await again.close()
    assert.ok(
      stored.every((value) => value?.length === 1000),
      'an acknowledged write is missing'
    )
  }
)

test('a second signal ends it at once', withSignals, async (t) => {
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130]
  ]) {
    const serving = start(t, [await databaseWith(t)])
    const [address] = await serving.ready()
    // This peer never closes its side, and the server waits for that.
    const stubborn = connect({ path: address.slice('unix:'.length), allowHalfOpen: true })
    t.after(() => stubborn.destroy())
    stubborn.on('error', () => {})
    await once(stubborn, 'connect')
    serving.signal(signal)
    await serving.says('finishing')
    serving.signal(signal)
    assert.equal(await serving.closed, code)
  }
})

test('a socket with too long a path is refused with advice', withSocketFiles, async (t) => {
  const listed = await run(t, [await databaseWith(t), '--listen', `unix:/tmp/${'y'.repeat(120)}`])
  assert.equal(listed.code, 2)
  assert.match(listed.err, /at most 10[37] bytes.*--listen unix:/)
})

test(
  'a directory whose path is too long for a socket is served where those that share it look',
  withSocketFiles,
  async (t) => {
    const location = join(directory(t), 'x'.repeat(100))
    const serving = start(t, [location, '--create'])
    const [address] = await serving.ready()
    assert.match(address, /^unix:\/tmp\/terrace-\d+\/[0-9a-f]{32}$/)
    await client(t, address).put('a', '1')
    const db = new Level(location, { shared: true })
    t.after(() => db.close())
    assert.equal(await db.get('a'), '1')
    assert.equal(db.isOwner, false)
  }
)

test('a database that is open already is refused', bounded, async (t) => {
  const location = await databaseWith(t)
  await start(t, [location]).ready()
  const { code, err } = await run(t, [location])
  assert.equal(code, 1)
  assert.match(err, /LEVEL_LOCKED/)
})

test('a secret in an argument that is wrong is not printed', bounded, async (t) => {
  for (const args of [
    ['tcp://SECRETKEY@127.0.0.1:1'],
    ['db', 'mysql://ada:se/SECRETKEY@host/s'],
    ['db', '--listen', 'tls://SECRETKEY@127.0.0.1:1'],
    ['db', '--listen', 'wss://ada:SECRETKEY@127.0.0.1:1'],
    ['db', '--token=wss://h/x?token=SECRETKEY']
  ]) {
    const { code, out, err } = await run(t, args)
    assert.notEqual(code, 0)
    assert.ok(!(out + err).includes('SECRET') && err !== '', err)
  }
})

test('without the package terrace it says what to install', bounded, async (t) => {
  const modules = join(directory(t), 'node_modules')
  const own = dirname(fileURLToPath(new URL('.', import.meta.url)))
  mkdirSync(modules)
  cpSync(join(own, 'dist'), join(modules, 'terrace-net', 'dist'), { recursive: true })
  cpSync(join(own, 'package.json'), join(modules, 'terrace-net', 'package.json'))
  for (const name of ['abstract-level', 'msgpackr', 'terrace-core', 'ws']) {
    symlinkSync(realpathSync(join(own, '..', '..', 'node_modules', name)), join(modules, name), 'junction')
  }
  const file = join(modules, 'terrace-net', 'dist', 'serve', 'main.js')
  const { code, err } = await run(t, ['somewhere'], { file })
  assert.equal(code, 1)
  assert.match(err, /npm install terrace/)
})

test('it explains itself, and refuses what it does not know', bounded, async (t) => {
  const help = await run(t, ['--help'])
  assert.equal(help.code, 0)
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  assert.deepEqual(await run(t, ['--version']), { code: 0, out: `${version}\n`, err: '' })
  for (const args of [
    [],
    ['a', 'b'],
    ['a', '--nothing'],
    ['a', '--listen', 'nowhere'],
    ['a', '--tls-key', 'k']
  ]) {
    const { code, err, out } = await run(t, args)
    assert.equal(code, 2, args.join(' '))
    assert.match(err, /^terrace-serve: .+\n$/)
    assert.equal(out, '')
  }
  assert.ok(readFileSync(program, 'utf8').startsWith('#!/usr/bin/env node\n'))
  const options = [...help.out.matchAll(/^ {2}(--[\w-]+) [A-Z]/gm)].map(([, option]) => option)
  assert.ok(options.length > 0)
  // The first unknown option would be named in the error, also among known ones.
  for (const given of isShort ? [options] : options.map((option) => [option])) {
    const { err } = await run(t, ['a', 'b', ...given.flatMap((option) => [option, 'x'])])
    assert.doesNotMatch(err, /Unknown option/, given.join())
  }
})
