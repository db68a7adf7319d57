// Hostile clients against a server: data that is off limits stays unchanged, an honest client is not affected, the server holds no
// more than its budget, and in the end it holds nothing for them.

import assert from 'node:assert/strict'
import { MemoryLevel } from 'memory-level'
import { Level } from 'terrace'
import { feed } from 'terrace-toolbox/feed'
import { turns, until } from '../../../../tests/support/waiting.mjs'
import { packFrame } from '../../dist/protocol/frame.js'
import { PROTOCOL_VERSION } from '../../dist/protocol/limits.js'
import { Ask, Tell } from '../../dist/protocol/messages.js'
import { hostileFrame, MAX_MESSAGE_BYTES } from './fuzz-frames.js'
import { anyPart, clientMessage, mutatedBytes, mutatedFrame } from './fuzz-messages.js'
import { seed } from './random.js'
import { rawClient } from './raw-client.js'
import { recordedSession } from './recorded-sessions.js'
import { addresses, serve } from './served.js'
import { temporaryPath } from './temporary.js'

/** Frames of one connection. */
export const FRAMES = 40

/** How many sessions are recorded, and how many hostile clients run at once. */
const RECORDED = 8
const AT_ONCE = 6

const limits = {
  messageBytes: MAX_MESSAGE_BYTES,
  batchOperations: 1000,
  iterators: 10,
  snapshots: 5,
  subscriptions: 5,
  unsentEventBytes: 2000,
  // So small that it is often used up.
  sessionBytes: 200_000,
  userBytes: 400_000,
  serverBytes: 800_000,
  sessionMs: 50
}

/** The most that statistics may report with this many sessions: see docs/net-protocol.md. */
const mostHeld = (sessions) => limits.serverBytes + 4 * MAX_MESSAGE_BYTES + sessions * 192 * 1024

/** The hostile user may do everything outside one sublevel. */
const tokens = {
  honest: { name: 'honest' },
  hostile: {
    name: 'hostile',
    permissions: {
      keys: [
        { allow: 'all', lt: '!honest!' },
        { allow: 'all', gte: '!honest"' }
      ],
      methods: ['echo', 'fail', 'toString', '__proto__'],
      feeds: 'all'
    }
  }
}

/** What a hostile client sends, by kind: a list of frames, which begins with a greeting if `hello` is one. */
const attacks = {
  'messages that nearly make sense': (random, { hello }) => [
    hello,
    ...Array.from({ length: FRAMES }, (_, i) => clientFrame(random, i))
  ],
  'no greeting': (random) => Array.from({ length: 5 }, (_, i) => clientFrame(random, i)),
  'a wrong greeting': (random) => [
    random.pick([
      () => mutatedFrame(random, [Ask.hello, PROTOCOL_VERSION, 'hostile', null]),
      () => packFrame([Ask.hello, anyPart(random, 2), anyPart(random, 2), anyPart(random, 2)]),
      () => packFrame([Ask.hello, PROTOCOL_VERSION, 'x'.repeat(random.below(20_000)), null])
    ])(),
    ...Array.from({ length: 5 }, (_, i) => clientFrame(random, i))
  ],
  'frames of anything': (random, { hello }) => [
    ...(random.below(2) === 0 ? [hello] : []),
    ...Array.from({ length: 1 + random.below(4) }, () => hostileFrame(random))
  ],
  'a session with changed bytes': (random, { session }) =>
    session.map((frame, i) => (i > 0 && random.below(8) === 0 ? mutatedBytes(random, frame) : frame)),
  'a session in another order': (random, { session: [hello, ...frames] }) => {
    for (let swaps = 1 + random.below(frames.length); swaps > 0; swaps--) {
      const [a, b] = [random.below(frames.length), random.below(frames.length)]
      ;[frames[a], frames[b]] = [frames[b], frames[a]]
    }
    return [hello, ...frames]
  },
  'a session with holes and repetitions': (random, { session: [hello, ...frames] }) => [
    hello,
    ...frames.flatMap((frame) => Array(random.pick([0, 1, 1, 1, 2, 3])).fill(frame))
  ],
  'a session that breaks off': (random, { session }) => {
    const stream = Buffer.concat(session)
    return [stream.subarray(0, random.below(stream.length))]
  },
  'two sessions in one': (random, { session, other }) => [
    session[0],
    ...session.slice(1).flatMap((frame, i) => (random.below(2) === 0 ? [frame, other[i] ?? frame] : [frame]))
  ],
  'bytes below a WebSocket': (random, { session }) => [mutatedBytes(random, Buffer.concat(session))]
}

/**
 * Attacks a server with `count` connections, some of which continue another one's session. Returns how many requests of each kind
 * succeeded and failed, the number of connections of each kind, and the most that the server held.
 */
