// Peers that break the rules or request too much: each gets an error or loses its connection, and other clients are
// not affected.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { MemoryLevel } from 'memory-level'
import { WebSocket } from 'ws'
import { isShort } from '../../../tests/support/form.mjs'
import { turns, until } from '../../../tests/support/waiting.mjs'
import { FrameReader, packFrame } from '../dist/protocol/frame.js'
import { PART_BYTES } from '../dist/protocol/limits.js'
import { Ask, notices, requests, Tell } from '../dist/protocol/messages.js'
import { Budget } from '../dist/server/budget.js'
import { Results } from '../dist/server/results.js'
import { attacker, served } from './support/attacked.js'
import { fuzzClient } from './support/fuzz-client.js'
import { fuzzReader } from './support/fuzz-frames.js'
import { partsOf } from './support/fuzz-messages.js'
import { fuzzServer } from './support/fuzz-server.js'
import { Random, seed } from './support/random.js'
import { rawClient } from './support/raw-client.js'
import { serve } from './support/served.js'

const everything = [null, null, null, null]
const bytes = (text) => Buffer.from(text)

test(`hostile bytes end in messages or NET_PROTOCOL, and nothing else (TERRACE_SEED=${seed})`, () => {
  const { messages, errors } = fuzzReader(new Random(), 3000)
  assert.ok(messages > 100 && errors > 100, `${messages} messages, ${errors} errors`)
})

test(`hostile clients neither stop a server nor reach what is not theirs, and leave nothing (TERRACE_SEED=${seed})`, async (t) => {
  const { requests, kinds, mostHeldBytes } = await fuzzServer(new Random(), isShort ? 120 : 2000)
  t.diagnostic(`connections: ${JSON.stringify(kinds)}; at most ${mostHeldBytes} bytes were held`)
  for (const [name, { done }] of Object.entries(requests)) assert.ok(done > 0, `${name} was never done`)
})

test(`calls of clients end, whatever a hostile server says (TERRACE_SEED=${seed})`, async () => {
  const [servers, least] = isShort ? [25, 20] : [60, 50]
  const { fulfilled, rejected } = await fuzzClient(new Random(), servers)
  assert.ok(fulfilled > least && rejected > least, `${fulfilled} fulfilled, ${rejected} rejected`)
})

/** Values of every kind on the wire. Each type of part, except `anything` and the token's, rejects some of them. */
const values = [
  null,
  true,
  -1,
  0.5,
  0,
  'text',
  bytes('a'),
  [],
  [1],
  ['a'],
  [null],
  [bytes('a'), 1],
  everything,
  {}
]

for (const [name, { kind, parts }] of Object.entries(requests)) {
  test(`a part of '${name}' that is of another type is an error, and the connection goes on`, async (t) => {
    const { address } = await served(t)
    const client = await attacker(t, address)
    const random = new Random()
    for (const [i, [part, type]] of parts.entries()) {
      const wrong = values.filter((value) => !type.isValid(value))
      assert.ok(wrong.length > 0, part)
      for (const value of [...wrong, ...(type.isValid(undefined) ? [] : [undefined])]) {
        const given = partsOf(random, parts).with(i, value)
        // Cut off there if the value is to be missing.
        const sent = value === undefined ? given.slice(0, i) : given
        const [told, , code, message] = await client.ask(kind, ...sent)
        assert.deepEqual([told, code], [Tell.failure, 'NET_PROTOCOL'], `${name}(${JSON.stringify(given)})`)
        assert.match(message, new RegExp(`'${part}'`))
      }
    }
  })
}

for (const [name, { kind, parts }] of Object.entries({
  received: notices.received,
  credit: notices.credit
})) {
  test(`a part of '${name}' that is of another type ends the connection`, async (t) => {
    const { address } = await served(t)
    const random = new Random()
    for (const [i, [part, type]] of parts.entries()) {
      for (const value of values.filter((value) => !type.isValid(value))) {
        const client = await attacker(t, address)
        client.send(kind, ...partsOf(random, parts).with(i, value))
        const [told, code, message] = await client.next()
        assert.deepEqual([told, code], [Tell.refused, 'NET_PROTOCOL'])
        assert.match(message, new RegExp(`'${part}'`))
      }
    }
  })
}

