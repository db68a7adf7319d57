// Another process that opens a database, writes, compacts and closes it, again and again, until its input ends. Its argument is
// the directory. It prints a line for each number that is acknowledged, in order.

import { Level } from 'terrace'

const [location] = process.argv.slice(2)
let isDone = false
process.stdin.on('end', () => {
  isDone = true
})
process.stdin.resume()

/** So small that several tables and logs come and go in each life. */
const options = { writeBufferSize: 1 << 16, maxFileSize: 1 << 20, compression: false }
const BATCHES = 40

let written = 0
while (!isDone) {
  const db = new Level(location, options)
  await db.open()
  for (let batch = 0; batch < BATCHES; batch++) {
    written++
    const filler = `filler${String(Math.floor(Math.random() * 2000)).padStart(5, '0')}`
    await db.batch([
      { type: 'put', key: 'a', value: String(written) },
      { type: 'put', key: filler, value: String(written).repeat(1000) },
      { type: 'put', key: 'z', value: String(written) }
    ])
    console.log(written)
  }
  if (Math.random() < 0.5) await db.compactRange('a', 'zz')
  await db.close()
}
