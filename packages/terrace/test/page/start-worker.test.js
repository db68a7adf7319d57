// The start of a page's worker: its script greets, or the page learns why not, on timers that the test holds.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GREETING } from '../../dist/browser/tabs/channel/greeting.js'
import { GreetedWorker, START_MS } from '../../dist/browser/tabs/start-worker.js'

/** A worker that does what the test says, and the timers of its page. */
function setUp() {
  const worker = {
    onmessage: null,
    onerror: null,
    sent: [],
    isTerminated: false,
    postMessage: (...message) => worker.sent.push(message),
    terminate: () => {
      worker.isTerminated = true
    }
  }
  const waiting = new Map()
  const timers = {
    setTimeout(callback, delayMs) {
      const timer = {}
      waiting.set(timer, { callback, delayMs })
      return timer
    },
    clearTimeout: (timer) => waiting.delete(timer)
  }
  const greeted = new GreetedWorker(() => worker, timers)
  const failures = []
  greeted.onFailure = (error) => failures.push(error)
  return { worker, waiting, greeted, failures }
}

function assertFailure([failure, ...more], reason) {
  assert.deepEqual(more, [])
  assert.equal(failure.code, 'LEVEL_NOT_SUPPORTED')
  assert.match(failure.message, reason)
  assert.match(failure.message, /Serve terrace-worker\.js .* worker-src 'self'/)
}

test('a worker that has greeted passes messages on, and has no deadline', () => {
  const { worker, waiting, greeted, failures } = setUp()
  const heard = []
  greeted.onmessage = ({ data }) => heard.push(data)
  greeted.postMessage('early')
  worker.onmessage({ data: GREETING })
  assert.equal(waiting.size, 0)
  worker.onmessage({ data: 'opened' })
  greeted.postMessage('late', ['port'])
  assert.deepEqual(heard, ['opened'])
  assert.deepEqual(worker.sent, [
    ['early', []],
    ['late', ['port']]
  ])
  assert.deepEqual(failures, [])
  greeted.terminate()
  assert.equal(worker.isTerminated, true)
})

test('a script that never answers is not waited for longer than the deadline', () => {
  const { worker, waiting, failures } = setUp()
  const [{ callback, delayMs }] = waiting.values()
  assert.equal(delayMs, START_MS)
  assert.deepEqual(failures, [])
  callback()
  assertFailure(failures, /has not answered/)
  assert.equal(worker.isTerminated, true)
})

test('a script of another program is known by its first message', () => {
  const { worker, waiting, failures } = setUp()
  worker.onmessage({ data: 'hello' })
  assertFailure(failures, /messages of another program/)
  assert.deepEqual([worker.isTerminated, waiting.size], [true, 0])
})

test('a script that cannot be loaded, or fails, is an error with a code', () => {
  for (const [event, reason] of [
    [{}, /cannot be loaded/],
    [{ message: 'Uncaught', filename: 'worker.js' }, /Uncaught \(worker\.js\)/]
  ]) {
    const { worker, failures } = setUp()
    worker.onerror(event)
    assertFailure(failures, reason)
  }
})

test('a worker that failed before anybody listened says so then', () => {
  const { worker, greeted, failures } = setUp()
  greeted.onFailure = null
  worker.onerror({})
  assert.deepEqual(failures, [])
  greeted.onFailure = (error) => failures.push(error)
  assertFailure(failures, /cannot be loaded/)
})

test('a browser that refuses to start a worker is an error with a code and its cause', () => {
  const refusal = new TypeError("This document requires 'TrustedScriptURL' assignment.")
  const start = () => {
    throw refusal
  }
  assert.throws(
    () => new GreetedWorker(start, globalThis),
    (error) => {
      assertFailure([error], /TrustedScriptURL.*require-trusted-types-for/)
      return error.cause === refusal
    }
  )
})
