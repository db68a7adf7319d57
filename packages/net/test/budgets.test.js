// The most that clients can make a server hold, as stated in docs/net-protocol.md: hostile clients of each kind try to exceed it
// over each transport, while an honest client works. Also tests the budgets themselves.

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { MemoryLevel } from 'memory-level'
import { NetLevel } from 'terrace-net'
import { feed } from 'terrace-toolbox/feed'
import { holdClock } from '../../../tests/support/clock.mjs'
import { isShort } from '../../../tests/support/form.mjs'
import { turns, until } from '../../../tests/support/waiting.mjs'
import { packFrame } from '../dist/protocol/frame.js'
import { PART_BYTES } from '../dist/protocol/limits.js'
import { Ask, Tell } from '../dist/protocol/messages.js'
import { Budget, SharedBytes } from '../dist/server/budget.js'
import { MAX_READS } from '../dist/server/reads.js'
import { attacker, served } from './support/attacked.js'
import { Random, seed } from './support/random.js'
import { greetedClient, rawClient } from './support/raw-client.js'

const MIB = 1 << 20
const bytes = (text) => Buffer.from(text)
const buffers = { keyEncoding: 'buffer', valueEncoding: 'buffer' }
const everything = [null, null, null, null]

const USERS = 4
const CLIENTS = isShort ? 8 : 16
const limits = {
  messageBytes: MIB,
  sessionBytes: 2 * MIB,
  userBytes: 8 * MIB,
  serverBytes: 16 * MIB,
  unsentEventBytes: MIB,
  batchOperations: 10_000,
  // Nothing is cut off during measurements.
  ...{ helloMs: 600_000, silenceMs: 600_000, stallMs: 600_000, sessionMs: 600_000 },
  closeMs: 1
}
const LARGE = MIB - 1000

/** The table of limits in docs/net-protocol.md: bytes by name. */
const published = Object.fromEntries(
  [
    ...readFileSync(new URL('../../../docs/net-protocol.md', import.meta.url), 'utf8').matchAll(
      /^\| (.*?) \| (\d+) KiB for each (session|connection) \|/gm
    )
  ].map(([, , kib, what]) => [what, Number(kib) * 1024])
)

assert.deepEqual(
  Object.keys(published).sort(),
  ['connection', 'session'],
  'the table in docs/net-protocol.md'
)

/** The most that statistics may report: the budget, one request and one result without room, and small amounts. */
const mostHeld = (clients) => limits.serverBytes + 2 * MIB + clients * published.session
/** By how much the process may grow, with a margin for V8 and Node. */
const mostMemory = (clients) =>
  mostHeld(clients) + clients * published.connection + 2 * MIB + 0.1 * limits.serverBytes + 4 * MIB

/** Keys whose bounds are large. */
const wide = [Buffer.alloc(100_000, 1), null, null, null]

/** A frame without its last byte. */
const cut = (frame) => frame.subarray(0, frame.length - 1)

/** Parts of one message, without the last one. */
function unfinished(count) {
  const part = (number) => {
    const frame = Buffer.alloc(9 + PART_BYTES, 7)
    frame.writeUInt32LE(5 + PART_BYTES)
    frame[4] = 1
    frame.writeUInt32LE(number, 5)
    return frame
  }
  return Buffer.concat(Array.from({ length: count }, (_, i) => part(i % 3)))
}

const repeat = (count, act) => {
  for (let i = 0; i < count; i++) act(i)
}

/** Subscribes to everything many times, and takes no events. */
function subscribe(client, count, feed) {
  repeat(count, (i) => client.ask(Ask.subscribe, i + 1, feed, everything, null))
}

/**
 * The behaviour of hostile clients, by kind. `least` is how much of it a server must be seen to hold in total: otherwise nothing
 * was tested. A kind that is refused with a code names it.
 */
