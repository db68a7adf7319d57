// Unix sockets: only one server replaces a dead one, only its user can reach it, and it removes only its own socket.

import assert from 'node:assert/strict'
import { fork, spawnSync } from 'node:child_process'
import cluster from 'node:cluster'
import { once } from 'node:events'
import fs, {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { createServer as createSocketServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { MemoryLevel } from 'memory-level'
import { NetLevel } from 'terrace-net'
import { createServer } from 'terrace-net/server'
import { scaled } from '../../../tests/support/form.mjs'
import { hasSocketFile } from '../../../tests/support/sockets.mjs'
import { HANG_MS, turns, until } from '../../../tests/support/waiting.mjs'

const bounded = { timeout: HANG_MS, skip: !hasSocketFile && 'a pipe is no file' }
const program = fileURLToPath(new URL('./support/listening-process.js', import.meta.url))

function directory(t) {
  const made = mkdtempSync(join(tmpdir(), 'terrace-net-'))
  t.after(() => rmSync(made, { recursive: true, force: true }))
  return made
}

/** Leaves a socket behind as a killed server does. */
function leaveSocket(path) {
  const killed = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`
  spawnSync(process.execPath, ['-e', killed])
  assert.ok(statSync(path).isSocket())
}

async function valueAt(path) {
  const client = new NetLevel(`unix:${path}`)
  try {
    return await client.get('who')
  } finally {
    await client.close()
  }
}

/** The other end of messages: it answers each with a message. */
async function peer(t, target, post, end) {
  t.after(() => end())
  await once(target, 'message')
  return {
    async ask(message) {
      const answered = once(target, 'message')
      post(message)
      const [answer] = await answered
      return answer
    },
    end
  }
}

/** Where servers can run: each makes one that is ready to listen. */
const places = {
  'a process': (t) => {
    const child = fork(program)
    const exited = once(child, 'exit')
    return peer(
      t,
      child,
      (message) => child.send(message),
      () => child.kill('SIGKILL') && exited
    )
  },
  'a thread': (t) => {
    const worker = new Worker(program)
    return peer(
      t,
      worker,
      (message) => worker.postMessage(message),
      () => worker.terminate()
    )
  },
  'a worker of a cluster': (t) => {
    cluster.setupPrimary({ exec: program })
    const worker = cluster.fork()
    const exited = once(worker, 'exit')
    return peer(
      t,
      worker,
      (message) => worker.send(message),
      () => worker.process.kill('SIGKILL') && exited
    )
  }
}

/** What exists at the path when the servers start. */
const beginnings = {
  nothing: () => {},
  'the socket of a dead server': leaveSocket,
  'what a server left that was killed while it started': (path) => {
    leaveSocket(path)
    mkdirSync(join(path, '..', '.sAbC123'), { mode: 0o700 })
    leaveSocket(join(path, '..', '.sAbC123', 'a'))
  }
}

const rounds = scaled(30, 3)

for (const [beginning, begin] of Object.entries(beginnings)) {
  test(`of servers in one process that start at once at ${beginning}, one listens`, bounded, async (t) => {
    for (let round = 0; round < rounds; round++) {
      const path = join(directory(t), 's.sock')
      begin(path)
      const all = await Promise.all(
        ['A', 'B', 'C', 'D'].map(async (name) => {
          const db = new MemoryLevel()
          await db.put('who', name)
          return { name, server: createServer(db) }
        })
      )
      const outcomes = await Promise.allSettled(all.map(({ server }) => server.listen(`unix:${path}`)))
      const listening = all.filter((_, i) => outcomes[i].status === 'fulfilled')
      assert.equal(listening.length, 1, JSON.stringify(outcomes))
      for (const { reason } of outcomes) if (reason !== undefined) assert.equal(reason.code, 'EADDRINUSE')
      assert.equal(await valueAt(path), listening[0].name)
      for (const { server } of all) if (server !== listening[0].server) await server.close()
      assert.equal(await valueAt(path), listening[0].name)
      assert.deepEqual(readdirSync(join(path, '..')), ['s.sock'])
      await listening[0].server.close()
      assert.deepEqual(readdirSync(join(path, '..')), [])
    }
  })

  test(
    `of servers in processes, threads and workers that start at once at ${beginning}, one listens`,
    bounded,
    async (t) => {
      const all = await Promise.all(
        [...Object.values(places), ...Object.values(places)].map((start) => start(t))
      )
      for (let round = 0; round < rounds; round++) {
        const path = join(directory(t), 's.sock')
        begin(path)
        const answers = await Promise.all(all.map(({ ask }) => ask({ listen: path })))
        const codes = answers.map(({ code }) => code)
        assert.deepEqual(
          codes.filter((code) => code !== undefined),
          Array(all.length - 1).fill('EADDRINUSE'),
          JSON.stringify(answers)
        )
        const [winner] = all.filter((_, i) => codes[i] === undefined)
        for (const each of all) if (each !== winner) await each.ask({ close: true })
        assert.equal(await valueAt(path), undefined)
        assert.deepEqual(readdirSync(join(path, '..')), ['s.sock'])
        await winner.ask({ close: true })
        assert.deepEqual(readdirSync(join(path, '..')), [])
      }
    }
  )
}

for (const [place, start] of Object.entries(places)) {
  test(`a socket of ${place} has mode 600 before it can be reached, and ends with it`, bounded, async (t) => {
    const path = join(directory(t), 's.sock')
    const first = await start(t)
    assert.deepEqual(await first.ask({ listen: path }), { modes: ['600', '700'] })
    assert.equal((statSync(path).mode & 0o777).toString(8), '600')
    await first.end()

    // No other server answers in its place.
    const second = await start(t)
    assert.deepEqual(await second.ask({ listen: path }), { modes: ['600', '700'] })
    assert.equal(await valueAt(path), undefined)
    await second.ask({ close: true })
    assert.equal(existsSync(path), false)
  })
}

test(
  'close() removes its own socket after chdir(), and a file of another directory stays',
  bounded,
  async (t) => {
    const [before, root] = [process.cwd(), directory(t)]
    t.after(() => process.chdir(before))
    for (const name of ['a', 'b']) mkdirSync(join(root, name))
    process.chdir(join(root, 'a'))
    const server = createServer(new MemoryLevel())
    const address = await server.listen('unix:./shop.sock')
    assert.equal(address, `unix:${fs.realpathSync(root)}/a/shop.sock`)
    writeFileSync(join(root, 'b', 'shop.sock'), "a user's file")
    process.chdir(join(root, 'b'))
    assert.equal(await valueAt(address.slice('unix:'.length)), undefined)
    await server.close()
    assert.equal(readFileSync(join(root, 'b', 'shop.sock'), 'utf8'), "a user's file")
    assert.deepEqual(readdirSync(join(root, 'a')), [])
  }
)

test('a client with a relative address comes back to its server after chdir()', bounded, async (t) => {
  const [before, root] = [process.cwd(), directory(t)]
  t.after(() => process.chdir(before))
  const serve = async (name) => {
    const db = new MemoryLevel()
    await db.put('who', name)
    const server = createServer(db)
    await server.listen(`unix:${join(root, name, 's')}`)
    return server
  }
  for (const name of ['a', 'b']) mkdirSync(join(root, name))
  const [first, other] = [await serve('a'), await serve('b')]
  process.chdir(join(root, 'a'))
  const client = new NetLevel('unix:s')
  assert.equal(await client.get('who'), 'a')
  process.chdir(join(root, 'b'))
  await first.close()
  const next = await serve('a')
  assert.equal(await client.get('who'), 'a')
  await client.close()
  await Promise.all([next.close(), other.close()])
})

/** What may have taken the server's path by the time it closes. */
const replacements = {
  'another server, in a new directory': async (t, path) => {
    renameSync(join(path, '..'), join(path, '..', '..', 'moved'))
    mkdirSync(join(path, '..'))
    const next = createServer(new MemoryLevel())
    t.after(() => next.close())
    await next.listen(`unix:${path}`)
  },
  'another server, since its socket was removed': async (t, path) => {
    rmSync(path)
    const next = createServer(new MemoryLevel())
    t.after(() => next.close())
    await next.listen(`unix:${path}`)
  },
  'a file': async (_t, path) => {
    rmSync(path)
    writeFileSync(path, "a user's file")
  },
  'a directory': async (_t, path) => {
    rmSync(path)
    mkdirSync(path)
  }
}

for (const [what, replace] of Object.entries(replacements)) {
  test(`close() leaves alone what has taken its path: ${what}`, bounded, async (t) => {
    const path = join(directory(t), 'd', 's.sock')
    mkdirSync(join(path, '..'))
    const server = createServer(new MemoryLevel())
    await server.listen(`unix:${path}`)
    await replace(t, path)
    const { ino } = statSync(path)
    await server.close()
    assert.equal(statSync(path).ino, ino)
    if (what.startsWith('another server')) assert.equal(await valueAt(path), undefined)
  })
}

/** What listens in this process. */
const listeners = () => process.getActiveResourcesInfo().filter((name) => /Server|Pipe/.test(name))

/** Makes a function of node:fs fail once. */
function failOnce(t, name, code) {
  const original = fs[name]
  t.after(() => {
    fs[name] = original
  })
  fs[name] = () => {
    fs[name] = original
    throw Object.assign(new Error(code), { code })
  }
}

async function inUse(t, listen) {
  const other = createSocketServer()
  t.after(() => other.close())
  other.listen(listen)
  await once(other, 'listening')
  return other.address()
}

/** Ways for listen() to fail: each returns the address, and optionally an action to run while it starts. */
const failures = {
  'a file is there': {
    code: 'EADDRINUSE',
    address(_t, root) {
      writeFileSync(join(root, 's'), '')
      return `unix:${root}/s`
    }
  },
  'a server is there': {
    code: 'EADDRINUSE',
    address: async (t, root) => `unix:${await inUse(t, join(root, 's'))}`
  },
  'the directory is missing': { code: 'ENOENT', address: (_t, root) => `unix:${root}/missing/s` },
  'the path is too long': { code: 'NET_INVALID', address: (_t, root) => `unix:${root}/${'x'.repeat(100)}` },
  'the system does not change the mode': {
    code: 'EPERM',
    address(t, root) {
      failOnce(t, 'chmodSync', 'EPERM')
      return `unix:${root}/s`
    }
  },
  'the system does not rename': {
    code: 'EROFS',
    address(t, root) {
      failOnce(t, 'renameSync', 'EROFS')
      return `unix:${root}/s`
    }
  },
  'the port is in use': {
    code: 'EADDRINUSE',
    address: async (t) => `tcp://127.0.0.1:${(await inUse(t, { host: '127.0.0.1', port: 0 })).port}`
  },
  'the server is closed meanwhile (unix)': {
    code: 'NET_CLOSING',
    address: (_t, root) => `unix:${root}/s`,
    meanwhile: (server) => server.close()
  },
  'the server is closed meanwhile (tcp)': {
    code: 'NET_CLOSING',
    address: () => 'tcp://127.0.0.1:0',
    meanwhile: (server) => server.close()
  },
  'the server is closed meanwhile (ws)': {
    code: 'NET_CLOSING',
    address: () => 'ws://127.0.0.1:0',
    meanwhile: (server) => server.close()
  },
  'the server was closed': {
    code: 'NET_CLOSING',
    address: (_t, root) => `unix:${root}/s`,
    before: (server) => server.close()
  }
}

for (const [what, { code, address, before, meanwhile }] of Object.entries(failures)) {
  test(`nothing listens, and nothing is left, after listen() has failed: ${what}`, bounded, async (t) => {
    const root = directory(t)
    const where = await address(t, root)
    const [here, there] = [listeners(), readdirSync(root)]
    const server = createServer(new MemoryLevel())
    await before?.(server)
    const rejected = assert.rejects(server.listen(where), { code })
    meanwhile?.(server)
    await rejected
    assert.deepEqual(server.addresses, [])
    await until(() => listeners().length <= here.length, 'the end of what listens')
    assert.deepEqual(readdirSync(root), there)
    await server.close()
  })
}

test('statistics are not shown by a server that was closed meanwhile', bounded, async () => {
  const here = listeners()
  const server = createServer(new MemoryLevel())
  const rejected = assert.rejects(server.serveMetrics('127.0.0.1:0'), { code: 'NET_CLOSING' })
  await server.close()
  await rejected
  await turns(2)
  assert.deepEqual(listeners(), here)
})
