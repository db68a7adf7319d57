// A hostile client against a server: what it may not touch stays, and an honest client notices nothing.

import assert from 'node:assert/strict'
import { MemoryLevel } from 'memory-level'
import { feed } from 'terrace-toolbox/feed'
import { packFrame } from '../../dist/protocol/frame.js'
import { hostileFrame, MAX_MESSAGE_BYTES } from './fuzz-frames.js'
import { clientMessage, mutatedFrame } from './fuzz-messages.js'
import { seed } from './random.js'
import { greetedClient, rawClient } from './raw-client.js'
import { serve } from './served.js'

/** Frames of one connection. */
export const FRAMES = 40

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

/**
 * Sends frames to a server over `count` connections, some of which go on with the session of the one before. Returns how many
 * requests of each kind were done and how many failed.
 */
export async function fuzzServer(random, count) {
  const fed = new MemoryLevel()
  await fed.open()
  const changes = feed(fed)
  const host = await serve({
    tokens,
    feeds: { changes },
    methods: {
      echo: (...given) => given,
      fail: () => Promise.reject(new Error('no'))
    },
    limits: {
      messageBytes: MAX_MESSAGE_BYTES,
      batchOperations: 1000,
      iterators: 10,
      snapshots: 5,
      subscriptions: 5,
      unsentEventBytes: 2000,
      sessionMs: 50
    }
  })
  const honest = host.connect({ token: 'honest' })
  const own = honest.sublevel('honest')
  const stored = host.db.sublevel('honest', { keyEncoding: 'utf8', valueEncoding: 'utf8' })
  let ticket = null
  try {
    for (let round = 0; round < count; round++) {
      const why = `seed ${seed}, round ${round}`
      const value = `value ${round}`
      await own.put('key', value)
      const isGreeted = random.below(8) > 0
      const client = isGreeted
        ? await greetedClient(host.address, {
            token: 'hostile',
            ticket: random.below(3) === 0 ? ticket : null
          })
        : await rawClient(host.address)
      ticket = client.welcome?.[1] ?? null
      for (let i = 0; i < FRAMES; i++) client.write(clientFrame(random, i))
      if (random.below(2) === 0) client.socket.end()
      else client.socket.destroy()
      await fed.put('key', value)
      await client.closed
      assert.equal(await own.get('key'), value, why)
      assert.deepEqual(await stored.iterator().all(), [['key', value]], why)
    }
    assert.equal(Object.prototype.polluted, undefined)
    return countsOf(host.server.statistics().requests)
  } finally {
    await host.stop()
    await changes.close()
    await fed.close()
  }
}

/** A frame that makes sense, one that nearly does, or one that does not at all. */
function clientFrame(random, i) {
  const number = random.below(10) === 0 ? random.below(FRAMES) : i + 1
  switch (random.below(24)) {
    case 0:
      // One of these ends the connection, so they come late.
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
