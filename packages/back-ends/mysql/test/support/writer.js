// A process that writes until it is killed, and prints what was acknowledged.
//
//   writer.js URL NAME FIRST

import { MysqlLevel } from 'terrace-mysql'
import { writeUntilKilled } from '../../../../../tests/support/back-ends/writer.mjs'

const [url, name, first] = process.argv.slice(2)
const db = new MysqlLevel(url, { name })
await db.open()
await writeUntilKilled(db, Number(first))
