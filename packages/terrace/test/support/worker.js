// A worker thread that uses the database of the main thread, or a separate one.
//
//   worker.js LOCATION open-close|write|own NAME

import assert from 'node:assert/strict'
import { parentPort } from 'node:worker_threads'
import { Level } from 'terrace'
import { turns } from '../../../../tests/support/waiting.mjs'

const [location, task, name] = process.argv.slice(2)
const db = new Level(location, { multithreading: task !== 'own' })
await db.open()

if (task === 'write') {
  for (let i = 0; i < 500; i++) {
    await db.put(`${name}-${i}`, String(i), { sync: i % 100 === 0 })
    assert.equal(await db.get(`${name}-${i}`), String(i))
  }
}

if (task === 'open-close') {
  await turns(Number(name))
  await db.put(name, 'value')
}

await db.close()
parentPort.postMessage('done')
