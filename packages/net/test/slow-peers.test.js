// Peers that are slow, silent, greedy or many: they wait or are cut off, cost little memory, and do not affect other
// clients.

import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { holdClock } from '../../../tests/support/clock.mjs'
import { turns, until } from '../../../tests/support/waiting.mjs'
import { packFrame } from '../dist/protocol/frame.js'
import { Ask, Both, Tell } from '../dist/protocol/messages.js'
import { ServerConnection } from '../dist/server/server-connection.js'
import { attacker, served } from './support/attacked.js'
import { rawClient } from './support/raw-client.js'
import { serve } from './support/served.js'

const bytes = (text) => Buffer.from(text)

/** Enough turns of the event loop to read everything that has arrived, if it is read at all. */
const MANY_TURNS = 1000

/** Resolves to whether clients are cut off after `ms`, and not before. Meanwhile, `step` runs repeatedly. */
async function isCutOffAfter(clock, clients, ms, step) {
  const isOver = () => clients.every((client) => client.socket.destroyed)
  let passed = 0
  for (; !isOver() && passed <= 10 * ms; passed += STEP_MS) {
    await step?.()
    clock.advance(STEP_MS)
    await turns(20)
  }
  return isOver() && passed > ms
}

const STEP_MS = 10

test('a client that says nothing, or a byte at a time, is cut off', async (t) => {
  const clock = holdClock(t)
  const { address, server, warnings } = await served(t, { limits: { helloMs: 100 } })
  const silent = await rawClient(address)
  const slow = await rawClient(address)
  const hello = packFrame([Ask.hello, 1, 'x'.repeat(1000), null])
  let sent = 0
  const sendByte = async () => {
    const { receivedBytes } = server.statistics()
    slow.write(hello.subarray(sent++, sent))
    await until(() => server.statistics().receivedBytes > receivedBytes)
  }
  assert.ok(await isCutOffAfter(clock, [silent, slow], 100, sendByte))
  assert.ok(sent < hello.length)
  assert.equal(warnings.length, 2)
  assert.ok(warnings.every(({ code }) => code === 'NET_LIMIT'))
})

test('a client that connects for a WebSocket or TLS and says nothing is cut off, and does not hold up the end', async () => {
  const host = await serve({ transport: 'ws', limits: { helloMs: 100 } })
  const { hostname: to, port } = new URL(host.address)
  const silent = connect({ host: to, port })
  await new Promise((resolve) => silent.on('error', resolve).on('close', resolve).resume())

  const late = connect({ host: to, port })
  const ended = new Promise((resolve) => late.on('error', resolve).on('close', resolve).resume())
  await new Promise((resolve) => late.once('connect', resolve))
  await host.stop()
  await ended
})

test('a client whose timers are held back, as in a hidden page, stays connected', async (t) => {
  const clock = holdClock(t)
  const host = await serve({ limits: { silenceMs: 1400 } })
  t.after(() => host.stop())
  const client = host.connect({ keepAliveMs: 60_000 })
  await client.put('a', '1')
  for (let passed = 0; passed < 7000; passed += 100) {
    clock.advance(100)
    await turns(20)
  }
  assert.equal(await client.get('a'), '1')
  assert.equal(host.server.statistics().acceptedConnections, 1)
})

test('a client that is silent after the greeting is cut off, one that gives signs of life is not', async (t) => {
  const clock = holdClock(t)
  const { address, honest } = await served(t, { limits: { silenceMs: 2000 } })
  const silent = await attacker(t, address)
  const alive = await attacker(t, address)
  const live = async () => {
    alive.send(Both.ping)
    await Promise.all([honest.get('a'), alive.next(([kind]) => kind === Both.pong)])
  }
  assert.ok(await isCutOffAfter(clock, [silent], 2000, live))
  assert.equal(alive.socket.destroyed, false)
})

test('a client that asks for much and reads nothing is cut off, and what it asked for is not all held', async (t) => {
  const clock = holdClock(t)
  let calls = 0
  const { address } = await served(t, {
    limits: { stallMs: 200, unsentBytes: 1 << 20, requestsAtOnce: 4 },
    methods: {
      much: () => {
        calls++
        return Buffer.alloc(300_000)
      }
    }
  })
  const client = await attacker(t, address)
  client.socket.pause()
  for (let number = 1; number <= 500; number++) client.send(Ask.call, number, 'much', [])
  for (let number = 501; number <= 50_000; number++) client.send(Both.ping)
  // A paused socket does not notice its end, but a write does.
  assert.ok(await isCutOffAfter(clock, [client], 200, () => client.send(Both.ping)))
  assert.ok(calls < 30, `${calls} calls`)
})

test('large requests that are worked on at once hold no more than half of sessionBytes', async (t) => {
  const started = []
  const { address } = await served(t, {
    limits: { messageBytes: 1 << 20, sessionBytes: 4 << 20 },
    methods: { slow: () => new Promise((resolve) => started.push(resolve)) }
  })
  const client = await attacker(t, address)
  const answers = Array.from({ length: 10 }, () => client.ask(Ask.call, 'slow', [Buffer.alloc(600_000)]))
  await until(() => started.length >= 3)
  await turns(MANY_TURNS)
  // The fourth request has no room while it is received.
  assert.equal(started.length, 3)
  for (let done = 0; done < 10; done++) {
    await until(() => started.length > 0)
    started.shift()()
  }
  await Promise.all(answers)
})

