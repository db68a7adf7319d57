// A worker thread that has written, and stays until it is terminated. It tells when it has written the key `thread`. It does not write
// any more then: if a thread is terminated while it begins a write, npm's lmdb aborts the process (napi_throw fails within startWriting).

import { parentPort, workerData } from 'node:worker_threads'
import { LmdbLevel } from 'terrace-lmdb'

const db = new LmdbLevel(workerData, { shared: true })
await db.open()
for (let number = 0; number < 100; number++) await db.put('same', `${number}`)
await db.put('thread', 'written')
parentPort.postMessage('written')
parentPort.on('message', () => {})
