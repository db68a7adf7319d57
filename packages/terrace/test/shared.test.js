// One database, several processes: `shared: true`.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, linkSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runInNewContext } from 'node:vm'
import { Level } from 'terrace'
import { holdClock } from '../../../tests/support/clock.mjs'
import { scaled } from '../../../tests/support/form.mjs'
import { checkFound, checkRefused, checkStored, viewsWith } from '../../core/test/support/exact-bytes.js'
import { newLevel, temporaryDirectory } from './support/databases.js'

const program = fileURLToPath(new URL('./support/sharing-process.js', import.meta.url))

/** On Windows, it is a pipe that has no file. */
const hasSocketFile = process.platform !== 'win32'

const directory = (t) => join(temporaryDirectory(t), 'db')

const shared = (t, location, options) => newLevel(t, { shared: true, ...options }, location)

/** A process that writes without pause, and what it has reported about its writes. */
class Writer {
  done = []
  unknown = []
  failed = []
  isOwner = false
  isBlocked = false
  /**
   * `missed` counts how often its watch() ended because it had missed writes. `unheard` counts the writes that it was not shown
   * without such an error; undefined until it has stopped.
   */
  missed = 0
  unheard
  #child
  #waiting = []

  constructor(location, name) {
    this.#child = spawn(process.execPath, [program, location, name], { stdio: ['pipe', 'pipe', 'inherit'] })
    this.exited = new Promise((resolve) => this.#child.once('exit', resolve))
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#hear(line))
  }

  /** Resolves when a condition holds, which is checked whenever the writer prints a line. */
  until(isTrue) {
    if (isTrue()) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#waiting.push({ isTrue, resolve })
      this.exited.then(() => reject(new Error('The process has ended')))
    })
  }

  say(command) {
    this.#child.stdin.write(`${command}\n`)
  }

  kill() {
    this.#child.kill('SIGKILL')
    return this.exited
  }

  stop() {
    this.say('stop')
    return this.exited
  }

  #hear(line) {
    const [what, key, code] = line.split(' ')
    if (what === 'owner') this.isOwner = true
    if (what === 'done') this.done.push(key)
    if (what === 'unknown') this.unknown.push(key)
    if (what === 'missed') this.missed++
    if (what === 'blocked') this.isBlocked = true
    if (what === 'unheard') this.unheard = Number(key)
    if (what === 'failed') this.failed.push(`${key} ${code}`)
    this.#waiting = this.#waiting.filter(({ isTrue, resolve }) => !isTrue() || resolve())
  }
}

/** Checks that the database has every write that was acknowledged, and none that was not tried. */
async function check(location, writers) {
  const db = new Level(location)
  const keys = new Set(await db.keys().all())
  await db.close()
  const missing = writers.flatMap(({ done }) => done.filter((key) => !keys.has(key)))
  assert.deepEqual(missing, [])
  for (const { failed } of writers) assert.deepEqual(failed, [])
}

test('instances that share a database see each other, and the first one owns it', async (t) => {
  const location = directory(t)
  const first = shared(t, location, { valueEncoding: 'json' })
  await first.open()
  const second = shared(t, location, { valueEncoding: 'json' })
  await second.open()
  assert.deepEqual([first.isOwner, second.isOwner], [true, false])
  if (hasSocketFile) assert.equal(statSync(join(location, 'terrace.sock')).mode & 0o777, 0o600)

  await first.put('a', { from: 1 })
  await second.sublevel('s', { valueEncoding: 'json' }).put('b', { from: 2 })
  assert.deepEqual(await second.get('a'), { from: 1 })
  assert.deepEqual(await first.keys().all(), ['!s!b', 'a'])
  for (const db of [first, second]) {
    assert.equal(db.supports.getSync, false)
    assert.equal(db.supports.everyWrite, false)
    await db.compactRange('a', 'z')
    assert.equal(typeof (await db.approximateSize('a', 'z')), 'number')
  }
  await second.checkpoint(join(location, '..', 'copy'))
  const copy = new Level(join(location, '..', 'copy'))
  assert.deepEqual(await copy.keys().all(), ['!s!b', 'a'])
  await copy.close()
  assert.throws(() => second.stats(), { code: 'LEVEL_NOT_SUPPORTED' })
  assert.equal(typeof first.stats(), 'object')
})