test('bytes that come while a client is being authenticated wait in the connection', async (t) => {
  let authenticate
  const { address } = await served(t, {
    authenticate: (token) =>
      token === undefined
        ? { name: 'honest' }
        : new Promise((resolve) => {
            authenticate = () => resolve({ name: token })
          })
  })
  const client = await rawClient(address)
  client.send(Ask.hello, 1, 'slow', null)
  const chunk = packFrame([Ask.write, 1, [bytes('a'), Buffer.alloc(1 << 20)], false])
  for (let i = 0; i < 32; i++) client.write(chunk)
  await until(() => authenticate !== undefined)
  await turns(MANY_TURNS)
  // The operating system holds a part, and the server no more than it had read by then.
  assert.ok(client.socket.writableLength > 16 << 20, `${client.socket.writableLength} bytes wait`)
  authenticate()
  await client.close()
})

test('a flood of connections is turned away beyond the limit, and room is made when they end', async (t) => {
  const { address } = await served(t, { limits: { connections: 5 } })
  const connected = await Promise.all(
    Array.from({ length: 20 }, () => rawClient(address).catch(() => undefined))
  )
  const open = () => connected.filter((client) => client !== undefined && !client.socket.destroyed)
  // One belongs to the honest client.
  await until(() => open().length <= 4)
  await turns(MANY_TURNS)
  assert.equal(open().length, 4)

  await Promise.all(open().map((client) => client.close()))
  for (let welcome; welcome === undefined; ) {
    const late = await attacker(t, address)
    welcome = late.welcome
  }
})

test('sessions are limited, and end when the client says goodbye', async (t) => {
  const { address } = await served(t, { limits: { sessions: 2 } })
  const second = await attacker(t, address)
  const third = await attacker(t, address)
  assert.deepEqual(third.welcome.slice(0, 2), [Tell.refused, 'NET_LIMIT'])
  second.send(Ask.bye)
  await second.closed
  const fourth = await attacker(t, address)
  assert.equal(fourth.welcome[0], Tell.welcome)
})

test('another connection of a session takes the place of the first', async (t) => {
  const { address } = await served(t)
  const first = await attacker(t, address)
  const second = await attacker(t, address, { ticket: first.welcome[1] })
  assert.equal(second.welcome[2], true)
  await first.closed
  assert.equal((await second.ask(Ask.get, bytes('a'), null))[0], Tell.result)
})

test('requests that come too fast wait, all are done, and nothing turns in vain', async (t) => {
  const { proceed } = ServerConnection.prototype
  let proceeds = 0
  ServerConnection.prototype.proceed = function () {
    proceeds++
    proceed.call(this)
  }
  t.after(() => {
    ServerConnection.prototype.proceed = proceed
  })

  const clock = holdClock(t)
  const { address } = await served(t, { limits: { requestsPerSecond: 50 } })
  const client = await attacker(t, address)
  let answers = 0
  const asked = Array.from({ length: 75 }, async () => {
    await client.ask(Ask.get, bytes('a'), null)
    answers++
  })
  // One second's worth is allowed at once, then one request every 20 ms.
  for (let due = 50; due <= 75; due++) {
    await until(() => answers >= due)
    await turns(20)
    assert.equal(answers, due)
    clock.advance(20)
  }
  await Promise.all(asked)
  // The next requests proceed after each finished request, after its answer was sent, and after each pause.
  assert.ok(proceeds <= 2 * 75 + 25 + 10, `${proceeds} times`)
})

test('a session that came too fast does not start afresh with another connection', async (t) => {
  const clock = holdClock(t)
  const { address } = await served(t, { limits: { requestsPerSecond: 10 } })
  const first = await attacker(t, address)
  await Promise.all(Array.from({ length: 10 }, () => first.ask(Ask.get, bytes('a'), null)))
  await first.close()
  const second = await attacker(t, address, { ticket: first.welcome[1] })
  let answers = 0
  const asked = [1, 2, 3].map(() => second.ask(Ask.get, bytes('a'), null).then(() => answers++))
  for (let due = 0; due <= 3; due++) {
    await until(() => answers >= due)
    await turns(20)
    assert.equal(answers, due)
    clock.advance(100)
  }
  await Promise.all(asked)
})

test('a client whose requests wait does not take the server for dead', async (t) => {
  const clock = holdClock(t)
  const started = []
  const { connect } = await served(t, {
    limits: { requestsAtOnce: 1, silenceMs: 500 },
    methods: { slow: () => new Promise((resolve) => started.push(() => resolve('done'))) }
  })
  const client = connect({ keepAliveMs: 750 })
  await client.open()
  let changes = 0
  client.on('connection', () => changes++)
  const calls = Promise.all([client.call('slow'), client.call('slow')])
  for (let call = 1; call <= 2; call++) {
    await until(() => started.length === call)
    for (let passed = 0; passed < 1750; passed += 50) {
      clock.advance(50)
      await turns(20)
    }
    started[call - 1]()
  }
  assert.deepEqual(await calls, ['done', 'done'])
  assert.equal(changes, 0)
})

for (const transport of ['unix', 'tcp', 'ws']) {
  test(`many large reads and writes at once get through over ${transport}`, async (t) => {
    const { honest } = await served(t, { transport, limits: { unsentBytes: 1, requestsAtOnce: 8 } })
    const value = 'x'.repeat(60_000)
    await Promise.all(Array.from({ length: 100 }, (_, i) => honest.put(`k${i}`, value)))
    const values = await Promise.all(Array.from({ length: 300 }, (_, i) => honest.get(`k${i % 100}`)))
    assert.ok(values.every((each) => each === value))
  })
}
