// A worker thread that writes until it is terminated. It tells when it has written the key `thread`.

import { parentPort, workerData } from 'node:worker_threads'
import { LmdbLevel } from 'terrace-lmdb'

const db = new LmdbLevel(workerData, { shared: true })
await db.open()
await db.put('thread', 'written')
parentPort.postMessage('written')
for (let number = 0; ; number++) await db.put('same', `${number}`)
