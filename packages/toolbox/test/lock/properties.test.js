// Random calls against a model: incompatible holders never share a key, no caller overtakes another, and no state is left
// over.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turns, until } from '../../../../tests/support/waiting.mjs'
import { Acquisition } from '../../dist/lock/acquisition.js'
import { Queues } from '../../dist/lock/queue.js'
import { randomNumbers } from '../support/random.js'

/** Tracks the holders of each key. Throws if incompatible holders share one. */
class Holders {
  #byKey = new Map()

  enter(keys, isShared) {
    for (const key of keys) {
      const holders = this.#byKey.get(key) ?? { shared: 0, alone: 0 }
      holders[isShared ? 'shared' : 'alone']++
      assert.ok(holders.alone === 0 || (holders.alone === 1 && holders.shared === 0), `met at ${key}`)
      this.#byKey.set(key, holders)
    }
  }

  leave(keys, isShared) {
    for (const key of keys) this.#byKey.get(key)[isShared ? 'shared' : 'alone']--
  }
}

for (let seed = 1; seed <= 20; seed++) {
  test(`random keys, sharing, timeouts and aborts, number ${seed}`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const random = randomNumbers(seed)
    const queues = new Queues()
    const holders = new Holders()
    const outcomes = { held: 0, LOCK_TIMEOUT: 0, LOCK_ABORTED: 0 }

    const one = async () => {
      const keys = [...new Set(Array.from({ length: 1 + random(3) }, () => `${random(6)}`))].sort()
      const shared = random(2) === 0
      const controller = new AbortController()
      const timeoutMs = random(4) === 0 ? random(3) : Infinity
      const acquisition = new Acquisition(queues, keys, { shared, timeoutMs, signal: controller.signal })
      if (random(5) === 0) setImmediate(() => controller.abort())

      try {
        await acquisition.wait()
      } catch (error) {
        outcomes[error.code]++
        return
      }

      holders.enter(keys, shared)
      outcomes.held++
      for (let turns = random(4); turns > 0; turns--) await new Promise(setImmediate)
      holders.leave(keys, shared)
      acquisition.release()
      if (random(3) === 0) acquisition.release()
    }

    const running = []
    for (let call = 0; call < 300; call++) {
      running.push(one())
      if (random(3) > 0) continue
      await turns()
      t.mock.timers.tick(1)
    }
    const ended = Promise.all(running)
    let isOver = false
    ended.finally(() => {
      isOver = true
    })
    await until(() => {
      t.mock.timers.tick(1)
      return isOver
    }, 'all to hold their keys, or to give up')
    await ended

    assert.equal(outcomes.held + outcomes.LOCK_TIMEOUT + outcomes.LOCK_ABORTED, 300)
    assert.ok(outcomes.held > 0)
    assert.equal(queues.size, 0, 'keys that nobody has take no memory')
  })
}

test('callers that want the same key are served in turn', async () => {
  const random = randomNumbers(99)
  const queues = new Queues()
  const served = []
  await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const acquisition = new Acquisition(queues, ['key'], { shared: random(3) > 0 })
      await acquisition.wait()
      served.push(index)
      for (let turns = random(3); turns > 0; turns--) await new Promise(setImmediate)
      acquisition.release()
    })
  )
  assert.deepEqual(
    served,
    served.toSorted((a, b) => a - b)
  )
})
