// Serves a database in a directory: `node journal-server.js DIRECTORY ADDRESS ORIGIN`. Its method `append` is not idempotent: the
// number that it is given is stored under another key each time. It is killed and started again.

import { Level } from 'terrace'
import { createServer } from 'terrace-net/server'

const [directory, address, origin] = process.argv.slice(2)
const db = new Level(directory)
const journal = db.sublevel('journal', { valueEncoding: 'json' })
await db.open()
let next = await journal
  .keys()
  .all()
  .then((keys) => keys.length)

const server = createServer(db, {
  origins: [origin],
  methods: {
    async append(number) {
      await journal.put(String(next++).padStart(6, '0'), number)
    }
  }
})
process.send(await server.listen(address))
