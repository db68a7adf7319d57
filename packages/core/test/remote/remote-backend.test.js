// What becomes of calls whose messages, connection or other side are lost, at every message: no write is done twice, none that was
// acknowledged is missing, and one that failed was done only if its error says that the outcome is unknown.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Handles, PendingCalls } from 'terrace-core'
import { scaled } from '../../../../tests/support/form.mjs'
import { HeldBackend, HeldConnection, Store } from '../support/other-side.js'
import { randomOf } from '../support/random.js'

const options = { reverse: false }

/** What is called, in order. A write is named by what the store then records. */
const SCRIPT = [
  { name: 'put', write: 'a', run: ({ backend }) => backend.write(['a', '1'], false) },
  {
    name: 'snapshot',
    run(world) {
      world.snapshot = world.backend.snapshot()
    }
  },
  { name: 'get', run: ({ backend }) => backend.get('a', options) },
  { name: 'cursor', run: ({ backend }) => read(backend.cursor(options, 'keys')) },
  {
    name: 'get from a snapshot',
    hasState: true,
    run: ({ backend, snapshot }) => backend.get('a', options, snapshot)
  },
  {
    name: 'cursor over a snapshot',
    hasState: true,
    run: ({ backend, snapshot }) => read(backend.cursor(options, 'keys', snapshot))
  },
  {
    name: 'clear from a snapshot',
    hasState: true,
    write: 'clear',
    run: ({ backend, snapshot }) => backend.clear({ reverse: false, limit: -1 }, snapshot)
  },
  { name: 'put', write: 'd', run: ({ backend }) => backend.write(['d', '1'], false) },
  {
    name: 'conditional put',
    write: 'e',
    // If it were done twice, the second one would be a conflict.
    run: ({ backend }) => backend.writeIf([{ kind: 'absent', key: 'e' }], ['e', '1'], false)
  },
  {
    name: 'conflict',
    write: 'f',
    isConflict: true,
    run: ({ backend }) => backend.writeIf([{ kind: 'present', key: 'nothing' }], ['f', '1'], false)
  },
  {
    name: 'conditional put from a snapshot',
    hasState: true,
    write: 'g',
    run: ({ backend, snapshot }) =>
      backend.writeIf([{ kind: 'unchanged', range: {}, snapshot }], ['g', '1'], false)
  }
]

async function read(cursor) {
  await cursor.read(10, 1000)
  cursor.close()
}

/** A client, its connection, and the other side. */
class World {
  store = new Store()
  connection = new HeldConnection(this.store)
  backend = new HeldBackend(this.connection)
  snapshot
  outcomes = new Map()

  call(call) {
    const settle = (outcome) => {
      assert.equal(this.outcomes.has(call), false, 'settled once')
      this.outcomes.set(call, outcome)
    }
    // It may throw.
    new Promise((resolve) => resolve(call.run(this))).then(
      () => settle('done'),
      ({ code, message }) => settle(code === 'LEVEL_CONFLICT' ? 'conflict' : message)
    )
  }

  async check(note) {
    const { connection, store, outcomes } = this
    const isOver = () => !connection.step() && outcomes.size === SCRIPT.length
    for (let i = 0; i < 1000 && !isOver(); i++) await settled()
    assert.ok(connection.isIdle, note)
    const count = (write) => store.writes.filter((each) => each === write).length
    for (const call of SCRIPT) {
      const outcome = outcomes.get(call)
      assert.match(
        outcome,
        call.isConflict ? /^(conflict|unknown|offline)$/ : /^(done|unknown|state lost|offline)$/,
        note
      )
      if (call.write === undefined) assert.notEqual(outcome, 'unknown', note)
      else if (outcome === 'done') assert.equal(count(call.write), 1, note)
      else if (outcome === 'unknown') assert.ok(count(call.write) <= (call.isConflict ? 0 : 1), note)
      else assert.equal(count(call.write), 0, note)
      if (!call.hasState) assert.notEqual(outcome, 'state lost', note)
    }
    // The writes took effect in the order of the calls.
    assert.deepEqual(store.writes, [...store.writes].sort(), note)
  }
}

/** Lets answered calls continue until they send what they need next. */
async function settled() {
  for (let i = 0; i < 4; i++) await undefined
}

const FAULTS = ['cut', 'kill', 'end', 'freeze']

/**
 * Runs the script, with faults before messages of these numbers. All calls are made at once, or one before every so many messages.
 */
async function run(faults, every, note) {
  const world = new World()
  const calls = [...SCRIPT]
  if (every === 0) for (const call of calls.splice(0)) world.call(call)
  const last = Math.max(0, ...faults.map(({ at }) => at))
  for (let at = 0; at <= last; at++) {
    for (const { name } of faults.filter((fault) => fault.at === at)) {
      world.connection[name]()
      await settled()
    }
    if (every > 0 && at % every === 0 && calls.length > 0) world.call(calls.shift())
    if (world.connection.step()) await settled()
  }
  for (const call of calls) world.call(call)
  await world.check(note)
  return world
}