test('every request with wrong parts is answered with an error, and the connection goes on', async (t) => {
  const { address } = await served(t)
  const client = await attacker(t, address)
  const wrong = [[], [null], ['text'], [-1], [[1]], [{}], [bytes('a'), 'x'], [1, 2, 3, 4, 5, 6]]
  const { hello, received, credit, bye, ...requests } = Ask
  for (const [name, kind] of Object.entries(requests)) {
    for (const parts of wrong) {
      // A valid request: a get of a key, or a call without a snapshot.
      if (['closeSnapshot', 'closeCursor', 'snapshot', 'unsubscribe'].includes(name) && parts[0] === 1)
        continue
      const answer = await client.ask(kind, ...parts)
      if (answer === undefined) assert.ok(['subscribe', 'unsubscribe'].includes(name), name)
      else assert.equal(answer[0], Tell.failure, `${name}(${JSON.stringify(parts)})`)
    }
  }
})

test('a message of millions of tiny parts is refused before it is unpacked', () => {
  const reader = new FrameReader(64 << 20, 1000)
  const count = 1_000_000
  const payload = Buffer.concat([Buffer.from([0x93, 2, 1, 0xdd, 0, 15, 66, 64]), Buffer.alloc(2 * count)])
  for (let i = 0; i < count; i++) payload[8 + 2 * i] = 0xc4
  const frame = Buffer.concat([Buffer.alloc(5), payload])
  frame.writeUInt32LE(payload.length + 1)
  reader.push(frame)
  assert.throws(() => reader.next(), { code: 'NET_PROTOCOL', message: /too many parts/ })
})

test('parts of a byte each cannot fill the memory', () => {
  const reader = new FrameReader(64 << 20, 1000)
  reader.push(Buffer.from([6, 0, 0, 0, 1, 7, 0, 0, 0, 0xc0]))
  assert.throws(() => reader.next(), { code: 'NET_PROTOCOL', message: /too small/ })
})

test('messages in parts that never end may hold no more than one message', () => {
  const reader = new FrameReader(10 * PART_BYTES, 1000)
  const part = (number) => {
    const frame = Buffer.alloc(9 + PART_BYTES)
    frame.writeUInt32LE(5 + PART_BYTES)
    frame[4] = 1
    frame.writeUInt32LE(number, 5)
    return frame
  }
  assert.throws(
    () => {
      for (let number = 0; number < 12; number++) {
        reader.push(part(number))
        reader.next()
      }
    },
    { code: 'NET_PROTOCOL', message: /exceed the limit/ }
  )
})

test('a message that comes a byte at a time is read whole', () => {
  const reader = new FrameReader(1 << 20, 1000)
  const frame = packFrame([1, 2, Buffer.alloc(50_000, 7)])
  let message
  for (let i = 0; i < frame.length; i++) {
    reader.push(Buffer.from(frame.subarray(i, i + 1)))
    message = reader.next()
    assert.equal(message === undefined, i < frame.length - 1)
  }
  assert.equal(message[2].length, 50_000)
})

test('times are the only extension that a message may have', () => {
  const read = (...parts) => {
    const reader = new FrameReader(1 << 20, 1000)
    reader.push(packFrame([1, 2, ...parts]))
    return reader.next().slice(2)
  }
  for (const ms of [0, 1, 1_700_000_000_123, -1, 2 ** 45])
    assert.deepEqual(read(new Date(ms)), [new Date(ms)])
  const regExp = Buffer.from([0x93, 1, 2, 0xd4, 0x78, 0x91])
  const reader = new FrameReader(1 << 20, 1000)
  reader.push(Buffer.concat([Buffer.from([regExp.length + 1, 0, 0, 0, 0]), regExp]))
  assert.throws(() => reader.next(), { code: 'NET_PROTOCOL' })
})

test('a message before the greeting, a second greeting, and an unknown kind end the connection', async (t) => {
  const { address } = await served(t)
  const first = await rawClient(address)
  first.send(Ask.get, 1, bytes('a'), null)
  assert.equal((await first.next())[1], 'NET_PROTOCOL')
  await first.closed

  const other = await rawClient(address)
  other.send(Ask.hello, 99, null, null)
  assert.equal((await other.next())[1], 'NET_PROTOCOL')
  await other.closed

  for (const kind of [Ask.hello, 77]) {
    const client = await attacker(t, address)
    client.send(kind, 1, null, null)
    assert.deepEqual((await client.next()).slice(0, 2), [Tell.refused, 'NET_PROTOCOL'])
    await client.closed
  }
})

