// One database, several processes: `shared: true`.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Level } from 'terrace'

const program = fileURLToPath(new URL('./support/sharing-process.js', import.meta.url))

function directory(t) {
  const parent = mkdtempSync(join(tmpdir(), 'terrace-shared-'))
  t.after(() => rmSync(parent, { recursive: true, force: true }))
  return join(parent, 'db')
}

function shared(t, location, options) {
  const db = new Level(location, { shared: true, ...options })
  t.after(() => db.close())
  return db
}

/** A process that writes without pause, and what it has said of its writes. */
class Writer {
  done = []
  unknown = []
  failed = []
  isOwner = false
  #child
  #waiting = []

  constructor(location, name) {
    this.#child = spawn(process.execPath, [program, location, name], { stdio: ['pipe', 'pipe', 'inherit'] })
    this.exited = new Promise((resolve) => this.#child.once('exit', resolve))
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#hear(line))
  }

  /** Resolves when something is true of this writer, which is looked at whenever it says something. */
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
  assert.equal(statSync(join(location, 'terrace.sock')).mode & 0o777, 0o600)

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

test('a database that its owner does not share says so', async (t) => {
  const location = directory(t)
  const owner = new Level(location)
  await owner.open()
  t.after(() => owner.close())
  await assert.rejects(shared(t, location, { ownerTimeoutMs: 100 }).open(), ({ cause }) => {
    assert.equal(cause.code, 'LEVEL_LOCKED')
    assert.match(cause.message, /does not share it/)
    return true
  })
})

test('calls to an owner whose event loop is busy fail after a while, and say that', async (t) => {
  const location = directory(t)
  const owner = new Writer(location, 'busy')
  t.after(() => owner.kill())
  await owner.until(() => owner.done.length > 0)
  const db = shared(t, location, { ownerTimeoutMs: 400 })
  await db.open()
  owner.say('block')
  const says = { message: /silent|busy/ }
  await assert.rejects(async () => {
    for (;;) await db.get('a')
  }, says)
  await assert.rejects(shared(t, location, { ownerTimeoutMs: 300 }).open(), ({ cause }) =>
    /busy/.test(cause.message)
  )
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
  assert.ok(existsSync(join(location, 'terrace.sock')))
  await Level.destroy(location)
  assert.equal(existsSync(location), false)
})

test('options that cannot go with sharing are refused', () => {
  assert.throws(() => new Level('x', { shared: true, readOnly: true }), /exclude each other/)
  assert.throws(() => new Level('x', { shared: true, multithreading: true }), /exclude each other/)
})

const rounds = Number(process.env.TERRACE_ROUNDS ?? 8)

test(`owners are killed ${rounds} times while three processes write, and no acknowledged write is lost`, async (t) => {
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
    // The last round ends the owner as a program ends that is told to.
    await (round === rounds - 1 ? owner.stop() : owner.kill())
    alive = [...alive.filter((writer) => writer !== owner), start()]
    const counts = alive.map(({ done }) => done.length)
    await Promise.all(alive.map((writer, i) => writer.until(() => writer.done.length > counts[i] + 20)))
  }

  await Promise.all(alive.map((writer) => writer.stop()))
  await check(location, all)
  const acknowledged = all.reduce((sum, { done }) => sum + done.length, 0)
  const unknown = all.reduce((sum, { unknown }) => sum + unknown.length, 0)
  t.diagnostic(`${acknowledged} writes acknowledged, of ${unknown} the fate was unknown`)
})