const attacks = {
  'greetings that lack their end': {
    least: CLIENTS * 8000,
    isGreeted: false,
    run: (client) => client.write(cut(packFrame([Ask.hello, 1, 'x'.repeat(8100), null])))
  },
  'messages of a WebSocket that lack their end': {
    least: 6 * MIB,
    over: 'ws',
    run: ({ socket: { below } }) => {
      const header = Buffer.alloc(14)
      header[0] = 0x82
      header[1] = 0xff
      header.writeBigUInt64BE(BigInt(2 * MIB), 2)
      below.write(header)
      below.write(Buffer.alloc(2 * MIB - 1))
    }
  },
  'messages that lack their end': {
    least: 6 * MIB,
    run: (client) => client.write(cut(packFrame([Ask.write, 1, [bytes('a'), Buffer.alloc(LARGE)], false])))
  },
  'messages in parts that lack their end': { least: 6 * MIB, run: (client) => client.write(unfinished(15)) },
  'large requests that are worked on': {
    least: 6 * MIB,
    run: (client) => repeat(20, () => client.ask(Ask.call, 'never', [Buffer.alloc(200_000)]))
  },
  'requests of tiny parts that are worked on': {
    least: 6 * MIB,
    run: (client) => repeat(20, () => client.ask(Ask.call, 'never', Array(5000).fill(Buffer.alloc(0))))
  },
  'values that are not read': {
    least: 6 * MIB,
    run: (client) => {
      client.socket.pause()
      repeat(40, () => client.ask(Ask.get, bytes('large'), null))
    }
  },
  'values of many keys that are not read': {
    least: 6 * MIB,
    run: (client) => {
      client.socket.pause()
      repeat(40, () => client.ask(Ask.getMany, Array(8).fill(bytes('middle')), null))
    }
  },
  'small values that are not read': {
    least: 4 * MIB,
    run: (client) => {
      client.socket.pause()
      repeat(300, () => client.ask(Ask.get, bytes('small'), null))
    }
  },
  'pages that are not read': {
    least: 4 * MIB,
    run: (client) => {
      client.socket.pause()
      repeat(50, (i) => {
        client.ask(Ask.cursor, i + 1, everything, false, 3, null)
        client.ask(Ask.read, i + 1, 0, 1000, 2 ** 30)
      })
    }
  },
  'iterators with large bounds, that hold what did not fit into their page': {
    least: 6 * MIB,
    refusal: 'NET_LIMIT',
    run: async (client) => {
      for (let i = 1; i <= 40; i++) {
        client.ask(Ask.cursor, i, wide, false, 3, null)
        await client.ask(Ask.read, i, 0, 1000, 1)
      }
    }
  },
  'events that are read and not taken': {
    // Each event counts once.
    least: 0.5 * MIB,
    refusal: 'NET_MISSED',
    run: (client) => subscribe(client, 10, null),
    meanwhile: (put) => put(300_000, 6)
  },
  'events that are not read': {
    least: 2 * MIB,
    run: async (client) => {
      subscribe(client, 50, null)
      await client.ask(Ask.get, bytes('a'), null)
      client.socket.pause()
    },
    meanwhile: (put) => put(300_000, 6)
  },
  'changes of a feed that are not taken': {
    least: 6 * MIB,
    run: (client) => subscribe(client, 20, 'changes'),
    meanwhile: (put) => put(200_000, 12)
  },
  'subscriptions with large bounds': {
    least: 6 * MIB,
    refusal: 'NET_LIMIT',
    run: (client) => repeat(30, (i) => client.ask(Ask.subscribe, i + 1, null, wide, null))
  },
  'results of calls that are not acknowledged': {
    least: 6 * MIB,
    run: async (client) => {
      for (let i = 0; i < 30; i++) await client.ask(Ask.call, 'echo', [Buffer.alloc(100_000)])
    }
  },
  'results of writes that are not acknowledged': {
    least: 6 * MIB,
    run: (client) => repeat(9000, (i) => client.send(Ask.write, i + 1, [], false))
  },
  'sessions that are left behind': {
    least: 6 * MIB,
    run: async (client, connect) => {
      for (let session = 0; session < 3; session++) {
        for (let i = 0; i < 10; i++) await client.ask(Ask.call, 'echo', [Buffer.alloc(100_000)])
        await client.close()
        client = await connect()
      }
    },
    sessions: 4
  }
}

