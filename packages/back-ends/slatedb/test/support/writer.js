// A process that writes until it is killed, and prints what was acknowledged.
//
//   writer.js LOCATION FIRST OPTIONS
//
// OPTIONS are JSON.

import { SlateLevel } from 'terrace-slatedb'
import { writeUntilKilled } from '../../../../../tests/support/back-ends/writer.mjs'

const [location, first, options] = process.argv.slice(2)
const db = new SlateLevel(location, JSON.parse(options))
await db.open()
await writeUntilKilled(db, Number(first))