const text = (operations) =>
  operations
    .map(({ type, key, value }) => (type === 'put' ? `+${key}=${value}` : `${type} ${key ?? ''}`))
    .join()

/** Collects what is received until the key `end` was put. */
async function heardUntilEnd(writes) {
  const heard = []
  for await (const operations of writes) {
    if (operations.some(({ key }) => key === 'end')) return heard
    heard.push(...operations)
  }
  throw new Error('The iterator has ended')
}

test('the owner and the others hear of the writes of all, in one order', async (t) => {
  const location = directory(t)
  const [owner, ...others] = [shared(t, location), shared(t, location), shared(t, location)]
  await owner.open()
  await Promise.all(others.map((db) => db.open()))
  const all = [owner, ...others]
  const watching = all.map((db) => heardUntilEnd(db.watch({ gte: 'a' })))
  await Promise.all(others.map((db) => db.get('a')))

  // All kinds: with and without `sync`, in a sublevel, and deleted again.
  await Promise.all(
    all.flatMap((db, who) =>
      Array.from({ length: 200 }, async (_, n) => {
        await db.put(`k${n % 7}`, `${who}.${n}`, { sync: n % 20 === 0 })
        if (n % 5 === 0) await db.del(`k${n % 3}`)
        if (n === 100) await db.clear({ gte: 'k3', lt: 'k5' })
        if (n % 50 === 0) await db.sublevel('other').put('x', 'y')
      })
    )
  )
  await others[0].put('end', '')

  const heard = await Promise.all(watching)
  assert.ok(heard[0].length >= 3 * 241, String(heard[0].length))
  for (const each of heard.slice(1)) assert.equal(text(each), text(heard[0]))
  const model = new Map()
  for (const { type, key, value, includes } of heard[0]) {
    if (type === 'put') model.set(key, value)
    else if (type === 'del') model.delete(key)
    else for (const each of [...model.keys()]) if (includes(each)) model.delete(each)
  }
  assert.deepEqual([...model].sort(), await owner.iterator({ gte: 'k' }).all())
})

test('an owner hears of a write that it makes right after watch(), also before it is open', async (t) => {
  const location = directory(t)
  const db = shared(t, location, { valueEncoding: 'json' })
  const users = db.sublevel('users', { valueEncoding: 'json' })
  const early = db.watch()
  const ofUsers = db.watch({ sublevel: users })
  db.put('a', 1)
  const late = db.watch()
  users.put('ada', { age: 36 })
  assert.deepEqual((await early.next()).value, [{ type: 'put', key: 'a', value: 1 }])
  assert.deepEqual((await ofUsers.next()).value, [{ type: 'put', key: 'ada', value: { age: 36 } }])
  assert.equal((await late.next()).value[0].key, '!users!ada')
  assert.equal(db.supports.additionalMethods.watch, true)

  const aborting = new AbortController()
  const aborted = db.watch({ signal: aborting.signal }).next()
  aborting.abort()
  await assert.rejects(aborted, { code: 'LEVEL_ABORTED' })
  await ofUsers.return()
  const rest = early.next().then(() => early.next())
  await db.close()
  assert.equal((await rest).done, true)
  assert.deepEqual(await ofUsers.next(), { done: true, value: undefined })
})

test('an owner that takes nothing of what it watches is told that it has missed some', async (t) => {
  const db = shared(t, directory(t))
  const writes = db.watch()
  for (let n = 0; n < 6; n++) await db.put(`k${n}`, 'x'.repeat(1 << 20))
  const heard = []
  await assert.rejects(
    async () => {
      for await (const [{ key }] of writes) heard.push(key)
    },
    { code: 'NET_MISSED' }
  )
  assert.deepEqual(heard, ['k0', 'k1', 'k2'])
})

test('watch() of a database that is not shared says so', async (t) => {
  const db = new Level(directory(t))
  t.after(() => db.close())
  assert.throws(() => db.watch(), { code: 'LEVEL_NOT_SUPPORTED', message: /event 'write'/ })
  assert.equal('watch' in db.supports.additionalMethods, false)

  const closed = new Level(join(directory(t), 'closed'), { shared: true })
  await closed.open()
  await closed.close()
  await assert.rejects(closed.watch().next(), { code: 'LEVEL_DATABASE_NOT_OPEN' })
})

