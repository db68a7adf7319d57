// Takes some steps with a database, then exits without cleaning up.
//
//   leave.js LOCATION run-out|exit|throw|stay|block STEP...

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parentPort } from 'node:worker_threads'
import { Level } from 'terrace'

const [location, ending, ...steps] = process.argv.slice(2)
const db = new Level(location, { createIfMissing: !steps.includes('open-error') })
db.on('error', () => {})
let iterator

const actions = {
  create() {},
  open: () => db.open(),
  async 'open-many'() {
    const locations = Array.from({ length: 30 }, (_, i) => join(location, `${i}`))
    for (const one of locations) new Level(one).open().catch(() => {})
    // The calls are in flight. This thread cannot learn of their ends before it is idle.
    for (let i = 0; i < 20; i++) await null
    while (!locations.every((one) => existsSync(join(one, 'CURRENT'))));
  },
  'open-error'() {
    db.open().catch(() => {})
  },
  put: () => db.put('put', 'kept'),
  'put-sync'() {
    for (let i = 0; i < 100; i++) db.put(`key${i}`, 'value', { sync: true }).catch(() => {})
  },
  iterator() {
    iterator = db.iterator({ highWaterMarkBytes: 0 })
  },
  reading() {
    iterator.next().catch(() => {})
  },
  clear() {
    db.clear().catch(() => {})
  },
  compact() {
    db.compactRange('a', 'z').catch(() => {})
  },
  snapshot() {
    db.snapshot()
  },
  batch() {
    db.batch().put('a', 'b')
  },
  close() {
    db.close().catch(() => {})
  }
}

for (const step of steps) await actions[step]()

if (ending === 'exit') process.exit(0)

if (ending === 'throw') {
  process.exitCode = 7
  process.on('uncaughtException', () => process.exit(7))
  throw new Error('on purpose')
}

if (ending === 'run-out') process.disconnect()

if (ending === 'stay') {
  setInterval(() => {}, 1000)
  parentPort.postMessage('ready')
}

if (ending === 'block') {
  parentPort.postMessage('ready')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}
