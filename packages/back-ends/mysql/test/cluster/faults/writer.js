// A process with a separate database instance that writes until it is stopped, and then reports the outcome of each write.
//
// Its argument is JSON: { url, options, writer, first, depth }. It keeps `depth` writes pending at once.

import { setTimeout as pause } from 'node:timers/promises'
import { MysqlLevel } from 'terrace-mysql'
import { now } from './clock.js'
import { outcomeOf } from './outcomes.js'
import { operationsOf } from './writes.js'

/** The pause between two calls, in ms, so that a returning node can catch up. */
const PACE_MS = 4
/** The pause after a failure, in ms, so that a cluster that refuses at once is not called continuously. */
const AFTER_FAILURE_MS = 50

const { url, options, writer, first, depth } = JSON.parse(process.argv[2])
const writes = []
let acknowledged = 0
let reopened = 0
let isStopping = false
let db = await opened()

process.on('message', (message) => {
  if (message === 'stop') isStopping = true
  if (message === 'progress') process.send({ progress: { acknowledged } })
})
// The parent disconnects when it has the results. Without a parent, there is no reason to write.
process.on('disconnect', () => process.exit())
process.send({ ready: true })

let number = first
while (!isStopping) {
  const pending = new Set()
  const codes = new Set()
  while (!isStopping && codes.size === 0) {
    const done = write(number++).then((code) => {
      if (code !== undefined) codes.add(code)
      pending.delete(done)
    })
    pending.add(done)
    await pause(PACE_MS)
    if (pending.size >= depth) await Promise.race(pending)
  }
  await Promise.all(pending)
  if (codes.size > 0) await recover(codes)
}
await db.close()
process.send({ writes, reopened })

/** Performs the write of a number. Returns the code of the error, if there was one. */
async function write(number) {
  const operations = operationsOf(writer, number)
  const start = now()
  const error = await call(operations).then(
    () => undefined,
    (error) => error
  )
  const result = outcomeOf(error)
  writes.push({ writer, number, start, end: now(), ...result })
  if (error === undefined) acknowledged++
  return result.code
}

function call(operations) {
  if (operations.length > 1) return db.batch(operations)
  return db.put(operations[0].key, operations[0].value)
}

/** Recovers from errors. A database with a commit of unknown fate may refuse everything until it is opened again. */
async function recover(codes) {
  await pause(AFTER_FAILURE_MS)
  if (!codes.has('LEVEL_COMMIT_UNKNOWN')) return
  await db.close().catch(() => {})
  db = await opened()
  reopened++
}

/** Returns a new, open database. Retries while the cluster refuses. */
async function opened() {
  for (;;) {
    const db = new MysqlLevel(url, options)
    try {
      await db.open()
      return db
    } catch (error) {
      if (isStopping || process.connected === false) throw error
      await pause(AFTER_FAILURE_MS)
    }
  }
}