/** Starts the process that runs the servers. It is killed after the test. */
async function processFor(t, transport) {
  const names = [...Array.from({ length: USERS }, (_, i) => `user ${i}`), 'honest']
  const tokens = Object.fromEntries(names.map((name) => [name, { name }]))
  const values = { large: LARGE, middle: 100_000, small: 60_000 }
  const file = fileURLToPath(new URL('support/attacked-process.js', import.meta.url))
  const child = fork(file, [JSON.stringify({ transport, values, limits, tokens })])
  t.after(() => child.kill('SIGKILL'))
  await once(child, 'message')
  return async (message) => {
    child.send(message)
    return (await once(child, 'message'))[0]
  }
}

/** Measures until two consecutive measurements are equal. */
async function settled(ask) {
  let before = -1
  let now = await ask('memory')
  while (now.heldBytes !== before) {
    before = now.heldBytes
    now = await ask('memory')
  }
  return now
}

for (const [turn, transport] of ['unix', 'tcp', 'ws'].entries()) {
  test(`no kind of client makes a server hold more than is published: ${transport}`, async (t) => {
    const ask = await processFor(t, transport)
    let clients = []
    t.after(() => clients.map((client) => client.close()))
    // The short form tries each kind over one transport.
    const tried = Object.entries(attacks).filter(
      ([, { over }], i) => over === transport || (over === undefined && (!isShort || i % 3 === turn))
    )
    for (const [kind, attack] of tried) {
      const { run, meanwhile, least, refusal, sessions = 1, isGreeted = true } = attack
      const { address } = await ask('serve')
      const honest = new NetLevel(address, { token: 'honest' })
      await honest.put('warm', 'up')
      const start = await settled(ask)
      const refusals = new Set()
      const connect = async (i) => {
        const client = isGreeted
          ? await greetedClient(address, { token: `user ${i % USERS}` })
          : await rawClient(address)
        client.next(([told, , , code]) => told === Tell.ended && refusals.add(code))
        client.next(([told, , code]) => told === Tell.failure && refusals.add(code))
        return client
      }
      clients = await Promise.all(Array.from({ length: CLIENTS }, (_, i) => connect(i)))
      const runs = clients.map((client, i) => run(client, () => connect(i)))
      if (meanwhile !== undefined) {
        await Promise.all(runs)
        await meanwhile(async (length, count) => {
          for (let i = 0; i < count; i++) await ask({ put: length })
        })
      }
      const measured = await settled(ask)
      const more = measured.bytes - start.bytes
      const said = `${kind}: ${more} bytes more, ${measured.heldBytes} held`
      if (process.env.TERRACE_VERBOSE) console.log(transport, said, [...refusals], performance.now() | 0)
      const count = CLIENTS * sessions
      assert.ok(measured.heldBytes <= mostHeld(count), `${said}; ${mostHeld(count)} may be`)
      assert.ok(more <= mostMemory(count), `${said}; ${mostMemory(count)} may be more`)
      assert.ok(measured.heldBytes >= least, `${said}: too little for a test`)
      if (refusal !== undefined) assert.ok(refusals.has(refusal), `${kind}: ${[...refusals]}`)

      // The honest client does not wait for any of them.
      await honest.put('a', kind)
      assert.equal(await honest.get('a'), kind)
      await honest.close()
      await Promise.all(clients.map((client) => client.close()))
    }
    const { leftBytes } = await ask('serve')
    assert.equal(leftBytes, 0)
  })
}

