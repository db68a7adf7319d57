// A process that takes over from a shared database's owner does so only for that database, and never makes one.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync
} from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Level } from 'terrace'
import { someOf } from '../../../tests/support/form.mjs'
import { until } from '../../../tests/support/waiting.mjs'
import { belongingsOf, newLevel, temporaryDirectory } from './support/databases.js'
import { RemoteLevel } from './support/remote-level.js'

const serveProgram = fileURLToPath(new URL('../../net/dist/serve/main.js', import.meta.url))

/** On Windows, nothing that is open can be moved or removed. */
const bounded = { skip: process.platform === 'win32' && 'a directory in use cannot be moved' }

/** Long enough that no call fails because the next owner was late. */
const shared = { shared: true, ownerTimeoutMs: 60_000 }

/** Who owns the database in the beginning, and how it ends. */
const owners = {
  async 'a killed process'(t, location) {
    const owner = new RemoteLevel(t, location, shared)
    await owner.open()
    return () => owner.kill()
  },
  async 'an instance that is closed'(t, location) {
    const owner = newLevel(t, shared, location)
    await owner.open()
    return () => owner.close()
  },
  'terrace-serve, killed': (t, location) => served(t, location, 'SIGKILL'),
  'terrace-serve, told to end': (t, location) => served(t, location, 'SIGTERM')
}

async function served(t, location, signal) {
  const child = spawn(process.execPath, [serveProgram, location], { stdio: ['ignore', 'pipe', 'inherit'] })
  belongingsOf(t).databases.push({ close: () => child.kill('SIGKILL') })
  await once(child.stdout, 'data')
  return async () => {
    const closed = once(child, 'close')
    child.kill(signal)
    await closed
  }
}

async function makeAnother(location, key) {
  const db = new Level(location)
  await db.put(key, key)
  await db.close()
}

/** What happens to the directory while the owner has it open, and whether the database still exists afterwards. */
const events = {
  nothing: { isThere: true, run() {} },
  'moved away and back': {
    isThere: true,
    run(location) {
      renameSync(location, `${location}-moved`)
      renameSync(`${location}-moved`, location)
    }
  },
  'moved away, and a link in its place': {
    isThere: true,
    run(location) {
      renameSync(location, `${location}-moved`)
      symlinkSync(`${location}-moved`, location)
    }
  },
  'moved away': { isThere: false, run: (location) => renameSync(location, `${location}-moved`) },
  removed: { isThere: false, run: (location) => rmSync(location, { recursive: true }) },
  emptied: {
    isThere: false,
    run(location) {
      for (const name of readdirSync(location)) rmSync(join(location, name), { recursive: true })
    }
  },
  'without all but LOCK': {
    isThere: false,
    // A database that another process makes around this LOCK passes for the one before: decision 59.
    successors: ['one of two clients'],
    run(location) {
      for (const name of readdirSync(location)) {
        if (name !== 'LOCK') rmSync(join(location, name), { recursive: true })
      }
    }
  },
  'replaced by a copy': {
    isThere: false,
    run(location) {
      cpSync(location, `${location}-copy`, { recursive: true, preserveTimestamps: true, filter: isNoSocket })
      renameSync(location, `${location}-moved`)
      renameSync(`${location}-copy`, location)
    }
  },
  'restored from a copy within': {
    isThere: false,
    run(location) {
      cpSync(location, `${location}-copy`, { recursive: true, preserveTimestamps: true, filter: isNoSocket })
      for (const name of readdirSync(location)) rmSync(join(location, name), { recursive: true })
      cpSync(`${location}-copy`, location, { recursive: true, preserveTimestamps: true })
    }
  },
  'removed, and another made, perhaps with the same inodes': {
    isThere: false,
    async run(location) {
      rmSync(location, { recursive: true })
      await makeAnother(location, 'other')
    }
  },
  'a link that leads elsewhere now': {
    isThere: false,
    async run(location) {
      renameSync(location, `${location}-moved`)
      await makeAnother(`${location}-other`, 'other')
      symlinkSync(`${location}-other`, location)
    }
  }
}

function isNoSocket(path) {
  return !statSync(path).isSocket()
}

/** Who comes to own the database. */
const successors = {
  /** The client itself, or another one beside it. */
  'one of two clients': async () => {},
  /** Another process, before the clients try. The database that it finds, or makes, is not theirs. */
  async 'a new process'(t, location) {
    const next = new RemoteLevel(t, location, shared)
    await next.open()
    return next
  }
}

