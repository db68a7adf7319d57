// A process that exits, or fails, while conditional writes are in flight.
//
//   exits.js LOCATION HOW

import { LmdbLevel } from 'terrace-lmdb'

const [location, how] = process.argv.slice(2)
const db = new LmdbLevel(location, { shared: true })
await db.open()
await db.put('open', '')
const write = (key) => db.put(key, '', { if: [{ key: 'none', exists: false }] })
write('a')
setTimeout(() => {
  write('b')
  db.put('c', '')
  write('d')
  if (how === 'exit') process.exit(3)
  throw new Error('expected')
}, Math.random() * 3)
