// Databases in browsers whose close fails, behind every door. However it fails: at most one call reports it, the database is closed, and
// open() opens it with what was there.
//
// Long: each door with each way to fail and each way to close.

import assert from 'node:assert/strict'
import { until } from '../../support/waiting.mjs'
import { useBrowser } from './support/browser.js'
import { engineFiles } from './support/engine-site.js'
import { test } from './support/patient-test.js'
import { ENGINE_POLICY, serveSite } from './support/site.js'
import { run } from './support/worker-site.js'

const openPage = useBrowser()

/** Makes the named calls of the browser fail, in a worker or page, from `setFault(name)` until `setFault('none')`. */
const FAULTS = `
  globalThis.setFault = (() => {
    const files = globalThis.FileSystemSyncAccessHandle
    const patches = {
      write: [[files, 'write']],
      flush: [[files, 'flush']],
      'write and flush': [[files, 'write'], [files, 'flush']],
      'close of a file': [[files, 'close', 'after']],
      transaction: [[IDBDatabase, 'transaction']],
      put: [[IDBObjectStore, 'put']],
      'close of the connection': [[IDBDatabase, 'close', 'after']]
    }
    let undo = []
    return (name) => {
      for (const each of undo.splice(0)) each()
      for (const [type, method, when] of patches[name] ?? []) {
        const original = type.prototype[method]
        type.prototype[method] = function (...args) {
          if (when === 'after') original.apply(this, args)
          throw new DOMException('The browser refuses', 'InvalidStateError')
        }
        undo.push(() => { type.prototype[method] = original })
      }
    }
  })()
`

/** What the worker of a page does besides. */
const LISTENER = `
  ${FAULTS}
  {
    const channel = new BroadcastChannel('faults')
    channel.onmessage = ({ data }) => {
      if (data.fault === undefined) return
      setFault(data.fault)
      channel.postMessage({ done: data.fault })
    }
  }
`

const FUNCTIONS = `
  import { Level } from './terrace/terrace.js'
  let db, options, unwritten

  const outcome = (promise) => promise.then(() => 'done', (error) => [error.code, error.cause?.code, error.cause?.message ?? error.message])

  /** Where the calls fail: here, or in the worker of this page or of another one. */
  async function setFaults(fault, isHere) {
    if (isHere) return setFault(fault)
    const channel = new BroadcastChannel('faults')
    const done = new Promise((resolve) => { channel.onmessage = ({ data }) => data.done === fault && resolve() })
    channel.postMessage({ fault })
    await done
    channel.close()
  }

  const ways = {
    'close()': () => [db.close()],
    'await using': () => [db[Symbol.asyncDispose]()],
    'two calls of close()': () => [db.close(), db.close()],
    'close() behind a write': () => {
      unwritten = outcome(db.put('behind', 'value', { sync: true }))
      return [db.close()]
    }
  }

  export async function begin(given) {
    options = given
    db = new Level('failing', options)
    await db.open()
    return db.storage
  }

  export const isOwner = () => db.isOwner
  export const end = () => db.close()

  export async function use({ fault, isHere, stays, writes, way }) {
    await db.put('kept', 'value', { sync: true })
    await db.put('written', 'value')
    db.iterator()
    db.snapshot()
    await setFaults(fault, isHere)
    unwritten = undefined
    const written = writes ? await outcome(db.put('lost', 'x'.repeat(10_000), { sync: true })) : 'none'
    const closed = await Promise.all(ways[way]().map(outcome))
    const behind = await unwritten
    const status = db.status
    const again = await outcome(db.close())
    const refused = await db.put('a', 'b').catch(({ code }) => code)
    // A page's worker may have ended.
    if (isHere || stays) await setFaults('none', isHere)
    const opened = await outcome(db.open())
    const kept = opened === 'done' ? await outcome(db.get('kept').then((value) => { if (value !== 'value') throw new Error(value) })) : undefined
    const stored = opened === 'done' ? await outcome(db.put('new', 'value', { sync: true })) : undefined
    const last = await outcome(db.close())
    return { written, closed, behind, status, again, refused, opened, kept, stored, last }
  }
`

/** Where a program has its database, and which calls of the browser it needs. */
const DOORS = {
  'Level in a worker, OPFS': { in: 'worker', options: { storage: ['opfs'] } },
  'Level in a worker, IndexedDB': { in: 'worker', options: { storage: ['indexeddb'] } },
  'a page that shares, OPFS': { in: 'page', options: { storage: ['opfs'] } },
  'a page that shares, IndexedDB': { in: 'page', options: { storage: ['indexeddb'] } },
  'a page for itself, OPFS': { in: 'page', options: { storage: ['opfs'], shared: false } },
  'a page for itself, IndexedDB': {
    in: 'page',
    isHere: true,
    options: { storage: ['indexeddb'], shared: false }
  }
}

