// Tries each part of the toolbox on a separate instance of the database: node instance-worker.js <directory>

import { parentPort } from 'node:worker_threads'
import { Level } from 'terrace'
import { count, feed, watch } from 'terrace-toolbox/feed'
import { index } from 'terrace-toolbox/index'
import { lock } from 'terrace-toolbox/lock'
import { ttl } from 'terrace-toolbox/ttl'

const db = new Level(process.argv[2], { multithreading: true })
await db.open()
const parts = {
  lock: () => lock(db),
  feed: () => feed(db),
  count: () => count(db, { name: 'all', of: () => 'all' }),
  watch: () => watch(db, {}),
  index: () => index(db, { name: 'value', on: (value) => value }),
  ttl: () => ttl(db)
}

const codes = {}
for (const [name, make] of Object.entries(parts)) {
  try {
    make()
    codes[name] = 'accepted'
  } catch (error) {
    codes[name] = error.code
  }
}

await db.put('worker', 'was here')
await db.close()
parentPort.postMessage(codes)