test('a message that is too large ends the connection, before the greeting a small one does', async (t) => {
  const { address } = await served(t, { limits: { messageBytes: 100_000 } })
  const stranger = await rawClient(address)
  stranger.send(Ask.hello, 1, 'x'.repeat(20_000), null)
  assert.equal((await stranger.next())[1], 'NET_PROTOCOL')
  await stranger.closed

  const client = await attacker(t, address)
  client.send(Ask.write, 1, [bytes('a'), Buffer.alloc(200_000)], false)
  assert.equal((await client.next())[1], 'NET_PROTOCOL')
  await client.closed
})

test('a client of the package learns that a request is too large, and works on', async (t) => {
  const { honest } = await served(t, { limits: { messageBytes: 100_000, batchOperations: 10 } })
  await assert.rejects(honest.put('a', 'x'.repeat(200_000)), { code: 'NET_LIMIT' })
  const operations = Array.from({ length: 5000 }, (_, i) => ({ type: 'put', key: `k${i}`, value: '' }))
  await assert.rejects(honest.batch(operations), { code: 'NET_LIMIT' })
  await assert.rejects(honest.getMany(operations.map(({ key }) => key)), { code: 'NET_LIMIT' })
  await assert.rejects(honest.hasMany(operations.map(({ key }) => key)), { code: 'NET_LIMIT' })
  assert.deepEqual(await honest.keys().all(), [])
})

test('a request that makes the server break off is not sent again and again', async (t) => {
  let calls = 0
  const { honest } = await served(t, { limits: { batchOperations: 10 }, methods: { count: () => ++calls } })
  const tooMany = Array.from({ length: 5000 }, () => 1)
  await assert.rejects(honest.call('count', tooMany), ({ code, cause }) => {
    assert.equal(code, 'NET_WRITE_UNKNOWN')
    assert.equal(cause.code, 'NET_PROTOCOL')
    return true
  })
  assert.equal(await honest.call('count'), 1)
})

test('values that are too many for one answer are refused', async (t) => {
  const { honest } = await served(t, { limits: { messageBytes: 1_000_000 } })
  await honest.put('large', 'x'.repeat(100_000))
  assert.equal((await honest.getMany(Array(5).fill('large'))).length, 5)
  await assert.rejects(honest.getMany(Array(5000).fill('large')), { code: 'NET_LIMIT' })
})

test('a page is bounded, however much the client asks for', async (t) => {
  const { address, db } = await served(t)
  await db.batch(
    Array.from({ length: 3000 }, (_, i) => ({
      type: 'put',
      key: bytes(`k${String(i).padStart(4, '0')}`),
      // The first ones are small, and give no hint of the size of the rest.
      value: Buffer.alloc(i < 200 ? 1 : 2000)
    }))
  )
  const client = await attacker(t, address)
  await client.ask(Ask.cursor, 1, everything, false, 3, null)
  const [, , page] = await client.ask(Ask.read, 1, 0, 2 ** 40, 2 ** 40)
  assert.equal(page[0], false)
  assert.ok(page[1].length < 4 << 20, `${page[1].length} bytes`)
})

test('iterators, snapshots and batches are limited, and their numbers cannot be used twice', async (t) => {
  const { address } = await served(t, { limits: { iterators: 3, snapshots: 2, batchOperations: 2 } })
  const client = await attacker(t, address)
  const cursor = (handle) => client.ask(Ask.cursor, handle, everything, false, 1, null)
  for (const handle of [1, 2, 3]) assert.equal((await cursor(handle))[0], Tell.result)
  assert.equal((await cursor(4))[2], 'NET_LIMIT')
  assert.equal((await cursor(1))[2], 'NET_PROTOCOL')
  await client.ask(Ask.closeCursor, 1)
  assert.equal((await cursor(1))[0], Tell.result)

  for (const handle of [1, 2]) assert.equal((await client.ask(Ask.snapshot, handle))[0], Tell.result)
  assert.equal((await client.ask(Ask.snapshot, 3))[2], 'NET_LIMIT')
  assert.equal((await client.ask(Ask.snapshot, 1))[2], 'NET_PROTOCOL')

  const three = ['a', 'b', 'c'].flatMap((key) => [bytes(key), bytes('1')])
  assert.equal((await client.ask(Ask.write, three, false))[2], 'NET_LIMIT')
})

