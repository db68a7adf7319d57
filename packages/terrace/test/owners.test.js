// A process that shares a database uses what listens in the owner's place only if that serves the whole of this database, with all
// rights. All processes that share it find each other, by whatever path and in whatever environment.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer as createSocketServer } from 'node:net'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { MemoryLevel } from 'memory-level'
import { Level } from 'terrace'
import { createServer } from 'terrace-net/server'
import { someOf } from '../../../tests/support/form.mjs'
import { FrameReader, packFrame } from '../../net/dist/protocol/frame.js'
import { Tell } from '../../net/dist/protocol/messages.js'
import { identityOf } from '../../net/dist/transport/identity.js'
import { sharedAddress } from '../../net/dist/transport/socket-path.js'
import { belongingsOf, newLevel, temporaryDirectory } from './support/databases.js'
import { RemoteLevel } from './support/remote-level.js'

const serveProgram = fileURLToPath(new URL('../../net/dist/serve/main.js', import.meta.url))
const isWindows = process.platform === 'win32'

/** Long enough that nothing fails because it was late. */
const shared = { shared: true, ownerTimeoutMs: 60_000 }

async function program(t, location, ...args) {
  const child = spawn(process.execPath, [serveProgram, location, ...args], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  belongingsOf(t).databases.push({ close: () => child.kill('SIGKILL') })
  await once(child.stdout, 'data')
}

/** Serves `servedOf(db)` of the database, which this process has open, at the socket of its directory. */
async function server(t, location, servedOf, options) {
  const db = newLevel(t, {}, location)
  await db.open()
  const serving = createServer(await servedOf(db), options)
  belongingsOf(t).databases.push({ close: () => serving.close() })
  await serving.listen(sharedAddress(location))
}

/** A server that welcomes every client with what `makeMap()` returns. */
async function welcoming(t, location, makeMap) {
  const db = newLevel(t, {}, location)
  await db.open()
  const serving = createSocketServer((socket) => {
    const reader = new FrameReader(1 << 20)
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      reader.push(bytes)
      if (reader.next() !== undefined)
        socket.write(packFrame([Tell.welcome, Buffer.alloc(16), false, makeMap()]))
    })
  })
  serving.listen(sharedAddress(location).slice('unix:'.length))
  await once(serving, 'listening')
  belongingsOf(t).databases.push({ close: () => serving.close() })
}

function tokenFile(location) {
  const file = join(dirname(location), 'users.json')
  writeFileSync(file, JSON.stringify({ secret: { name: 'ada' } }), { mode: 0o600 })
  return file
}

const keys = 'all'
const mismatch = (reason) => ({ code: 'NET_MISMATCH', reason })

/** What listens, and why it is refused, if it is. */
const listeners = {
  'a Level with shared: true': {
    start: (t, location) => newLevel(t, shared, location).open()
  },
  'terrace-serve': { start: (t, location) => program(t, location) },
  'a server of the Level': { start: (t, location) => server(t, location, (db) => db) },
  'terrace-serve --sublevel': {
    start: (t, location) => program(t, location, '--sublevel', 'users'),
    refused: mismatch(/sublevel with the prefix '!users!'/)
  },
  'terrace-serve --read-only': {
    start: (t, location) => program(t, location, '--read-only'),
    refused: mismatch(/does not let its clients write, clear every key/)
  },
  'terrace-serve --token-file': {
    start: (t, location) => program(t, location, '--token-file', tokenFile(location)),
    refused: { code: 'NET_UNAUTHENTICATED', reason: /requires a token.*use NetLevel/ }
  },
  'a server of a sublevel of a sublevel': {
    start: (t, location) => server(t, location, (db) => db.sublevel('users').sublevel('x')),
    refused: mismatch(/'!users!!x!'/)
  },
  'a server with tokens': {
    start: (t, location) => server(t, location, (db) => db, { tokens: { secret: { name: 'ada' } } }),
    refused: { code: 'NET_UNAUTHENTICATED', reason: /requires a token/ }
  },
  'a server that lets its clients read a part': {
    start: (t, location) =>
      server(t, location, (db) => db, {
        permissions: { keys: [{ allow: 'all', gte: 'a' }], methods: 'all' }
      }),
    refused: mismatch(/does not let its clients read, write, clear, watch every key/)
  },
  'a server that lets its clients call no methods': {
    start: (t, location) => server(t, location, (db) => db, { permissions: { keys } }),
    refused: mismatch(/does not offer approximateSize, compactRange, checkpoint/)
  },
  'a server of a database in memory': {
    start: (t, location) => server(t, location, () => new MemoryLevel()),
    refused: mismatch(/serves another database/)
  },
  'a server of another directory': {
    start: (t, location) => server(t, location, () => newLevel(t, {})),
    refused: mismatch(/serves another database/)
  },
  'a server of the database whose welcome makes no sense': {
    start: (t, location) =>
      welcoming(t, location, () => ({
        database: identityOf(location),
        prefix: Buffer.alloc(0),
        rights: 5,
        methods: { checkpoint: true }
      })),
    refused: mismatch(/does not let its clients read, write, clear, watch every key/)
  },
  'a server that does not say what it serves': {
    start: (t, location) => welcoming(t, location, () => ({ server: 'terrace-net', manifest: {} })),
    refused: mismatch(/does not say which database it serves. Update terrace-net/)
  }
}

