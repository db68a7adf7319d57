// Conditional writes of a database that several processes share, whoever owns it.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { scaled } from '../../../tests/support/form.mjs'
import { until } from '../../../tests/support/waiting.mjs'
import { checkIncrements, Incrementer } from '../../core/test/support/increments.js'
import { newLevel, temporaryDirectory } from './support/databases.js'
import { RemoteLevel } from './support/remote-level.js'

const program = fileURLToPath(new URL('./support/counting-process.js', import.meta.url))
const rounds = Number(process.env.TERRACE_ROUNDS ?? scaled(8, 2))

const directory = (t) => join(temporaryDirectory(t), 'db')
const shared = (t, location) => newLevel(t, { shared: true }, location)

/** A process that counts without pause, and what it has reported. */
class Counter {
  done = []
  unknown = []
  conflicts = 0
  isOwner = false
  #child

  constructor(t, location, name) {
    this.#child = spawn(process.execPath, [program, location, name], { stdio: ['pipe', 'pipe', 'inherit'] })
    this.exited = new Promise((resolve) => this.#child.once('close', resolve))
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#hear(line))
    t.after(() => this.kill())
  }

  kill() {
    this.#child.kill('SIGKILL')
    return this.exited
  }

  async stop() {
    this.#child.stdin.write('stop\n')
    assert.equal(await this.exited, 0)
  }

  #hear(line) {
    const [what, rest] = line.split(' ')
    if (what === 'owner') this.isOwner = true
    if (what === 'done') this.done.push(rest)
    if (what === 'unknown') this.unknown.push(rest)
    if (what === 'conflicts') this.conflicts += Number(rest)
  }
}

test(`owners are killed ${rounds} times while three processes count: no increment is lost or done twice`, async (t) => {
  const location = directory(t)
  const all = []
  const start = () => {
    all.push(new Counter(t, location, `p${all.length}`))
    return all.at(-1)
  }
  let alive = [start(), start(), start()]
  const counted = async (count) => {
    const before = alive.map(({ done }) => done.length)
    await until(() => alive.every(({ done }, i) => done.length >= before[i] + count))
  }
  for (let round = 0; round < rounds; round++) {
    await until(() => alive.some(({ isOwner }) => isOwner))
    await counted(1)
    const owner = alive.find(({ isOwner }) => isOwner)
    // The last round stops the owner in an orderly way.
    await (round === rounds - 1 ? owner.stop() : owner.kill())
    alive = [...alive.filter((counter) => counter !== owner), start()]
    await counted(20)
  }
  await Promise.all(alive.map((counter) => counter.stop()))

  // A process that was killed had begun an increment, or finished one that it could not report.
  for (const killed of all.filter((each) => !alive.includes(each))) {
    killed.unknown.push(`mark-p${all.indexOf(killed)}-${killed.done.length + killed.unknown.length}`)
  }
  const db = newLevel(t, {}, location)
  await db.open()
  await checkIncrements(db, all)
  const sum = (name) => all.reduce((count, each) => count + (each[name].length ?? each[name]), 0)
  t.diagnostic(
    `${sum('done')} increments, of ${sum('unknown')} the outcome was unknown; ${sum('conflicts')} conflicts`
  )
  assert.ok(sum('conflicts') > 0)
})

test('instances in one process count together while the owner closes', async (t) => {
  const location = directory(t)
  const instances = [shared(t, location), shared(t, location), shared(t, location)]
  for (const db of instances) {
    await db.open()
    assert.equal(db.supports.conditionalWrites, true)
  }
  const counters = instances.map((db, i) => new Incrementer(db, `i${i}`))
  const others = counters.slice(1).map((each) => each.run(scaled(100)))
  await counters[0].run(scaled(20))
  await instances[0].close()
  await Promise.all(others)
  // An owner that closes answers what was sent to it.
  for (const { unknown } of counters) assert.deepEqual(unknown, [])
  await checkIncrements(instances[1], counters)
})

