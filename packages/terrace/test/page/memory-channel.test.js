// The memory that a page shares with its own worker, beside the port: every message arrives once and in order, whichever
// way it takes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { isShort } from '../../../../tests/support/form.mjs'
import { HANG_MS, turns } from '../../../../tests/support/waiting.mjs'
import { randomOf } from '../../../core/test/support/random.js'
import { PageMemoryChannel } from '../../dist/browser/tabs/channel/page-memory-channel.js'
import { ChannelMemory } from '../../dist/browser/tabs/channel/shared-memory.js'
import { PortChannel } from '../support/port-channel.js'

const seed = Number(process.env.TERRACE_SEED ?? Date.now() % 1_000_000_000)
const CALLS = isShort ? 1500 : 4000
const SCRIPT = fileURLToPath(new URL('../support/memory-channel-worker.js', import.meta.url))

/** What a worker may do with a call. */
const Kind = { atOnce: 1, later: 2, refuse: 3 }

/** A page and a worker. */
class Pair {
  #pending = new Map()
  #last = 0

  constructor(t) {
    const memory = new ChannelMemory()
    const worker = new Worker(SCRIPT, { workerData: { shared: memory.shared } })
    worker.on('error', (error) => this.#fail(error))
    t.after(() => worker.terminate())
    this.port = new PortChannel(worker)
    this.channel = new PageMemoryChannel(this.port, memory)
    this.channel.onMessage = ({ answers, bytes, failures }) => {
      let at = 0
      for (const [number, length, word] of answers) {
        assert.equal(word, length)
        this.#take(number).resolve(bytes.slice(at, at + length))
        at += length
      }
      for (const [number, { message }] of failures) this.#take(number).reject(new Error(message))
    }
  }

  call(kind, bytes) {
    const number = ++this.#last
    const answered = new Promise((resolve, reject) => this.#pending.set(number, { resolve, reject }))
    this.channel.send([[[kind, number, 0]], bytes])
    return answered
  }

  #take(number) {
    const pending = this.#pending.get(number)
    assert.ok(pending !== undefined, `call ${number} is answered twice`)
    this.#pending.delete(number)
    return pending
  }

  #fail(error) {
    for (const { reject } of this.#pending.values()) reject(error)
  }

  /** How many messages have not gone through the port. */
  get spared() {
    return this.#last - this.port.sent
  }
}

const bytesOf = (length, fill) => new Uint8Array(length).fill(fill)

test(`calls through memory and port are answered once, in order (TERRACE_SEED=${seed})`, {
  timeout: HANG_MS
}, async (t) => {
  const random = randomOf(seed)
  const below = (count) => Math.floor(random() * count)
  const pair = new Pair(t)
  const sizes = [0, 10, 1000, 65_536, 65_537, 200_000]
  const waiting = new Set()
  // As long as nothing has gone through the memory, the machine was busy.
  for (let call = 0; call < CALLS || pair.spared < 100; call++) {
    const bytes = bytesOf(sizes[below(below(10) === 0 ? sizes.length : 3)], call % 256)
    const kind = below(20) === 0 ? Kind.later : below(20) === 0 ? Kind.refuse : Kind.atOnce
    const answered = pair.call(kind, bytes)
    const checked = (
      kind === Kind.refuse
        ? assert.rejects(answered, { message: 'refused' })
        : answered.then((echo) => assert.deepEqual(echo, bytes))
    ).then(() => waiting.delete(checked))
    waiting.add(checked)
    const way = below(100)
    if (way < 70 || waiting.size > 8) await Promise.all(waiting)
    else if (way < 80) await turns()
    else if (way < 82) await turns(10)
  }
  await Promise.all(waiting)
})

test('calls that follow one another do not stop the event loop', { timeout: HANG_MS }, async (t) => {
  const pair = new Pair(t)
  let hasTurned = false
  turns(10).then(() => {
    hasTurned = true
  })
  while (!hasTurned || pair.spared < 1000) await pair.call(Kind.atOnce, bytesOf(10, 1))
  assert.ok(pair.port.sent > 0)
})

test('a message that does not fit goes through the port', { timeout: HANG_MS }, async (t) => {
  const pair = new Pair(t)
  while (pair.spared < 10) await pair.call(Kind.atOnce, bytesOf(10, 1))
  const before = pair.port.sent
  assert.deepEqual(await pair.call(Kind.atOnce, bytesOf(1 << 20, 7)), bytesOf(1 << 20, 7))
  assert.ok(pair.port.sent > before)
})