for (const storage of ['opfs', 'indexeddb']) {
  const door = { in: 'page', options: { storage: [storage] } }
  DOORS[`a tab that has taken over, ${storage}`] = { ...door, other: 'has led' }
  DOORS[`a tab beside the one that leads, ${storage}`] = { ...door, other: 'leads' }
}

/** What fails, from when on, and whether the call that closes reports it: only what no other call has reported. */
const WAYS_TO_FAIL = {
  opfs: [
    { fault: 'none', writes: true },
    { fault: 'write', writes: true },
    // An earlier write without sync could not be made durable.
    { fault: 'write and flush', writes: true, isReported: true },
    { fault: 'flush', writes: true },
    { fault: 'flush', writes: false, isReported: true },
    { fault: 'close of a file', writes: true, isReported: true }
  ],
  indexeddb: [
    { fault: 'none', writes: true },
    { fault: 'transaction', writes: true },
    { fault: 'transaction', writes: false },
    { fault: 'put', writes: true },
    { fault: 'close of the connection', writes: true, isReported: true }
  ]
}

const WAYS_TO_CLOSE = ['close()', 'await using', 'two calls of close()', 'close() behind a write']

const files = {
  ...engineFiles,
  '/terrace/terrace-worker.js': Buffer.concat([
    Buffer.from(LISTENER),
    Buffer.from(engineFiles['/terrace/terrace-worker.js'])
  ]),
  '/functions.js': `${FAULTS}\n${FUNCTIONS}`,
  '/worker.js': `
    import * as functions from './functions.js'
    addEventListener('message', async ({ data: [name, ...args] }) => {
      try {
        postMessage({ result: await functions[name](...args) })
      } catch (error) {
        postMessage({ error: error.stack })
      }
    })
  `
}

/** Calls a function of the program, where it runs. */
async function callIn(door, page, name, arg) {
  if (door.in === 'worker') return run(page, name, [arg])
  return page.evaluate(async ([name, arg]) => (await import('/functions.js'))[name](arg), [name, arg])
}

for (const [name, door] of Object.entries(DOORS)) {
  const [storage] = door.options.storage
  // A tab that is not the leader has nothing that its close could lose, and the leader stays open.
  const isGuest = door.other === 'leads'
  const cases = WAYS_TO_FAIL[storage].filter(({ fault, writes }) => !isGuest || fault === 'none' || !writes)
  for (const { fault, writes, isReported: mayBeReported = false } of cases) {
    const isReported = mayBeReported && !isGuest
    const when = writes ? 'from before a write on' : 'only at the close'
    test(`${name}: ${fault} fails ${when}: the database is closed, and opens again`, async (t) => {
      const origin = await serveSite(t, files, ENGINE_POLICY)
      const other = door.other && (await openPage(t, origin))
      const page = await openPage(t, origin)
      for (const way of WAYS_TO_CLOSE) {
        if (other !== undefined) await callIn(door, other, 'begin', door.options)
        assert.equal(await callIn(door, page, 'begin', door.options), storage)
        if (door.other === 'has led') {
          await callIn(door, other, 'end')
          await until(() => callIn(door, page, 'isOwner'), 'the tab to lead')
        }
        const { isHere = door.in === 'worker' } = door
        const stays = door.other === 'leads'
        const result = await callIn(door, page, 'use', { fault, isHere, stays, writes, way })
        if (stays) await callIn(door, other, 'end')
        const what = `${way}: ${JSON.stringify(result)}`
        const hasRejected = result.closed.filter((each) => each !== 'done')
        assert.ok(hasRejected.length <= 1, `reported twice, by ${what}`)
        const mayBeReportedByWrite = way === 'close() behind a write'
        if (isReported && !mayBeReportedByWrite) {
          assert.equal(hasRejected[0]?.[0], 'LEVEL_DATABASE_NOT_CLOSED', what)
        } else if (!isReported) assert.equal(hasRejected.length, 0, what)
        if (fault !== 'none' && writes && !fault.startsWith('close'))
          assert.notEqual(result.written, 'done', what)
        // The write of another tab has failed, so the leader writes no more.
        if (isGuest && way === 'close() behind a write' && result.stored[0] === 'LEVEL_WRITES_REFUSED') {
          assert.notEqual(result.behind, 'done', what)
          result.stored = 'done'
        }
        const { status, again, refused, opened, kept, stored, last } = result
        assert.deepEqual(
          { status, again, refused, opened, kept, stored, last },
          {
            status: 'closed',
            again: 'done',
            refused: 'LEVEL_DATABASE_NOT_OPEN',
            opened: 'done',
            kept: 'done',
            stored: 'done',
            last: 'done'
          },
          what
        )
      }
    })
  }
}