test('watch() shows conditional writes of all processes once they are stored, in their order', async (t) => {
  const location = directory(t)
  const [owner, other] = [shared(t, location), shared(t, location)]
  await owner.open()
  await other.open()
  for (const watching of [owner, other]) {
    const writes = watching.watch()
    const heard = []
    const listening = (async () => {
      for await (const [{ key, value }] of writes) {
        heard.push(`${key}=${value}`)
        if (key === 'end') return
      }
    })()
    // It hears of what is called after this.
    await watching.get('a')
    await owner.put('a', '1', { if: [{ key: 'a', exists: false }] })
    await assert.rejects(other.put('a', '2', { if: [{ key: 'a', exists: false }] }), {
      code: 'LEVEL_CONFLICT'
    })
    await other.put('a', '3', { if: [{ key: 'a', value: '1' }] })
    await owner.put('b', '1')
    await other.batch([], { if: [{ key: 'b', exists: true }] })
    await other.put('end', '')
    await listening
    assert.deepEqual(heard, ['a=1', 'a=3', 'b=1', 'end='])
    await owner.clear()
  }
})

test('a process that takes over keeps its new snapshots as conditions, and loses those of the former owner', async (t) => {
  const location = directory(t)
  const owner = new RemoteLevel(t, location, { shared: true })
  await owner.open()
  const db = shared(t, location)
  await db.batch(
    Array.from({ length: 3000 }, (_, i) => ({ type: 'put', key: `k${i}`, value: 'v'.repeat(100) }))
  )
  const [iterator, another] = [db.iterator(), db.iterator()]
  await Promise.all([iterator.next(), another.next()])
  const lost = db.snapshot()
  await db.get('a', { snapshot: lost })
  await owner.kill()
  await until(() => db.isOwner)
  await assert.rejects(db.put('a', '1', { if: [{ unchangedSince: lost }] }), { code: 'NET_SESSION_LOST' })
  await db.get('a')

  const snapshot = db.snapshot()
  // The iterator is read over the connection to itself meanwhile.
  const reading = iterator.all()
  await db.put('a', '1', { if: [{ unchangedSince: snapshot }] })
  const conflict = db.put('a', '2', { if: [{ key: 'a', value: '1' }, { unchangedSince: snapshot }] })
  await assert.rejects(conflict, { code: 'LEVEL_CONFLICT', conditions: [1] })
  await assert.rejects(db.put('b', '1', { if: [{ unchangedSince: lost }, { unchangedSince: snapshot }] }), {
    code: 'NET_SESSION_LOST'
  })
  await reading
  await db.put('b', '1', { if: [{ gte: 'b', lt: 'c', unchangedSince: snapshot }] })

  // A snapshot that is taken meanwhile is one of that connection. With one of the database it cannot be checked in one state.
  const readingAgain = another.all()
  const remote = db.snapshot()
  await readingAgain
  await db.put('c', '1', { if: [{ gte: 'c', lt: 'd', unchangedSince: remote }] })
  const both = [{ unchangedSince: remote }, { unchangedSince: snapshot }]
  await assert.rejects(db.put('d', '1', { if: both }), { code: 'NET_SESSION_LOST' })
  const pending = db.put('e', '1', { if: [{ gte: 'e', lt: 'f', unchangedSince: remote }] })
  const overtaking = db.put('f', '1', { if: [{ gte: 'f', lt: 'g', unchangedSince: snapshot }] })
  await Promise.all([pending, assert.rejects(overtaking, { code: 'NET_SESSION_LOST' })])
  await remote.close()
  await snapshot.close()
  await lost.close()
  assert.deepEqual(await db.keys({ lt: 'k' }).all(), ['a', 'b', 'c', 'e'])
})

test('conditions see the writes of the same process that were called before, and none that come after', async (t) => {
  const location = directory(t)
  const [owner, other] = [shared(t, location), shared(t, location)]
  await owner.open()
  for (const db of [owner, other]) {
    await db.open()
    const writes = []
    for (let i = 0; i < 50; i++) {
      writes.push(db.put('turn', String(i)))
      writes.push(db.put('turn', `${i}!`, { if: [{ key: 'turn', value: String(i) }] }))
      writes.push(
        assert.rejects(db.del('turn', { if: [{ key: 'turn', value: String(i) }] }), {
          code: 'LEVEL_CONFLICT'
        })
      )
    }
    await Promise.all(writes)
    assert.equal(await db.get('turn'), '49!')
  }
})
