// Goes through some steps with a database, then leaves without tidying up.
//
//   leave.js LOCATION run-out|exit|throw|stay STEP...

import { parentPort } from 'node:worker_threads'
import { Level } from 'terrace'

const [location, ending, ...steps] = process.argv.slice(2)
const db = new Level(location, { createIfMissing: !steps.includes('open-error') })
db.on('error', () => {})
let iterator

const actions = {
  create() {},
  open: () => db.open(),
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
