// Conditional writes of several processes and threads on one database, some of which are killed.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { Other } from '../../../../tests/support/back-ends/processes.mjs'
import { scaled } from '../../../../tests/support/form.mjs'
import { HANG_MS } from '../../../../tests/support/waiting.mjs'
import { append, appended, takeSeat } from './support/clients.js'
import { openLevel } from './support/databases.js'

const CLIENT = new URL('support/client.js', import.meta.url)
const TESTED = new URL('support/tested.js', import.meta.url).href
const LONGEST_PAUSE_MS = 100

const pathOf = (file) => fileURLToPath(new URL(file, import.meta.url))

/** A thread that runs the client, with what the tests use of a process. */
class Thread {
  #worker
  #lines = []
  #exit

  constructor(t, ...args) {
    this.#worker = new Worker(CLIENT, { workerData: args })
    this.#worker.on('message', (line) => this.#lines.push(line))
    this.#exit = once(this.#worker, 'exit')
    t.after(() => this.#worker.terminate())
  }

  async line() {
    while (this.#lines.length === 0) await once(this.#worker, 'message')
    return this.#lines.shift()
  }

  tell(line) {
    this.#worker.postMessage(line)
  }

  /** Waits until it has closed the database. A thread that is terminated while it begins a write may end the process. */
  async end() {
    this.tell('end')
    await this.#exit
  }
}

/** Clients that have the database open and wait: as many processes, and as many threads. */
async function startClients(t, db, { processes, threads }, ...args) {
  const clients = [
    ...Array.from({ length: processes }, (_, i) => new Other(t, CLIENT, db.location, `process${i}`, ...args)),
    ...Array.from({ length: threads }, (_, i) => new Thread(t, db.location, `thread${i}`, ...args))
  ]
  for (const client of clients) assert.equal(await client.line(), 'open')
  return clients
}

/** The numbers that each client has appended, in the order of the list. */
function numbersByClient(items) {
  const numbers = new Map()
  for (const item of items) {
    const [name, number] = item.split(':')
    numbers.set(name, [...(numbers.get(name) ?? []), Number(number)])
  }
  return numbers
}

const upTo = (last) => Array.from({ length: last }, (_, i) => i + 1)

test('no increment of processes and threads is lost, and none is counted twice', async (t) => {
  const db = await openLevel(t, { shared: true })
  const each = scaled(150, 20)
  const clients = await startClients(t, db, { processes: 3, threads: 2 }, 'appender', `${each}`)
  for (const client of clients) client.tell('go')
  for (const number of upTo(each)) await append(db, `main:${number}`)
  for (const client of clients)
    for (const number of upTo(each)) assert.equal(await client.line(), `${number}`)

  for (const client of clients) if (client instanceof Thread) await client.end()

  const { count, items } = await appended(db)
  assert.equal(count, 6 * each)
  const numbers = numbersByClient(items)
  assert.equal(numbers.size, 6)
  for (const [name, found] of numbers) assert.deepEqual(found, upTo(each), name)
})

test('a list has all acknowledged items in order, however many of the processes that append are killed', async (t) => {
  const db = await openLevel(t, { shared: true })
  const [thread] = await startClients(t, db, { processes: 0, threads: 1 }, 'appender', '1000000')
  thread.tell('go')
  let mine = 0
  let unacknowledged = 0
  const acknowledged = new Map()

  for (let kill = 0; kill < scaled(15, 3); kill++) {
    const names = [`a${kill}`, `b${kill}`]
    const others = names.map((name) => new Other(t, CLIENT, db.location, name, 'appender', '1000000'))
    for (const other of others) {
      assert.equal(await other.line(), 'open')
      other.tell('go')
    }
    // One of them has written by then; the other may be killed before its first write.
    assert.equal(await others[0].line(), '1')
    const end = performance.now() + Math.random() * LONGEST_PAUSE_MS
    do await append(db, `main:${++mine}`)
    while (performance.now() < end)
    const lines = await Promise.all(others.map((other) => other.kill()))
    acknowledged.set(names[0], 1 + lines[0].length)
    acknowledged.set(names[1], lines[1].length)
    await append(db, `main:${++mine}`)
  }

  await thread.end()

  const { count, items } = await appended(db)
  assert.equal(count, items.length)
  const numbers = numbersByClient(items)
  assert.deepEqual(numbers.get('main'), upTo(mine))
  assert.deepEqual(numbers.get('thread0'), upTo(numbers.get('thread0').length))
  for (const [name, last] of acknowledged) {
    const found = numbers.get(name) ?? []
    assert.deepEqual(found, upTo(found.length), name)
    // What a client was killed in may have taken effect.
    assert.ok(found.length === last || found.length === last + 1, `${name}: ${last}, ${found.length}`)
    unacknowledged += found.length - last
  }
  t.diagnostic(JSON.stringify({ count, mine, unacknowledged }))
})

test('processes and threads that depend on a range never write to it at once', async (t) => {
  const db = await openLevel(t, { shared: true })
  const seats = scaled(300, 40)
  const clients = await startClients(t, db, { processes: 2, threads: 2 }, 'taker', `${seats}`)
  for (const client of clients) client.tell('go')
  let taken = 0
  while (await takeSeat(db, `main:${taken}`, seats)) taken++
  for (const client of clients) taken += Number(await client.line())
  for (const client of clients) if (client instanceof Thread) await client.end()
  assert.equal(taken, seats)
  assert.equal((await db.keys().all()).length, seats)
})

for (const [how, status] of [
  ['exit', 3],
  ['throw', 1]
]) {
  test(`a process that ends in the middle of conditional writes (${how}) ends at once, and leaves the database to others`, async (t) => {
    const db = await openLevel(t, { shared: true })
    for (let round = 0; round < scaled(10, 2); round++) {
      const args = [pathOf('support/exits.js'), db.location, how]
      const ended = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: HANG_MS })
      assert.equal(ended.status, status, ended.stderr)
      await db.put('mine', `${round}`, { if: [{ key: 'open', exists: true }] })
    }
  })
}

for (const [what, file, least] of [
  ['the tests of conditions in terrace-core', '../../../core/test/conditional-writes.test.js', 13],
  ['the tests of update() in terrace-core', '../../../core/test/update.test.js', 5],
  ['the tests of conditions in this package', 'conditions.test.js', 10]
]) {
  test(`${what} pass in a thread`, (t) => {
    const { NODE_TEST_CONTEXT, ...environment } = process.env
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--test-reporter=tap', pathOf('support/in-thread.js'), pathOf(file)],
      { encoding: 'utf8', env: { ...environment, TERRACE_TEST_DATABASE: TESTED }, timeout: 6 * HANG_MS }
    )
    assert.equal(status, 0, stdout + stderr)
    const passed = stdout.split('\n').filter((line) => /^ok \d+ - /.test(line) && !line.includes('# SKIP'))
    const own = file.startsWith('..') ? passed.filter((line) => line.includes('(LmdbLevel)')) : passed
    t.diagnostic(`${own.length} tests`)
    assert.ok(own.length >= least, stdout)
  })
}
