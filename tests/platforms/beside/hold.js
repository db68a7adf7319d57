// Opens a database and keeps it open until it is killed. Its argument is the directory.

import { createRequire } from 'node:module'

const require = createRequire(new URL('../../../packages/terrace/package.json', import.meta.url))
const { Level } = require('terrace')

const db = new Level(process.argv[2])
await db.put('acknowledged', 'yes')
process.send('open')
// A database that nothing refers to any more is closed when the runtime collects it.
setInterval(() => db.status, 1000)
