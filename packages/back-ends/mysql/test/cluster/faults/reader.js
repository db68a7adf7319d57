// A process with a separate database instance that reads the batches of all writers in snapshots until it is stopped, and
// then reports what it has seen.
//
// Its argument is JSON: { url, options }.

import { setTimeout as pause } from 'node:timers/promises'
import { MysqlLevel } from 'terrace-mysql'
import { outcomeOf } from './outcomes.js'
import { batchRange, tornIn } from './writes.js'

const AFTER_FAILURE_MS = 50

const { url, options } = JSON.parse(process.argv[2])
const counts = { snapshots: 0, states: 0, torn: 0, changed: 0, failed: {} }
let isStopping = false

process.on('message', (message) => {
  if (message === 'stop') isStopping = true
})
process.on('disconnect', () => process.exit())

const db = new MysqlLevel(url, options)
await db.open()
process.send({ ready: true })

let last
while (!isStopping) {
  const snapshot = db.snapshot()
  try {
    await readFrom(snapshot)
  } catch (error) {
    const { code } = outcomeOf(error)
    counts.failed[code] = (counts.failed[code] ?? 0) + 1
    await pause(AFTER_FAILURE_MS)
  }
  await snapshot.close().catch(() => {})
}
await db.close()
process.send({ counts })

/** Reads a snapshot twice, page by page and later in one call: both must return the same. */
async function readFrom(snapshot) {
  const entries = []
  const iterator = db.iterator({ ...batchRange, snapshot, highWaterMarkBytes: 1000 })
  for await (const entry of iterator) entries.push(entry)
  const keys = entries.map(([key]) => key)
  const values = await db.getMany(keys, { snapshot })

  counts.snapshots++
  if (tornIn(entries) > 0) counts.torn++
  if (values.some((value, i) => value !== entries[i][1])) counts.changed++
  const state = JSON.stringify(values)
  if (state !== last) counts.states++
  last = state
}
