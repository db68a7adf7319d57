// A process, or a thread, that works on a database beside others.
//
//   client.js LOCATION NAME KIND COUNT
//
// It tells that it is `open` and begins at the first line or message. An `appender` appends COUNT items to the list, and tells each
// number when it was acknowledged. A thread ends before, at a second message. A `taker` takes seats while fewer than COUNT are taken, and then tells how many it has.

import { once } from 'node:events'
import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import { LmdbLevel } from 'terrace-lmdb'
import { append, takeSeat } from './clients.js'

const [location, name, kind, count] = isMainThread ? process.argv.slice(2) : workerData
const tell = isMainThread ? console.log : (line) => parentPort.postMessage(`${line}`)
const db = new LmdbLevel(location, { shared: true })
await db.open()
tell('open')
if (isMainThread) {
  await once(process.stdin, 'data')
  process.stdin.destroy()
} else {
  await once(parentPort, 'message')
}

let isOver = false
parentPort?.once('message', () => {
  isOver = true
})
if (kind === 'appender') {
  for (let number = 1; number <= Number(count) && !isOver; number++) {
    await append(db, `${name}:${number}`)
    tell(number)
  }
} else {
  let taken = 0
  while (await takeSeat(db, `${name}:${taken}`, Number(count))) taken++
  tell(taken)
}
await db.close()
parentPort?.close()