test('an iterator that the server refuses fails, instead of asking for ever', async (t) => {
  const { honest } = await served(t, { limits: { iterators: 2 } })
  await honest.batch(['a', 'b', 'c'].map((key) => ({ type: 'put', key, value: key })))
  const open = [honest.keys(), honest.keys()]
  await Promise.all(open.map((iterator) => iterator.next()))
  await assert.rejects(honest.keys().all(), { code: 'NET_LIMIT' })
  await Promise.all(open.map((iterator) => iterator.close()))
  assert.deepEqual(await honest.keys().all(), ['a', 'b', 'c'])
})

test('an iterator that is closed while a seek waits, or while a page is read, leaves none open in the database', async (t) => {
  const db = new MemoryLevel({ keyEncoding: 'buffer', valueEncoding: 'buffer' })
  const open = new Set()
  let reads = 0
  let release
  const gate = new Promise((resolve) => {
    release = resolve
  })
  const { keys } = db
  db.keys = function (...args) {
    const iterator = keys.apply(this, args)
    open.add(iterator)
    const { close, _nextv: nextv } = iterator
    iterator.close = function () {
      open.delete(this)
      return close.call(this)
    }
    iterator._nextv = async function (...given) {
      reads++
      await gate
      return nextv.apply(this, given)
    }
    return iterator
  }
  // A read reaches it after moving to the second range.
  await db.put(bytes('z'), bytes(''))
  const permissions = {
    keys: [
      { allow: 'all', lt: 'm' },
      { allow: 'all', gte: 'n' }
    ]
  }
  const host = await serve({ db, tokens: { x: { name: 'x', permissions } } })
  t.after(() => host.stop())
  const client = await attacker(t, host.address, { token: 'x' })
  const HANDLES = 20
  for (let handle = 1; handle <= HANDLES; handle++) {
    client.send(Ask.cursor, 2 * handle, handle, everything, false, 1, null)
    if (handle % 2 === 0) client.send(Ask.seek, 2 * handle + 1, handle, bytes('a'))
    else client.send(Ask.read, 2 * handle + 1, handle, 0, 1, 10)
  }
  await until(() => reads === HANDLES / 2)
  for (let handle = 1; handle <= HANDLES; handle++) client.send(Ask.closeCursor, 100 + handle, handle)
  await client.askAs(1000, Ask.get, bytes('a'), null)
  release()
  // The last request is answered when everything is over.
  await client.next(([, number]) => number === 100 + HANDLES - 1)
  await turns(20)
  assert.equal(open.size, 0)
})

test('numbers of requests that collide or jump do not stop the server', async (t) => {
  let calls = 0
  let finish
  const { address } = await served(t, {
    methods: {
      slow: async () => {
        await new Promise((resolve) => {
          finish = resolve
        })
        return ++calls
      }
    }
  })
  const client = await attacker(t, address)
  client.send(Ask.call, 5, 'slow', [])
  client.send(Ask.received, [5, 6, 7], 1000)
  client.send(Ask.call, 5, 'slow', [])
  client.send(Ask.get, 5, bytes('a'), null)
  // Answered once everything sent before has arrived.
  await client.next(([, number, value]) => number === 5 && value === null)
  finish()
  assert.deepEqual(await client.next(([, , value]) => value === 1), [Tell.result, 5, 1])
  // It was running when the client acknowledged it, so its result is kept and can be sent again.
  client.send(Ask.call, 5, 'slow', [])
  assert.deepEqual(await client.next(([, , value]) => value === 1), [Tell.result, 5, 1])
  assert.equal(calls, 1)

  assert.equal((await client.askAs(Number.MAX_SAFE_INTEGER, Ask.write, [], false))[0], Tell.result)
  client.send(Ask.received, [Number.MAX_SAFE_INTEGER], Number.MAX_SAFE_INTEGER)
  client.send(Ask.cursor, 6, 1, everything, false, 1, null)
  assert.equal((await client.askAs(7, Ask.read, 1, 3, 10, 10))[0], Tell.failure)
})

