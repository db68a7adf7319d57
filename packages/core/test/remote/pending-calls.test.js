// What becomes of calls whose messages, connection or other side are lost, at every message: no write is done twice, none that was
// acknowledged is missing, and one that failed was done only if its error says that nobody knows.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Handles, PendingCalls } from 'terrace-core'
import { scaled } from '../../../../tests/support/form.mjs'
import { randomOf } from '../support/random.js'

/** What is called, in order. The last two use the state that the second makes. */
const SCRIPT = [
  { fate: 'once', write: 'a' },
  { fate: 'with state', makesState: true },
  { fate: 'repeat' },
  { fate: 'with state', needsState: true },
  { fate: 'once with state', needsState: true, write: 'b' },
  { fate: 'once', write: 'c' }
]

/** The other side: a process with a session, over a store that outlives it. */
class Side {
  #store
  #answers = new Map()
  #states = new Set()
  isClosing = false

  constructor(store) {
    this.#store = store
  }

  /** Does what is asked once in a session, however often it arrives. */
  answer({ number, call, handle }) {
    if (this.#answers.has(number)) return this.#answers.get(number)
    if (this.isClosing) return { number, isPostponed: true }
    const answer = { number, ...this.#result(call, handle) }
    this.#answers.set(number, answer)
    return answer
  }

  #result({ makesState, needsState, write }, handle) {
    if (makesState) this.#states.add(handle)
    if (needsState && !this.#states.has(handle))
      return { error: new Error('asked for a state of another side') }
    if (write !== undefined) this.#store.push(write)
    return { result: 'done' }
  }
}

/** A client, its connection, and the other side. */
class World {
  store = []
  side = new Side(this.store)
  outcomes = new Map()
  #requests = []
  #answers = []
  #handles = new Handles()
  #handle
  #isOnline = true
  #pending = new PendingCalls({
    writeUnknown: () => new Error('unknown'),
    stateLost: () => new Error('state lost')
  })

  call(call) {
    const number = this.#pending.nextNumber()
    if (call.makesState) this.#handle = this.#handles.add({ forgotten: () => (this.#handle = undefined) })
    if (call.needsState && this.#handle === undefined) {
      this.outcomes.set(call, 'state lost')
      return
    }
    const request = {
      call,
      number,
      handle: this.#handle,
      fate: call.fate,
      mayHaveBegun: false,
      resolve: () => this.#settle(call, 'done'),
      reject: ({ message }) => {
        if (call.makesState) this.#handle = undefined
        this.#settle(call, message)
      }
    }
    this.#pending.add(number, request)
    if (this.#isOnline) this.#send(request)
  }

  #settle(call, outcome) {
    assert.equal(this.outcomes.has(call), false, 'settled once')
    this.outcomes.set(call, outcome)
  }

  #send(request) {
    request.mayHaveBegun = true
    this.#requests.push(request)
  }

  /** Delivers the next message. Returns whether there was one. */
  step() {
    const request = this.#requests.shift()
    if (request !== undefined) {
      this.#answers.push(this.side.answer(request))
      return true
    }
    const answer = this.#answers.shift()
    if (answer === undefined) return false
    const pending = this.#pending.get(answer.number)
    if (pending === undefined) return true
    if (answer.isPostponed) pending.mayHaveBegun = false
    else if (answer.error) this.#pending.take(answer.number).reject(answer.error)
    else this.#pending.take(answer.number).resolve(answer.result)
    return true
  }

  /** The connection is lost, with all messages. The other side has the session still. */
  cut() {
    this.#requests = []
    this.#answers = []
    this.#sendAll()
  }

  /** The other side dies. Another one has the store. */
  kill() {
    this.#requests = []
    this.#answers = []
    this.side = new Side(this.store)
    this.#handles.forgetAll()
    this.#pending.lose()
    this.#sendAll()
  }

  /** The other side takes nothing more, and says so. Then it ends. */
  end() {
    this.side.isClosing = true
    while (this.step());
    this.kill()
  }

  /** Messages stand still for so long that the client gives up its calls. They arrive later. */
  freeze() {
    this.#pending.fail(new Error('offline'), new Error('unknown'))
  }

  /** There is no connection. What is called now waits for the next one. */
  disconnect() {
    this.#isOnline = false
    this.#requests = []
    this.#answers = []
  }

  #sendAll() {
    this.#isOnline = true
    for (const request of this.#pending.all()) this.#send(request)
  }

  check(note) {
    while (this.step());
    assert.equal(this.#pending.size, 0, note)
    const count = (write) => this.store.filter((each) => each === write).length
    for (const call of SCRIPT) {
      const outcome = this.outcomes.get(call)
      assert.match(outcome, /^(done|unknown|state lost|offline)$/, note)
      if (call.write === undefined) assert.notEqual(outcome, 'unknown', note)
      else if (outcome === 'done') assert.equal(count(call.write), 1, note)
      else if (outcome === 'unknown') assert.ok(count(call.write) <= 1, note)
      else assert.equal(count(call.write), 0, note)
      if (call.fate === 'repeat' || call.fate === 'once') assert.notEqual(outcome, 'state lost', note)
    }
    // Those that were done were done in the order of the calls.
    assert.deepEqual(this.store, [...this.store].sort(), note)
  }
}