test('with another owner watch() ends with NET_MISSED, and a new one hears of everything', async (t) => {
  const location = directory(t)
  const first = shared(t, location)
  await first.open()
  const others = [shared(t, location), shared(t, location)]
  await Promise.all(others.map((db) => db.open()))
  for (let round = 0; round < 2; round++) {
    const owner = [first, ...others].find(({ isOwner }) => isOwner)
    const left = others.filter((db) => db !== owner)
    const watching = left.map((db) => db.watch())
    await Promise.all(left.map((db) => db.get('a')))
    await owner.put('before', `${round}`)
    for (const writes of watching) assert.equal(text((await writes.next()).value), `+before=${round}`)
    await owner.close()
    await Promise.all(watching.map((writes) => assert.rejects(writes.next(), { code: 'NET_MISSED' })))

    const again = left.map((db) => db.watch())
    await Promise.all(left.map((db) => db.get('a')))
    const last = left.length - 1
    await left[last].put('after', `${round}`)
    for (const writes of again) assert.equal(text((await writes.next()).value), `+after=${round}`)
    await Promise.all(again.map((writes) => writes.return()))
  }
})

test('when the owner closes, another instance takes its place, and pending calls go on', async (t) => {
  const location = directory(t)
  const first = shared(t, location)
  await first.open()
  const others = [shared(t, location), shared(t, location)]
  await Promise.all(others.map((db) => db.open()))
  await first.batch(
    Array.from({ length: 1000 }, (_, n) => ({ type: 'put', key: `k${1000 + n}`, value: `${n}` }))
  )

  const iterators = others.map((db) => db.iterator())
  for (const iterator of iterators) assert.equal((await iterator.next())[0], 'k1000')
  const closing = first.close()
  const writes = others.flatMap((db, i) => Array.from({ length: 50 }, (_, n) => db.put(`w${i}-${n}`, 'v')))
  await closing
  await Promise.all(writes)
  for (const iterator of iterators) {
    const rest = await iterator.all()
    assert.equal(rest.filter(([key]) => key.startsWith('k')).length, 999)
  }
  assert.equal(others.filter(({ isOwner }) => isOwner).length, 1)
  for (const db of others) assert.equal((await db.keys({ gte: 'w', lt: 'x' }).all()).length, 100)
})

const views = viewsWith(runInNewContext('globalThis'))
for (const [what, check] of [
  ['with view, a view of any kind is stored as its bytes', (db) => checkStored(db, 'view', views)],
  ['with buffer, a view of any kind is stored as its bytes', (db) => checkStored(db, 'buffer', views)],
  ['a view of any kind is the same key', (db) => checkFound(db, 'view', views)],
  ['what an encoding cannot store is refused', checkRefused]
]) {
  test(`through the owner, ${what}`, async (t) => {
    const location = directory(t)
    await shared(t, location).open()
    const client = shared(t, location)
    await client.open()
    assert.equal(client.isOwner, false)
    await check(client)
  })
}

test('a database that its owner does not share says so', async (t) => {
  const location = directory(t)
  const owner = new Level(location)
  await owner.open()
  t.after(() => owner.close())
  const clock = holdClock(t)
  const refused = assert.rejects(shared(t, location, { ownerTimeoutMs: 100 }).open(), ({ cause }) => {
    assert.equal(cause.code, 'LEVEL_LOCKED')
    assert.match(cause.message, /does not share it/)
    return true
  })
  await clock.passBesideOthers(refused)
  clock.release()
})

test('calls to an owner whose event loop is busy fail after a while, and say that', async (t) => {
  const location = directory(t)
  const owner = new Writer(location, 'busy')
  t.after(() => owner.kill())
  await owner.until(() => owner.done.length > 0)
  const clock = holdClock(t)
  const db = shared(t, location, { ownerTimeoutMs: 400 })
  await db.open()
  owner.say('block')
  await owner.until(() => owner.isBlocked)
  const says = { message: /has not answered|busy/ }
  await clock.passBesideOthers(assert.rejects(db.get('a'), says))
  await clock.passBesideOthers(
    assert.rejects(shared(t, location, { ownerTimeoutMs: 300 }).open(), ({ cause }) =>
      /busy/.test(cause.message)
    )
  )
  // Until it is closed, it keeps trying to take over from the owner, which takes time as well.
  await owner.kill()
  await clock.passBesideOthers(db.close())
  clock.release()
})

