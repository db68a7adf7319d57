// A process that writes until it is killed, and prints what was acknowledged.
//
//   writer.js LOCATION FIRST

import { LmdbLevel } from 'terrace-lmdb'
import { writeUntilKilled } from '../../../../../tests/support/back-ends/writer.mjs'

const [location, first] = process.argv.slice(2)
const db = new LmdbLevel(location)
await db.open()
await writeUntilKilled(db, Number(first))
