// A server that is killed and started again while a page reads and writes, and one that is no longer heard of.
//
// Long: a server is killed, and a connection goes dead, in real time.

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { useBrowser } from './support/browser.js'
import { test } from './support/patient-test.js'
import { serve } from './support/served.js'
import { silentProxy } from './support/silent-proxy.js'
import { serveSite } from './support/site.js'

const ENTRIES = 3000
const KILLS = 3

const openPage = useBrowser()
const program = fileURLToPath(new URL('support/journal-server.js', import.meta.url))

/** Starts the server. Resolves with the process and the address. */
async function start(t, directory, address, origin) {
  const child = fork(program, [directory, address, origin])
  t.after(() => child.kill('SIGKILL'))
  const [actual] = await once(child, 'message')
  return { child, address: actual }
}

test('after kills of the server a page reads on, and nothing that it wrote is there twice or missing', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-journal-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const origin = await serveSite(t)
  let server = await start(t, directory, 'ws://127.0.0.1:0/', origin)
  const page = await openPage(t, origin)

  await page.evaluate(
    async ([address, entries]) => {
      const { NetLevel } = await import('/terrace-net.js')
      const db = new NetLevel(address)
      const state = { db, connections: [], read: [], written: [], unknown: [], isDone: false }
      globalThis.state = state
      db.on('connection', (isOnline) => state.connections.push(isOnline))
      const key = (i) => `key${String(i).padStart(5, '0')}`
      await db.batch(
        Array.from({ length: entries }, (_, i) => ({ type: 'put', key: key(i), value: String(i) }))
      )

      async function write() {
        for (let number = 0; !state.isDone || state.written.length <= 100; number++) {
          try {
            await db.call('append', number)
            state.written.push(number)
          } catch (error) {
            if (error.code !== 'NET_WRITE_UNKNOWN') throw error
            state.unknown.push(number)
          }
        }
      }

      async function read() {
        const range = { gte: key(0), lt: key(entries), highWaterMarkBytes: 100 }
        for await (const [each] of db.iterator(range)) {
          state.read.push(each)
          // So that the kills come in between.
          if (state.read.length % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 5))
        }
      }

      state.writing = Promise.all([write(), write()])
      state.reading = read()
    },
    [server.address, ENTRIES]
  )

  for (let kill = 1; kill <= KILLS; kill++) {
    const goal = kill * 400
    await page.waitForFunction((goal) => globalThis.state.read.length > goal, goal)
    server.child.kill('SIGKILL')
    await once(server.child, 'exit')
    server = await start(t, directory, server.address, origin)
  }

  const seen = await page.evaluate(async () => {
    const { state } = globalThis
    await state.reading
    state.isDone = true
    await state.writing
    const journal = await state.db.sublevel('journal', { valueEncoding: 'json' }).values().all()
    await state.db.close()
    const { read, written, unknown, connections } = state
    return { read, written, unknown, connections, journal }
  })

  const keys = Array.from({ length: ENTRIES }, (_, i) => `key${String(i).padStart(5, '0')}`)
  assert.deepEqual(seen.read, keys)
  assert.deepEqual(seen.connections.slice(0, 2 * KILLS + 1), [
    true,
    ...Array.from({ length: KILLS }, () => [false, true]).flat()
  ])

  // Two loops write the same numbers, each of them once.
  const times = (list) =>
    list.reduce((counts, each) => counts.set(each, (counts.get(each) ?? 0) + 1), new Map())
  const [stored, written, unknown] = [seen.journal, seen.written, seen.unknown].map(times)
  assert.ok(seen.written.length > 100, `${seen.written.length} were written`)
  for (const [number, count] of stored) {
    const [acknowledged, perhaps] = [written.get(number) ?? 0, unknown.get(number) ?? 0]
    assert.ok(count >= acknowledged && count <= acknowledged + perhaps, `${number} is there ${count} times`)
  }
  for (const number of written.keys()) assert.ok(stored.has(number), `${number} is missing`)
  assert.ok(seen.unknown.length <= 2 * KILLS, `the fate of ${seen.unknown.length} is unknown`)
})

test('a page leaves a connection that went dead at once, though a browser waits a minute for its end', async (t) => {
  const origin = await serveSite(t)
  const { server, address } = await serve(t, { origins: [origin] })
  const proxy = await silentProxy(t, address)
  const page = await openPage(t, origin)
  await page.evaluate(async (address) => {
    globalThis.sockets = []
    globalThis.WebSocket = class extends WebSocket {
      constructor(...args) {
        super(...args)
        globalThis.sockets.push(this)
      }
    }
    const { NetLevel } = await import('/terrace-net.js')
    globalThis.db = new NetLevel(address, { keepAliveMs: 1000 })
    await globalThis.db.put('a', '1')
  }, proxy.address)
  proxy.silence()
  const [found, states] = await page.evaluate(async () => [
    await globalThis.db.get('a'),
    globalThis.sockets.map(({ readyState }) => ['connecting', 'open', 'closing', 'closed'][readyState])
  ])
  assert.equal(found, '1')
  // Another connection had the answer, when the dead one had not ended yet.
  assert.ok(states.length > 1)
  assert.deepEqual([states[0], states.at(-1)], ['closing', 'open'])
  assert.equal(server.statistics().acceptedConnections, states.length)
  assert.equal(server.statistics().open.sessions, 1)
})