const stateOf = (location) =>
  existsSync(location)
    ? readdirSync(location)
        .filter((name) => name !== 'LOCK')
        .sort()
    : undefined

async function outcome(call) {
  return call().then(
    (value) => value,
    ({ code }) => code
  )
}

/** Each owner with each event, then each successor. */
const cases = Object.keys(owners).flatMap((who) =>
  Object.entries(events).flatMap(([what, { successors: only = Object.keys(successors) }]) =>
    only.map((successor) => ({ who, what, successor }))
  )
)

for (const { who, what, successor } of someOf(cases, 9)) {
  const { run, isThere } = events[what]
  test(`after ${who}, the directory ${what}, then ${successor}`, bounded, async (t) => {
    const location = join(temporaryDirectory(t), 'db')
    await makeAnother(location, 'first')
    const end = await owners[who](t, location)
    const clients = [newLevel(t, shared, location), new RemoteLevel(t, location, shared)]
    for (const client of clients) await client.open()
    await clients[0].put('k', 'acknowledged')
    assert.equal(await clients[1].get('k'), 'acknowledged')

    await run(location)
    // The owner leaves its lock at once, so the new process and the clients race; it must not matter who is first.
    await end()
    const before = stateOf(location)
    const next = await successors[successor](t, location)

    const reads = await Promise.all(clients.map((client) => outcome(() => client.get('k'))))
    const writes = await Promise.all(clients.map((client) => outcome(() => client.put('l', 'later'))))
    const hasAnother = /copy|another|elsewhere/.test(what)
    if (isThere) {
      assert.deepEqual(reads, ['acknowledged', 'acknowledged'])
      assert.deepEqual(writes, [undefined, undefined])
      return
    }
    assert.deepEqual(reads, ['NET_MISMATCH', 'NET_MISMATCH'])
    assert.deepEqual(writes, ['NET_MISMATCH', 'NET_MISMATCH'])
    if (next === undefined) {
      assert.deepEqual(stateOf(location), before, 'nothing is made or changed')
      assert.equal(existsSync(join(location, 'CURRENT')), hasAnother)
      await assert.rejects(clients[0].get('k'), ({ message }) => {
        assert.match(message, /Move it back, or close this database and open it again/)
        assert.ok(message.includes(location))
        return true
      })
    } else {
      assert.equal(await next.isOwner(), true)
      assert.equal(await next.get('l'), undefined)
    }

    // When reopened, they use the existing database.
    for (const client of clients) await client.close()
    const again = newLevel(t, shared, location)
    await again.put('new', '1')
    assert.equal(await again.get('l'), undefined)
  })
}

test('a client finds its database again once the directory was moved back', bounded, async (t) => {
  const location = join(temporaryDirectory(t), 'db')
  const owner = new RemoteLevel(t, location, shared)
  await owner.open()
  const client = newLevel(t, shared, location)
  await client.put('k', '1')
  renameSync(location, `${location}-moved`)
  await owner.kill()
  assert.equal(await outcome(() => client.get('k')), 'NET_MISMATCH')
  renameSync(`${location}-moved`, location)
  await until(async () => (await outcome(() => client.get('k'))) === '1')
  assert.equal(client.isOwner, true)
})

test('watch() ends once no process can become the owner, and a new one says why', bounded, async (t) => {
  const location = join(temporaryDirectory(t), 'db')
  const owner = new RemoteLevel(t, location, shared)
  await owner.open()
  const client = newLevel(t, shared, location)
  const writes = client.watch()
  await client.put('k', '1')
  assert.equal((await writes.next()).value[0].key, 'k')
  renameSync(location, `${location}-moved`)
  await owner.kill()
  await assert.rejects(writes.next(), { code: 'NET_MISSED' })
  await assert.rejects(client.watch().next(), { code: 'NET_MISMATCH' })
})

test('a first open makes a database, as it always did', bounded, async (t) => {
  const location = join(temporaryDirectory(t), 'a', 'b')
  mkdirSync(dirname(location), { recursive: true })
  const db = newLevel(t, shared, location)
  await db.put('k', '1')
  await db.close()
  rmSync(location, { recursive: true })
  await db.open()
  assert.equal(await db.get('k'), undefined)
})