test('clients whose messages have no room together are all served, one after the other', async (t) => {
  const { address, db, server } = await served(t, {
    limits: { messageBytes: MIB, sessionBytes: 2 * MIB, serverBytes: MIB }
  })
  const clients = await Promise.all(Array.from({ length: 12 }, () => attacker(t, address)))
  const value = (i) => Buffer.alloc(900_000, i)
  const answers = clients.map((client, i) => {
    const frame = packFrame([Ask.write, 1, [bytes(`k${i}`), value(i)], false])
    const answer = client.next(([kind, number]) => kind === Tell.result && number === 1)
    // All of them have begun before the first one ends.
    client.write(frame.subarray(0, 300_000))
    setImmediate(() => client.write(frame.subarray(300_000)))
    return answer
  })
  for (const answer of answers) assert.ok((await answer) !== undefined)
  for (const i of clients.keys()) {
    assert.ok((await db.get(bytes(`k${i}`), { valueEncoding: 'buffer' })).equals(value(i)))
  }
  // Reads by all clients, whose results do not fit together either, are answered as well.
  const reads = clients.map((client) => client.ask(Ask.getMany, [bytes('k1'), bytes('k2')], null))
  for (const read of reads) assert.equal((await read)[0], Tell.failure)
  const gets = clients.flatMap((client, i) => [0, 1, 2].map(() => client.ask(Ask.get, bytes(`k${i}`), null)))
  for (const get of gets) assert.equal((await get)[2].length, 900_000)
  for (const client of clients) client.send(Ask.received, [], 1000)
  await until(() => server.statistics().heldBytes === 0)
})

test('a client that does not finish a message loses its connection if others wait, and they go on', async (t) => {
  const clock = holdClock(t)
  const { address, warnings } = await served(t, {
    limits: { messageBytes: MIB, sessionBytes: 2 * MIB, serverBytes: MIB, stallMs: 200 }
  })
  const frame = packFrame([Ask.write, 1, [bytes('a'), Buffer.alloc(900_000)], false])
  const slow = await attacker(t, address)
  slow.write(cut(frame))
  await turns(200)
  // No other client waits yet, so it may take its time.
  clock.advance(1000)
  await turns(50)
  assert.equal(slow.socket.destroyed, false)
  const other = await attacker(t, address)
  const answer = other.next(([kind]) => kind === Tell.result)
  other.write(frame)
  while (!slow.socket.destroyed) {
    clock.advance(10)
    await turns(20)
  }
  assert.ok((await answer) !== undefined)
  assert.match(warnings[0].message, /does not finish a message/)
})

test('budgets keep nothing of sessions that have ended, neither bytes nor who waits for room', async (t) => {
  const budgets = new Set()
  const { exempts } = Budget.prototype
  Budget.prototype.exempts = function (waiter) {
    for (const level of this.levels) budgets.add(level)
    return exempts.call(this, waiter)
  }
  t.after(() => {
    Budget.prototype.exempts = exempts
  })
  const { address, server } = await served(t, {
    limits: { messageBytes: MIB, sessionBytes: 2 * MIB, serverBytes: MIB }
  })
  const frame = cut(packFrame([Ask.write, 1, [bytes('a'), Buffer.alloc(900_000)], false]))
  const clients = await Promise.all(Array.from({ length: 8 }, () => attacker(t, address)))
  for (const client of clients) client.write(frame)
  await until(() => [...budgets].some(({ waiters }) => waiters >= 5))
  await Promise.all(clients.map((client) => client.close()))
  await until(() => server.statistics().open.connections === 1)
  assert.deepEqual(
    [...budgets].map(({ waiters, heldBytes }) => [waiters, heldBytes]),
    [...budgets].map(() => [0, 0])
  )
})

test('changes of a feed that have no room to be kept come when there is room, each once', async (t) => {
  const fed = new MemoryLevel()
  await fed.open()
  const changes = feed(fed)
  t.after(async () => {
    await changes.close()
    await fed.close()
  })
  const { address, server } = await served(t, { feeds: { changes }, limits: { serverBytes: 2 * MIB } })
  for (let i = 0; i < 4; i++) {
    await fed.batch(['a', 'b', 'c'].map((key) => ({ type: 'put', key, value: 'x'.repeat(150_000) })))
  }
  const clients = await Promise.all(Array.from({ length: 8 }, () => attacker(t, address)))
  for (const client of clients) await client.ask(Ask.subscribe, 1, 'changes', everything, null)
  await turns(300)
  const { heldBytes } = server.statistics()
  assert.ok(heldBytes <= 2 * MIB + 300_000 + 8 * published.session, `${heldBytes} bytes`)
  const sequences = await Promise.all(
    clients.map(async (client) => {
      const found = []
      while (found.length < 12) {
        const event = await client.next(([kind]) => kind === Tell.event)
        const [, , number, , , sequence, , , , , , first, last] = event
        found.push([sequence, first, last])
        client.send(Ask.credit, 1, number)
      }
      return found
    })
  )
  // The marks are those of the batches, regardless of where a reading resumed.
  const expected = Array.from({ length: 12 }, (_, i) => [i + 1, i % 3 === 0, i % 3 === 2])
  for (const found of sequences) assert.deepEqual(found, expected)
})