/** Uses everything that a shared database can do, on the owner or on a client. */
async function useAll(t, db, location) {
  const writes = db.watch()
  await db.get('root')
  await db.put('order', '42')
  assert.deepEqual((await writes.next()).value, [{ type: 'put', key: 'order', value: '42' }])
  await writes.return()
  await db.batch([
    { type: 'put', key: 'a', value: '1', sync: true },
    { type: 'del', key: 'b' }
  ])
  assert.deepEqual(await db.keys().all(), ['!users!ada', 'a', 'order', 'root'])
  assert.deepEqual(await db.sublevel('users').iterator().all(), [['ada', '1']])
  const snapshot = db.snapshot()
  await db.clear({ gte: 'a', lt: 'p' })
  assert.deepEqual(await db.getMany(['order', 'a'], { snapshot }), ['42', '1'])
  await snapshot.close()
  assert.equal(await db.has('order'), false)

  assert.equal(typeof (await db.approximateSize('a', 'z')), 'number')
  const options = { keyEncoding: 'json' }
  assert.equal(typeof (await db.approximateSize(1, 2, options)), 'number')
  await db.compactRange('a', 'z')
  const copy = join(dirname(location), 'copy')
  await db.checkpoint(copy)
  assert.deepEqual(await newLevel(t, {}, copy).keys().all(), ['!users!ada', 'root'])
}

for (const [name, { start, refused }] of Object.entries(listeners)) {
  const what =
    refused === undefined ? 'is an owner: a client can do everything' : 'is refused, and nothing is written'
  test(`${name} ${what}`, async (t) => {
    const location = join(temporaryDirectory(t), 'db')
    const before = new Level(location)
    await before.put('root', 'R')
    await before.sublevel('users').put('ada', '1')
    await before.close()
    await start(t, location)

    const client = newLevel(t, shared, location)
    if (refused === undefined) {
      await client.open()
      assert.equal(client.isOwner, false)
      await useAll(t, client, location)
      return
    }

    // Writes that were called before the database is open are never executed.
    const early = assert.rejects(client.put('order', '42'), { code: 'LEVEL_DATABASE_NOT_OPEN' })
    await assert.rejects(client.open(), ({ cause }) => {
      assert.equal(cause.code, 'LEVEL_LOCKED')
      assert.equal(cause.cause.code, refused.code)
      assert.match(cause.message, refused.reason)
      assert.doesNotMatch(cause.message, /does not share it/)
      return true
    })
    await early
    // Once the listener is gone, the database is unchanged.
    for (const each of belongingsOf(t).databases.splice(0).reverse()) await each.close()
    const again = newLevel(t, shared, location)
    assert.deepEqual(await retried(() => again.keys().all()), ['!users!ada', 'root'])
  })
}

/** A killed program leaves its lock a moment later. */
async function retried(call) {
  for (;;) {
    try {
      return await call()
    } catch ({ code, cause }) {
      assert.match(`${code} ${cause?.code}`, /LEVEL_DATABASE_NOT_OPEN/)
    }
  }
}

test('a server offers what only the owner can do on its local socket alone', async (t) => {
  const location = join(temporaryDirectory(t), 'db')
  const { NetLevel } = await import('terrace-net')
  const db = newLevel(t, {}, location)
  await db.open()
  const methods = { checkpoint: () => 'mine' }
  for (const [given, expected] of [
    [{}, [null, 'NET_UNKNOWN_METHOD']],
    [{ methods }, ['mine', 'mine']]
  ]) {
    const serving = createServer(db, given)
    const local = isWindows ? sharedAddress(location) : `unix:${join(dirname(location), 's')}`
    const clients = [await serving.listen(local), await serving.listen('tcp://127.0.0.1:0')].map(
      (address) => new NetLevel(address)
    )
    const outcomes = clients.map((client, i) =>
      client.call('checkpoint', join(dirname(location), `copy-${i}`)).catch(({ code }) => code)
    )
    assert.deepEqual(await Promise.all(outcomes), expected)
    for (const client of clients) await client.close()
    await serving.close()
  }
  assert.equal(existsSync(join(dirname(location), 'copy-0', 'CURRENT')), true)
  assert.equal(existsSync(join(dirname(location), 'copy-1')), false)
})

const withLongPaths = { skip: isWindows && 'the path of a pipe may be long' }

for (const kind of ['short', 'long']) {
  test(
    `all meet at a directory with a ${kind} path, whatever path and environment they have`,
    withLongPaths,
    async (t) => {
      const root = temporaryDirectory(t)
      const parent = kind === 'short' ? root : join(root, 'd'.repeat(120))
      const location = join(parent, 'db')
      mkdirSync(location, { recursive: true })
      const long = join(root, 'l'.repeat(130))
      symlinkSync(location, long)
      symlinkSync(location, join(root, 's'))
      mkdirSync(join(root, 'tmp'))
      const ways = [
        [location],
        [`${location}/`],
        [join(parent, '..', parent.slice(dirname(parent).length + 1), 'db')],
        [long],
        [join(root, 's')],
        ['db', { cwd: parent }],
        [location, { env: { TMPDIR: join(root, 'tmp') } }],
        [long, { env: { TMPDIR: join(root, 'tmp'), XDG_RUNTIME_DIR: join(root, 'tmp') } }]
      ]
      const all = someOf(ways).map(([path, options]) => new RemoteLevel(t, path, { ...shared, ...options }))
      await Promise.all(all.map((each) => each.open()))
      await Promise.all(all.map((each, i) => each.put(`k${i}`, `${i}`)))
      for (const each of all) assert.equal(await each.get('k1'), '1')
      const owners = await Promise.all(all.map((each) => each.isOwner()))
      assert.equal(owners.filter((is) => is).length, 1)

      // Each takes over from another, until one is left.
      await all[owners.indexOf(true)].kill()
      const left = all.filter((_, i) => !owners[i])
      for (const each of left.slice(1)) {
        assert.equal(await each.get('k1'), '1')
        await each.close()
      }
      await left[0].put('last', '1')
      assert.equal(await left[0].isOwner(), true)
    }
  )
}