export async function fuzzServer(random, count) {
  const fed = new MemoryLevel()
  await fed.open()
  const changes = feed(fed)
  await fed.put('key', 'first')
  const { db, openCount } = countingLevel()
  const host = await serve({
    db,
    tokens,
    feeds: { changes },
    methods: { echo: (...given) => given, fail: () => Promise.reject(new Error('no')) },
    limits
  })
  const { server } = host
  const listening = { unix: host.address }
  for (const transport of ['tcp', 'ws']) listening[transport] = await server.listen(addresses[transport]())
  const honest = host.connect({ token: 'honest' })
  const own = honest.sublevel('honest')
  const stored = db.sublevel('honest', { keyEncoding: 'utf8', valueEncoding: 'utf8' })
  const sessions = []
  while (sessions.length < RECORDED) sessions.push(await recordedSession(random, host.address, 'hostile'))
  const kinds = {}
  const tickets = [null]
  let mostHeldBytes = 0
  let tooMuch = false

  const attack = async () => {
    const kind = random.pick(Object.keys(attacks))
    const transport = kind === 'bytes below a WebSocket' ? 'ws' : random.pick(Object.keys(listening))
    kinds[kind] = (kinds[kind] ?? 0) + 1
    kinds[transport] = (kinds[transport] ?? 0) + 1
    const hello = packFrame([Ask.hello, PROTOCOL_VERSION, 'hostile', random.pick(tickets)])
    const [session, other] = [[...random.pick(sessions)], random.pick(sessions)]
    const frames = attacks[kind](random, { hello: Buffer.from(hello), session, other }).map((frame) =>
      Buffer.from(frame)
    )
    const client = await rawClient(listening[transport])
    client
      .next(([told]) => told === Tell.welcome)
      .then((welcome) => welcome && tickets.splice(random.below(4), 1, welcome[1]))
    if (random.below(4) === 0) client.socket.pause()
    if (kind === 'bytes below a WebSocket') client.socket.below.write(frames[0])
    else for (const piece of pieces(random, frames)) client.write(piece)
    const ending = random.below(4)
    if (ending === 1) await turns(random.below(20))
    if (ending > 1) await turns(300)
    // A client that does not read does not notice its end.
    if (ending === 0 && client.socket.isPaused?.() === false) client.socket.end()
    else client.socket.destroy()
    await client.closed
  }

  try {
    for (let done = 0; done < count; ) {
      const why = `seed ${seed}, after ${done} connections`
      const value = `value ${done}`
      await own.put('key', value)
      const attackers = Array.from({ length: Math.min(AT_ONCE, count - done) }, () => attack())
      const look = setInterval(() => {
        const { heldBytes, open } = server.statistics()
        mostHeldBytes = Math.max(mostHeldBytes, heldBytes)
        tooMuch ||= heldBytes > mostHeld(open.sessions) && `${heldBytes} bytes of ${open.sessions} sessions`
      }, 1)
      await fed.put('key', value)
      await Promise.all(attackers)
      clearInterval(look)
      done += attackers.length
      assert.equal(await own.get('key'), value, why)
      assert.deepEqual(await stored.iterator().all(), [['key', value]], why)
      assert.equal(tooMuch, false, why)
    }
    assert.equal(Object.prototype.polluted, undefined)
    await honest.close()
    // Sessions expire after `sessionMs`, with everything they had open.
    const { open } = server.statistics()
    await until(
      () => Object.values(server.statistics().open).every((each) => each === 0),
      JSON.stringify(open)
    )
    await until(() => server.statistics().heldBytes === 0)
    await until(() => openCount() === 0)
    return { requests: countsOf(server.statistics().requests), kinds, mostHeldBytes }
  } finally {
    await host.stop()
    await changes.close()
    await fed.close()
  }
}

/** Splits frames as they may arrive: one by one, all together, or cut anywhere. */
function pieces(random, frames) {
  if (random.below(2) === 0) return frames
  const stream = Buffer.concat(frames)
  if (random.below(2) === 0) return [stream]
  const cut = []
  const size = random.pick([3, 100, 5000])
  for (let at = 0; at < stream.length && cut.length < 200; ) {
    const end = cut.length === 199 ? stream.length : at + 1 + random.below(size)
    cut.push(stream.subarray(at, end))
    at = end
  }
  return cut
}

/** A database that tracks its open iterators and snapshots. */
function countingLevel() {
  const db = new Level(temporaryPath('fuzzed'), { keyEncoding: 'buffer', valueEncoding: 'buffer' })
  let open = 0
  for (const method of ['keys', 'values', 'iterator', 'snapshot']) {
    const make = db[method]
    db[method] = function (...args) {
      const made = make.apply(this, args)
      const { close } = made
      let isOpen = true
      open++
      made.close = function () {
        if (isOpen) open--
        isOpen = false
        return close.call(this)
      }
      return made
    }
  }
  return { db, openCount: () => open }
}

/** A valid frame, an almost valid one, or garbage. */
function clientFrame(random, i) {
  const number = random.below(10) === 0 ? random.below(FRAMES) : i + 1
  switch (random.below(24)) {
    case 0:
      // These can end the connection, so they come late.
      return i < FRAMES / 2 ? packFrame(clientMessage(random, number)) : hostileFrame(random)
    case 1:
    case 2:
      return mutatedFrame(random, clientMessage(random, number))
    default:
      return packFrame(clientMessage(random, number))
  }
}

function countsOf(requests) {
  return Object.fromEntries(
    Object.entries(requests).map(([name, { count, failures }]) => [
      name,
      { done: count - failures, failed: failures }
    ])
  )
}