test('pages that skip are an error, and a page that is asked for again is the same', async (t) => {
  const { address, db } = await served(t)
  await db.batch(['a', 'b', 'c'].map((key) => ({ type: 'put', key: bytes(key), value: bytes('') })))
  const client = await attacker(t, address)
  await client.ask(Ask.cursor, 1, everything, false, 1, null)
  const first = await client.ask(Ask.read, 1, 0, 1, 1)
  assert.deepEqual((await client.ask(Ask.read, 1, 0, 1, 1))[2], first[2])
  assert.equal((await client.ask(Ask.read, 1, 2, 1, 1))[2], 'NET_PROTOCOL')
  assert.equal(String((await client.ask(Ask.read, 1, 1, 1, 1))[2][1]), 'b')
  assert.equal((await client.ask(Ask.read, 1, 0, 1, 1))[2], 'NET_PROTOCOL')
})

test('results that are not acknowledged are kept as long as there is room, and then only that they were there', () => {
  const budget = new Budget(8 << 20)
  const results = new Results(budget)
  const frameOf = (number) => packFrame([Tell.result, number, Buffer.alloc(1 << 20, number)])
  const read = (number) => {
    const reader = new FrameReader(2 << 20)
    reader.push(Buffer.from(results.of(number)))
    return reader.next()
  }
  for (let number = 1; number <= 10; number++) {
    results.begin(number)
    results.keep(number, frameOf(number))
  }
  assert.ok(budget.heldBytes <= 4 << 20, `${budget.heldBytes} bytes`)
  assert.deepEqual(read(1), [Tell.result, 1, Buffer.alloc(1 << 20, 1)])
  assert.equal(read(10)[2], 'NET_WRITE_UNKNOWN')
  results.received([1, 10], 0)
  assert.equal(results.size, 8)
  results.received([], 9)
  assert.equal(results.size, 1)
  results.begin(11)
  results.received([11], 100)
  assert.equal(results.size, 1)
  assert.equal(results.of(11), undefined)
  results.keep(11, frameOf(11))
  assert.equal(read(11)[2].length, 1 << 20)
  results.begin(12)
  results.keep(12)
  assert.deepEqual(read(12), [Tell.result, 12, null])
  results.begin(13)
  results.clear()
  // This one was still running.
  results.keep(13, frameOf(13))
  assert.deepEqual([results.size, budget.heldBytes], [0, 0])
})

test('a method whose result or error cannot be sent fails, and the server goes on', async (t) => {
  const circular = {}
  circular.self = circular
  const { honest } = await served(t, {
    methods: {
      huge: () => 10n ** 40n,
      circular: () => circular,
      // biome-ignore lint/suspicious/noThenProperty: this is what such methods return
      thenable: () => Object.assign(Object.create(null), { then: (resolve) => resolve('later') }),
      nothing: () => Promise.reject(Object.create(null)),
      undefined: () => Promise.reject(undefined)
    }
  })
  await assert.rejects(honest.call('huge'), { code: 'NET_FAILED' })
  await assert.rejects(honest.call('circular'), { code: 'NET_FAILED' })
  assert.equal(await honest.call('thenable'), 'later')
  await assert.rejects(honest.call('nothing'), { code: 'NET_FAILED' })
  await assert.rejects(honest.call('undefined'), { code: 'NET_FAILED' })
})

test('a map with the key __proto__ changes no prototype, neither of the argument nor of all objects', async (t) => {
  const { address } = await served(t, {
    methods: {
      look: (given) => [given.polluted === undefined, Object.getPrototypeOf(given) === Object.prototype]
    }
  })
  const client = await attacker(t, address)
  const text = (name) => Buffer.concat([Buffer.from([0xa0 | name.length]), bytes(name)])
  // [call, 1, 'look', [{ __proto__: { polluted: true } }]]
  const payload = Buffer.concat([
    ...[Buffer.from([0x94, Ask.call, 1]), text('look')],
    ...[
      Buffer.from([0x91, 0x81]),
      text('__proto__'),
      Buffer.from([0x81]),
      text('polluted'),
      Buffer.from([0xc3])
    ]
  ])
  const frame = Buffer.concat([Buffer.alloc(5), payload])
  frame.writeUInt32LE(payload.length + 1)
  client.write(frame)
  assert.deepEqual(await client.next(), [Tell.result, 1, [true, true]])
  assert.equal({}.polluted, undefined)
})

test('a WebSocket that offers compression gets none, so nothing small becomes large', async (t) => {
  const { address } = await served(t, { transport: 'ws' })
  const socket = new WebSocket(address, { perMessageDeflate: true })
  await once(socket, 'open')
  assert.equal(socket.extensions, '')
  socket.terminate()
})