test(`bytes that sessions share are charged once at each level, and never less than is held (TERRACE_SEED=${seed})`, () => {
  const random = new Random()
  for (let round = 0; round < 50; round++) {
    const server = new Budget(Number.POSITIVE_INFINITY)
    const users = [server, new Budget(1e9, server), new Budget(1e9, server)]
    const sessions = users.flatMap((user) => [new Budget(1e9, user), new Budget(1e9, user)])
    // Pieces of one write, of which each holder keeps some.
    const pieces = Array.from({ length: 6 }, () => 1 + random.below(100))
    const sum = (some) => [...some].reduce((all, piece) => all + pieces[piece], 0)
    const shared = new SharedBytes(sum(pieces.keys()))
    const holders = []
    for (let step = 0; step < 60; step++) {
      if (random.below(2) === 0 || holders.length === 0) {
        const some = [...pieces.keys()].filter(() => random.below(2) === 0)
        const session = random.pick(sessions)
        holders.push({ session, some })
        shared.keep(session, sum(some))
      } else {
        const [{ session, some }] = holders.splice(random.below(holders.length), 1)
        shared.keep(session, -sum(some))
      }
      for (const level of [server, ...users.slice(1), ...sessions]) {
        const below = holders.filter(({ session }) => session.levels.includes(level))
        const held = sum(new Set(below.flatMap(({ some }) => some)))
        const most = Math.min(
          sum(pieces.keys()),
          below.reduce((all, { some }) => all + sum(some), 0)
        )
        assert.ok(level.heldBytes >= held && level.heldBytes <= most, `${held} ${level.heldBytes} ${most}`)
      }
    }
    for (const { session, some } of holders) shared.keep(session, -sum(some))
    for (const level of [...users, ...sessions]) assert.equal(level.heldBytes, 0)
  }
})

test('values are read a few at a time, and fewer once large ones were seen, however many sessions ask', async (t) => {
  const db = new MemoryLevel(buffers)
  const waiting = []
  let isHeld = false
  const { _get: get } = db
  db._get = async function (...args) {
    if (isHeld) await new Promise((resolve) => waiting.push(resolve))
    return get.apply(this, args)
  }
  const { address } = await served(t, { db, limits: { serverBytes: 16 * MIB } })
  await db.put(bytes('small'), bytes('1'))
  await db.put(bytes('large'), Buffer.alloc(2 * MIB))
  const clients = await Promise.all(Array.from({ length: 4 }, () => attacker(t, address)))

  /** The most reads that run at once while all clients request a key many times. All of them must be answered. */
  async function reads(key, count) {
    isHeld = true
    const answers = clients.flatMap((client) =>
      Array.from({ length: count }, () => client.ask(Ask.get, bytes(key), null))
    )
    let most = 0
    for (let done = 0; done < answers.length; ) {
      await until(() => waiting.length > 0)
      await turns(20)
      most = Math.max(most, waiting.length)
      for (const resolve of waiting.splice(0)) {
        done++
        resolve()
      }
      // Reads that found no room for their results are repeated.
      if (done >= answers.length) isHeld = false
    }
    for (const answer of answers) assert.equal((await answer)[0], Tell.result)
    return most
  }
  assert.equal(await reads('small', 50), MAX_READS)
  for (const client of clients) await client.ask(Ask.get, bytes('large'), null)
  // Half of the server's budget, in values of that size; rounded down, because each has a header.
  assert.ok((await reads('large', 8)) <= 4)
})