test('a directory whose path is too long for a socket can be shared', async (t) => {
  const location = join(directory(t), 'd'.repeat(120))
  mkdirSync(location, { recursive: true })
  const [first, second] = [shared(t, location), shared(t, location)]
  await first.open()
  await second.open()
  await second.put('a', '1')
  assert.equal(await first.get('a'), '1')
  assert.equal(existsSync(join(location, 'terrace.sock')), false)
})

test('destroy() removes the socket that a killed owner has left, and the directory', async (t) => {
  const location = directory(t)
  const owner = new Writer(location, 'owner')
  await owner.until(() => owner.done.length > 0)
  await assert.rejects(Level.destroy(location), { code: 'LEVEL_LOCKED' })
  await owner.kill()
  if (hasSocketFile) assert.ok(existsSync(join(location, 'terrace.sock')))
  await Level.destroy(location)
  assert.equal(existsSync(location), false)
})

test('destroy() removes what an owner has left that was killed while it began to listen, and nothing else', {
  skip: !hasSocketFile && 'a pipe leaves nothing'
}, async (t) => {
  const location = directory(t)
  const db = shared(t, location)
  await db.open()
  await db.close()
  const left = join(location, '.sAbC123')
  mkdirSync(left)
  // A server removes its own socket when it closes, but no other link to it.
  const server = createServer().listen(join(left, 'b'))
  await once(server, 'listening')
  for (const name of ['h', 'a']) linkSync(join(left, 'b'), join(left, name))
  await new Promise((resolve) => server.close(resolve))
  assert.deepEqual(readdirSync(left).sort(), ['a', 'h'])
  const others = [join(location, '.sUsers1'), join(location, '.sUsers2')]
  for (const other of others) mkdirSync(other)
  writeFileSync(join(others[0], 'a'), "a user's file")
  await Level.destroy(location)
  assert.deepEqual(readdirSync(location).sort(), ['.sUsers1', '.sUsers2'])
  assert.deepEqual(readdirSync(others[0]), ['a'])
})

test('options that cannot go with sharing are refused', () => {
  assert.throws(() => new Level('x', { shared: true, readOnly: true }), /exclude each other/)
  assert.throws(() => new Level('x', { shared: true, multithreading: true }), /exclude each other/)
})

const rounds = Number(process.env.TERRACE_ROUNDS ?? scaled(8, 2))

test(`owners are killed ${rounds} times while three processes write and watch: no write is lost, none unheard`, async (t) => {
  const location = directory(t)
  const all = []
  const start = () => {
    const writer = new Writer(location, `p${all.length}`)
    all.push(writer)
    t.after(() => writer.kill())
    return writer
  }

  let alive = [start(), start(), start()]
  for (let round = 0; round < rounds; round++) {
    const owner = await Promise.any(
      alive.map((writer) => writer.until(() => writer.isOwner).then(() => writer))
    )
    await Promise.all(alive.map((writer) => writer.until(() => writer.done.length > 0)))
    // The last round stops the owner in an orderly way.
    await (round === rounds - 1 ? owner.stop() : owner.kill())
    alive = [...alive.filter((writer) => writer !== owner), start()]
    const counts = alive.map(({ done }) => done.length)
    await Promise.all(alive.map((writer, i) => writer.until(() => writer.done.length > counts[i] + 20)))
  }

  const stopped = await Promise.all(alive.map((writer) => writer.stop().then(() => writer)))
  assert.deepEqual(
    stopped.map(({ unheard }) => unheard),
    stopped.map(() => 0)
  )
  const missed = all.reduce((sum, writer) => sum + writer.missed, 0)
  assert.ok(missed >= rounds, 'each killed owner had others that watched')
  await check(location, all)
  const acknowledged = all.reduce((sum, { done }) => sum + done.length, 0)
  const unknown = all.reduce((sum, { unknown }) => sum + unknown.length, 0)
  t.diagnostic(
    `${acknowledged} writes acknowledged, of ${unknown} the fate was unknown; watch() ended with NET_MISSED ${missed} times`
  )
})