const FAULTS = ['cut', 'kill', 'end', 'freeze']

/** Runs the script, with faults before messages of these numbers. All is called at once, or each call before so many messages. */
function run(faults, every, note) {
  const world = new World()
  const calls = [...SCRIPT]
  if (every === 0) for (const call of calls.splice(0)) world.call(call)
  for (let at = 0; at < 60; at++) {
    for (const { name } of faults.filter((fault) => fault.at === at)) world[name]()
    if (every > 0 && at % every === 0 && calls.length > 0) world.call(calls.shift())
    world.step()
  }
  for (const call of calls) world.call(call)
  world.check(note)
  return world
}

test('without a fault everything is done, once and in order', () => {
  for (const every of [0, 1, 2, 3]) {
    const { store, outcomes } = run([], every, `every ${every}`)
    assert.deepEqual(store, ['a', 'b', 'c'])
    assert.deepEqual([...new Set(outcomes.values())], ['done'])
  }
})

test('one fault, and two, at every message', () => {
  let runs = 0
  const seen = new Set()
  for (const every of [0, 1, 2, 3]) {
    for (let first = 0; first < 20; first++) {
      for (const name of FAULTS) {
        for (const second of [undefined, ...FAULTS]) {
          for (let gap = 0; gap < (second === undefined ? 1 : 12); gap++) {
            const faults = [{ at: first, name }]
            if (second !== undefined) faults.push({ at: first + gap, name: second })
            const { outcomes } = run(faults, every, JSON.stringify({ every, faults }))
            for (const [call, outcome] of outcomes) seen.add(`${call.fate}: ${outcome}`)
            runs++
          }
        }
      }
    }
  }
  assert.ok(runs > 15_000, `${runs} runs`)
  // Each fate has met each of its ends.
  assert.deepEqual([...seen].sort(), [
    'once with state: done',
    'once with state: state lost',
    'once with state: unknown',
    'once: done',
    'once: unknown',
    'repeat: done',
    'repeat: offline',
    'with state: done',
    'with state: offline',
    'with state: state lost'
  ])
})

test('many faults at random, and calls while there is no connection', () => {
  for (let seed = 1; seed <= scaled(5000, 500); seed++) {
    const random = randomOf(seed)
    const world = new World()
    const calls = [...SCRIPT]
    for (let at = 0; at < 80; at++) {
      if (calls.length > 0 && random() < 0.3) world.call(calls.shift())
      if (random() < 0.1) {
        world.disconnect()
        while (calls.length > 0 && random() < 0.5) world.call(calls.shift())
        world[random() < 0.5 ? 'cut' : 'kill']()
      }
      if (random() < 0.15) world[FAULTS[Math.floor(random() * FAULTS.length)]]()
      world.step()
    }
    for (const call of calls) world.call(call)
    world.check(`seed ${seed}`)
  }
})

test('a closing database waits for answers, but for those about states', async () => {
  const pending = new PendingCalls({ writeUnknown: () => new Error(), stateLost: () => new Error() })
  const add = (fate) => {
    const number = pending.nextNumber()
    pending.add(number, { fate, mayHaveBegun: true, resolve() {}, reject() {} })
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
    pending.take(number)
  }
  await answered
  assert.deepEqual(order, [1, 2, 4, 'answered'])
  assert.equal(pending.oldest, 3)
})
