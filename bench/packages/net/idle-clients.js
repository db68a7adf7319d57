// Clients that do nothing: `node idle-clients.js TARGET ADDRESS COUNT`. Tells its parent when all are connected, and leaves when
// it does.

import { TARGETS } from './targets.js'

const [target, address, count] = process.argv.slice(2)
const clients = []
for (let i = 0; i < Number(count); i++) {
  const db = TARGETS[target].connect(address)
  await db.open()
  // A first request makes sure that the server has made all that it makes for a client.
  await db.get('000000000000')
  clients.push(db)
}
process.on('disconnect', () => process.exit())
process.send({ connected: clients.length })