test('without a fault everything is done, once and in order', async () => {
  for (const every of [0, 1, 2, 3]) {
    const { store, outcomes } = await run([], every, `every ${every}`)
    assert.deepEqual(store.writes, ['a', 'clear', 'd', 'e', 'g'])
    assert.deepEqual([...new Set(outcomes.values())], ['done', 'conflict'])
  }
})

test('one fault, and two, at every message', async () => {
  let runs = 0
  const seen = new Set()
  for (const every of [0, 1, 2, 3]) {
    for (let first = 0; first < 30; first++) {
      for (const name of FAULTS) {
        for (const second of [undefined, ...FAULTS]) {
          for (let gap = 0; gap < (second === undefined ? 1 : 12); gap++) {
            const faults = [{ at: first, name }]
            if (second !== undefined) faults.push({ at: first + gap, name: second })
            const { outcomes } = await run(faults, every, JSON.stringify({ every, faults }))
            for (const [call, outcome] of outcomes) seen.add(`${call.name}: ${outcome}`)
            runs++
          }
        }
      }
    }
  }
  assert.ok(runs > 15_000, `${runs} runs`)
  // Each call has met each of its ends.
  assert.deepEqual([...seen].sort(), [
    'clear from a snapshot: done',
    'clear from a snapshot: offline',
    'clear from a snapshot: state lost',
    'clear from a snapshot: unknown',
    'conditional put from a snapshot: done',
    'conditional put from a snapshot: offline',
    'conditional put from a snapshot: state lost',
    'conditional put from a snapshot: unknown',
    'conditional put: done',
    'conditional put: unknown',
    'conflict: conflict',
    'conflict: unknown',
    'cursor over a snapshot: done',
    'cursor over a snapshot: offline',
    'cursor over a snapshot: state lost',
    'cursor: done',
    'cursor: offline',
    'get from a snapshot: done',
    'get from a snapshot: offline',
    'get from a snapshot: state lost',
    'get: done',
    'get: offline',
    'put: done',
    'put: unknown',
    'snapshot: done'
  ])
})

test('many faults at random, and calls while there is no connection', async () => {
  for (let seed = 1; seed <= scaled(3000, 300); seed++) {
    const random = randomOf(seed)
    const world = new World()
    const { connection } = world
    const calls = [...SCRIPT]
    for (let at = 0; at < 60; at++) {
      if (calls.length > 0 && random() < 0.3) world.call(calls.shift())
      if (random() < 0.1) {
        connection.disconnect()
        while (calls.length > 0 && random() < 0.5) world.call(calls.shift())
        connection[random() < 0.5 ? 'cut' : 'kill']()
      }
      if (random() < 0.15) connection[FAULTS[Math.floor(random() * FAULTS.length)]]()
      if (connection.step()) await settled()
    }
    for (const call of calls) world.call(call)
    await world.check(`seed ${seed}`)
  }
})

test('a condition with a snapshot of another database is refused', () => {
  const [backend, other] = [0, 1].map(() => new HeldBackend(new HeldConnection(new Store())))
  backend.snapshot()
  for (const snapshot of [other.snapshot(), { close() {} }]) {
    const conditions = [{ kind: 'unchanged', range: {}, snapshot }]
    assert.throws(() => backend.writeIf(conditions, ['a', '1'], false), { code: 'LEVEL_INVALID_ARGUMENT' })
  }
})

test('a result that cannot be read fails its call, and no other', async () => {
  const store = new Store()
  const connection = new HeldConnection(store)
  const unreadable = connection.ask('repeat', {
    name: 'get',
    parts: ['a'],
    read() {
      throw new Error('unreadable')
    }
  })
  const readable = new HeldBackend(connection).has('a', options)
  while (connection.step());
  await assert.rejects(unreadable, /unreadable/)
  assert.equal(await readable, false)
})

test('a closing database waits for answers, but for those about states', async () => {
  const errors = { writeUnknown: () => new Error(), stateLost: () => new Error() }
  const pending = new PendingCalls(new Handles(), errors)
  const add = (fate) => {
    const number = pending.nextNumber()
    pending.add(number, { fate, mayHaveBegun: true, read() {}, resolve() {}, reject() {} })
    return number
  }
  await pending.answered()
  const numbers = ['once', 'repeat', 'with state', 'once with state'].map(add)
  const order = []
  const answered = pending.answered().then(() => order.push('answered'))
  add('once')
  for (const number of [numbers[0], numbers[1], numbers[3]]) {
    await new Promise((resolve) => setImmediate(resolve))
    order.push(number)
    if (number === numbers[1]) pending.reject(number, new Error())
    else pending.answer(number, undefined)
  }
  await answered
  assert.deepEqual(order, [1, 2, 4, 'answered'])
  assert.equal(pending.oldest, 3)
})
